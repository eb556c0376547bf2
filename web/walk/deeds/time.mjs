// The curve: ranges, what to look at there, back and forward, and links.

import { bytes, compareTable, count, name } from '../cells.mjs';
import { check, same } from '../check.mjs';

/** Drags over the first curve, in parts of its width. */
async function drag(visit, from, to) {
  const box = await visit.page.locator('.chart .u-over').first().boundingBox();
  const { mouse } = visit.page;
  await mouse.move(box.x + from * box.width, box.y + 40);
  await mouse.down();
  await mouse.move(box.x + ((from + to) / 2) * box.width, box.y + 50, { steps: 4 });
  await mouse.move(box.x + to * box.width, box.y + 50, { steps: 4 });
  await mouse.up();
  await visit.settled();
}

const rangeOf = (hash) => /range=([\d.]+)\.\.([\d.]+)/.exec(hash)?.slice(1).map(Number) ?? [];

export async function ranges(visit, memlog, log) {
  await visit.open(`#/overview?log=${log.id}`);
  await drag(visit, 0.4, 0.6);
  const [from, to] = rangeOf(await visit.hash());
  check(from > 0 && to > from && to < log.duration_seconds, `a drag makes a range: ${await visit.hash()}`);
  check(await visit.page.locator('.chip').isVisible(), 'a range has a chip');
  const answer = await memlog.told('table', '--by', 'function', '--top', '1000', '--where', `born in ${from}s..${to}s`, log.file);
  const rows = answer.rows.slice(0, 10).map((row) => ({ Site: name(row.name), Bytes: bytes(row.bytes), Blocks: count(row.blocks) }));
  await compareTable(visit, 'The sites with most', rows, { Bytes: bytes(answer.bytes), Blocks: count(answer.blocks) });
  await visit.page.selectOption('#range-as', 'alive');
  await visit.settled();
  check((await visit.commands()).some((line) => line.includes(`alive in ${from}s..${to}s`)), 'the chip turns "allocated in" into "alive throughout"');
  await visit.page.getByLabel('Show the range only').check();
  await visit.settled();
  await visit.page.getByRole('button', { name: 'Remove the time range' }).click();
  await visit.settled();
  same(await visit.page.locator('.chip').count(), 0, 'the chip is taken away');
}

async function choose(visit, label) {
  await visit.page.getByRole('menuitem', { name: label }).click();
  await visit.settled();
  return { hash: await visit.hash(), commands: (await visit.commands()).join('\n') };
}

export async function menus(visit, log) {
  const { page } = visit;
  await visit.open(`#/overview?log=${log.id}`);
  const box = await page.locator('.chart .u-over').first().boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + 40, { button: 'right' });
  const here = await choose(visit, /^Alive here/);
  check(/^#\/sites/.test(here.hash) && /--at [\d.]+s/.test(here.commands), `"alive here" is a moment: ${here.hash} ${here.commands}`);
  const middle = Number(/--at ([\d.]+)s/.exec(here.commands)?.[1]);
  check(Math.abs(middle - log.duration_seconds / 2) < log.duration_seconds / 20, `it is the middle of the run: ${middle} of ${log.duration_seconds} s`);
  for (const [label, words] of [[/^Allocated in/, 'born in'], [/^Alive throughout/, 'alive in'], [/^Freed in/, 'died in']]) {
    await visit.open(`#/overview?log=${log.id}`);
    await drag(visit, 0.3, 0.7);
    await page.mouse.click(box.x + box.width / 2, box.y + 40, { button: 'right' });
    const there = await choose(visit, label);
    check(there.commands.includes(`--where '${words} `), `${label} is ${words}: ${there.commands}`);
  }
  // And without a mouse.
  await visit.open(`#/overview?log=${log.id}`);
  await page.locator('.chart').first().focus();
  for (let i = 0; i < 6; i++) await page.keyboard.press('Shift+ArrowRight');
  await visit.settled();
  check(rangeOf(await visit.hash()).length === 2, 'Shift and arrows make a range');
  await page.keyboard.press('Enter');
  same(await page.locator('[role=menu] button').count(), 7, 'entries of the menu of a range');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await visit.settled();
  check((await visit.commands()).join().includes('alive in '), `the second entry by keys: ${await visit.hash()}`);
  await page.goBack();
  await page.locator('.chart').first().focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  same(await page.locator('[role=menu]').count(), 0, 'Escape closes the menu');
  check(await page.evaluate(() => document.activeElement?.classList.contains('chart')), 'and gives the focus back');
}

export async function history(visit, log) {
  const { page } = visit;
  const seen = [];
  const note = async () => seen.push([await visit.hash(), await visit.text('main')]);
  await visit.open(`#/overview?log=${log.id}`);
  await note();
  for (const tab of ['Who', 'Leaks', 'Threads']) {
    await page.locator('nav[aria-label=Screens] a', { hasText: tab }).click();
    await visit.settled();
    await note();
  }
  const shown = async (place, what) => {
    await visit.settled();
    same(await visit.hash(), seen[place][0], `${what}: the address`);
    same(await visit.text('main'), seen[place][1], `${what}: the page`);
  };
  for (const place of [2, 1, 0]) await page.goBack().then(() => shown(place, 'back'));
  for (const place of [1, 2, 3]) await page.goForward().then(() => shown(place, 'forward'));
}

/** A state that was made by clicks is in its address. */
export async function links(visit, log) {
  await visit.open(`#/sites?log=${log.id}`);
  const { page } = visit;
  await page.selectOption('#moment', 'heap-peak');
  await page.fill('#filter', 'size < 1000');
  await page.keyboard.press('Enter');
  await page.getByLabel('Put together by').selectOption('line');
  await page.locator('th button', { hasText: 'Blocks' }).click();
  await visit.settled();
  const there = await visit.text('main');
  const other = await visit.context.newPage();
  await other.goto(page.url());
  await other.locator('tfoot').waitFor();
  await other.waitForFunction((want) => document.querySelector('main').innerText === want, there, { timeout: 20_000 })
    .catch(async () => same(await other.locator('main').innerText(), there, 'a link in a fresh page'));
  same(await other.inputValue('#filter'), 'size < 1000', 'the filter of a link');
  await other.close();
}
