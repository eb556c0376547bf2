// Tables and lists, the theme, help, and the console.

import { numberOf, tableOf } from '../cells.mjs';
import { check, same } from '../check.mjs';

export async function sorting(visit, log) {
  const { page } = visit;
  await visit.open(`#/sites?log=${log.id}`);
  const isFalling = (values) => values.every((value, i) => i === 0 || values[i - 1] >= value);
  const column = async (label) => {
    const table = await tableOf(page, 'Blocks ');
    return table.rows.map((row) => numberOf(row[table.columns.indexOf(label)].text));
  };
  const head = page.locator('th button', { hasText: 'Blocks' });
  await head.click();
  await visit.settled();
  check(isFalling(await column('Blocks')), 'sorted by blocks, the most first');
  same(await page.locator('th[aria-sort]').getAttribute('aria-sort'), 'descending', 'the order is told');
  await head.click();
  await visit.settled();
  check(isFalling((await column('Blocks')).reverse()), 'and the least first');
  await page.locator('th button', { hasText: 'Site' }).click();
  await visit.settled();
  const names = (await tableOf(page, 'Blocks ')).rows.map((row) => row[0].text);
  check(names.length > 5 && [...names].sort((a, b) => a.localeCompare(b, undefined, { numeric: true })).join() === names.join(), 'sorted by name');
  await page.getByRole('button', { name: /^Show \d+ more/ }).click();
  check((await page.locator('tbody tr').count()) > 50, 'more rows come');
}

/** All 2,000 rows of a list can be reached, and few are in the document. */
export async function list(visit, log) {
  const { page } = visit;
  await visit.open(`#/allocations?log=${log.id}&sort=born&where=${encodeURIComponent('function = "keep_two_thousand()"')}`);
  const frame = page.locator('.table-frame.tall');
  const whole = () => page.locator('.tall table').getAttribute('aria-rowcount').then(Number);
  for (let i = 0; i < 10 && (await whole()) < 2001; i++) {
    await frame.evaluate((one) => (one.scrollTop = one.scrollHeight));
    await page.waitForTimeout(50);
    await visit.settled();
  }
  same(await whole(), 2001, 'rows of the list, with its head');
  await frame.evaluate((one) => (one.scrollTop = one.scrollHeight));
  await page.waitForTimeout(100);
  await visit.settled();
  const last = page.locator('.tall tbody tr[aria-rowindex="2001"]');
  same(await last.count(), 1, 'the last row is there');
  // Blocks are of 100 bytes and more, each a byte larger.
  check(((await last.innerText()).match(/2\.0 KiB|2,?099/) ?? []).length > 0, `the last row is the last block: ${await last.innerText()}`);
  check((await page.locator('.tall tbody tr').count()) < 100, 'only rows in view are in the document');
}

export async function looks(visit, log) {
  const { page } = visit;
  await visit.open(`#/sites?log=${log.id}`);
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await page.selectOption('#theme', 'dark');
  const dark = await ground();
  check(dark !== light, `dark is another colour: ${light}, ${dark}`);
  await page.reload();
  await visit.settled();
  same(await ground(), dark, 'the theme is kept');
  await page.selectOption('#theme', 'auto');
  same(await ground(), light, 'auto is as the system has it');
  await page.keyboard.press('?');
  await page.locator('dialog[open]').waitFor();
  check((await page.locator('dialog').innerText()).includes('Ctrl Enter'), 'help has the keys');
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
}

export async function console_(visit, log) {
  const { page } = visit;
  const there = await visit.server.ask(`logs/${log.id}/script`, { method: 'POST', body: '1' });
  if (there.status === 404 || there.status === 405) return console.log('SKIPPED the console: this server runs no scripts');
  await visit.open(`#/console?log=${log.id}`);
  const answered = async (script) => {
    await page.fill('#script', script);
    const answer = page.waitForResponse((response) => response.url().endsWith('/script'));
    await page.keyboard.press('Control+Enter');
    await answer;
    await page.locator('button.main:enabled').waitFor();
    return page.locator('[aria-label=Output]').innerText();
  };
  check((await answered('print("<b>" + (40 + 2))')).includes('<b>42'), 'a script prints text');
  const said = await answered('let a = 1;\nno_such_function(a)');
  check(/no_such_function/.test(said), `what is wrong with a script: ${said}`);
  check(/line 2/.test(said), `and where: ${said}`);
  return undefined;
}
