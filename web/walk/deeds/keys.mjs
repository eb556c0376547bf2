// From the list of logs to a site, without a mouse.

import { check } from '../check.mjs';

const MOST = 80;

export async function keyboardOnly(visit, log) {
  const { page } = visit;
  await visit.open('#/runs');
  await tabTo(visit, (one, name) => one.closest('main') && one.textContent === name, log.name);
  await page.keyboard.press('Enter');
  await visit.settled();
  check(/^#\/overview/.test(await visit.hash()), `Enter opens the log: ${await visit.hash()}`);
  // The first thing that Tab finds leads past the bar.
  await page.locator('body').evaluate(() => document.activeElement?.blur());
  await tabTo(visit, (one) => one.classList.contains('skip'));
  await page.keyboard.press('Enter');
  check(await page.evaluate(() => document.activeElement?.id === 'main'), 'the first link leads to the content');
  await tabTo(visit, (one, name) => one.closest('tr.leads') && one.textContent === name, 'cache_answer');
  await page.keyboard.press('Enter');
  await visit.settled();
  check(/^#\/site\?/.test(await visit.hash()), `Enter opens the site: ${await visit.hash()}`);
  check((await visit.text('h1')) === 'cache_answer', 'and it is that site');
}

async function tabTo(visit, isIt, text = '') {
  for (let i = 0; i < MOST; i++) {
    await visit.page.keyboard.press('Tab');
    const found = await visit.page.evaluate(`{ const one = document.activeElement; Boolean(one && (${isIt})(one, ${JSON.stringify(text)})) }`);
    if (!found) continue;
    const outline = await visit.page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    return check(outline !== 'none', `${visit.where}: what has the focus is to be seen`);
  }
  return check(false, `${visit.where}: ${MOST} times Tab do not lead to ${text || isIt}`);
}
