// The file of `memlog html`, opened without a server: the same figures, and nothing is asked of anybody.

import { pathToFileURL } from 'node:url';
import { bytes, compareTable, count, name } from './cells.mjs';
import { check, same } from './check.mjs';
import { accessible } from './look.mjs';
import { Visit } from './browser.mjs';
import { heading } from './numbers/rest.mjs';
import { leakStep } from './numbers/sites.mjs';
import { hostileInReport } from './deeds/hostile.mjs';

export async function report(browser, memlog, folder, pictures) {
  await memlog.says('html', '-o', 'report.html', 'server.memlog');
  const visit = await Visit.of(browser, null);
  let asked = 0;
  visit.page.on('request', (request) => (asked += request.url().startsWith('file:') && request.isNavigationRequest() ? 0 : 1));
  const address = pathToFileURL(`${folder}/report.html`).href;
  const open = async (state) => {
    visit.where = `report.html${state}`;
    await visit.page.goto('about:blank');
    await visit.page.goto(address + state);
    await visit.settled();
    if (pictures) await visit.page.screenshot({ path: `${pictures}/report-${state.replace(/\W+/g, '') || 'first'}.png` });
  };
  await open('');
  await heading(visit, await memlog.says('summary', 'server.memlog'));
  await overview(visit, memlog);
  await open('#/sites?at=heap-peak');
  await sites(visit, memlog, 'heap-peak');
  await visit.page.selectOption('#moment', 'end');
  await visit.settled();
  await sites(visit, memlog, 'end');
  await leaks(visit, memlog, open);
  await flame(visit, open);
  await accessible(visit, 'report.html');
  const tabs = await visit.page.locator('nav[aria-label=Screens] a').allInnerTexts();
  check(!tabs.includes('Console') && !tabs.includes('Maps'), `only what the file has the answers of is offered: ${tabs}`);
  await hostileInReport(visit, memlog, folder);
  await scopes(visit, memlog, folder);
  same(asked, 0, 'requests of report.html');
  await visit.close();
}

const table = (memlog, moment) => memlog.told('table', '--by', 'function', '--at', moment, '--top', '1000', 'server.memlog');
const rowsOf = (answer) => answer.rows.map((row) => ({ Site: name(row.name), Bytes: bytes(row.bytes), Blocks: count(row.blocks) }));

async function overview(visit, memlog) {
  const answer = await table(memlog, 'rss-peak');
  await compareTable(visit, 'The sites with most', rowsOf(answer).slice(0, 10), { Bytes: bytes(answer.bytes) });
}

/** Of a program that tells of scopes, those that held most at the peak. */
async function scopes(visit, memlog, folder) {
  await memlog.says('html', '-o', 'phases.html', 'phases.memlog');
  await visit.page.goto(pathToFileURL(`${folder}/phases.html`).href);
  await visit.settled();
  visit.where = 'phases.html';
  const answer = await memlog.told('table', '--by', 'scope', '--at', 'rss-peak', 'phases.memlog');
  const rows = answer.rows.map((row) => ({ Scope: name(row.name), Bytes: bytes(row.bytes), Blocks: count(row.blocks) }));
  await compareTable(visit, 'The scopes with most', rows);
}

async function sites(visit, memlog, moment) {
  const answer = await table(memlog, moment);
  await compareTable(visit, 'Blocks live', rowsOf(answer), { Bytes: bytes(answer.bytes), Blocks: count(answer.blocks) });
}

async function leaks(visit, memlog, open) {
  const options = ['--by', 'function', '--top', '1000', 'server.memlog'];
  await open('#/leaks');
  await leakStep(visit, 0, await memlog.told('leaks', '--curve', ...options));
  await open('#/leaks?step=growing');
  await leakStep(visit, 1, await memlog.told('leaks', '--growing', ...options));
  await open('#/leaks?step=late');
  await leakStep(visit, 2, await memlog.told('table', '--curve', '--where', 'died >= 98% and lifetime > 50%', ...options));
}

async function flame(visit, open) {
  await open('#/flame');
  const canvas = visit.page.locator('.flame canvas');
  const box = await canvas.boundingBox();
  await visit.page.mouse.click(box.x + 30, box.y + 30);
  await visit.settled();
  check((await visit.page.locator('.crumbs button').count()) > 1, 'report.html: a click in the flame graph focuses');
}
