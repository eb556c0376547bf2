// The filter and the moment above each screen.

import { bytes, compareTable, count, name } from '../cells.mjs';
import { check, same } from '../check.mjs';

export async function filters(visit, memlog, log) {
  const { page } = visit;
  await visit.open(`#/sites?log=${log.id}`);
  await page.keyboard.press('/');
  await page.keyboard.type('size >= 1X and leaked');
  await visit.pardoning(/status of 400|^400 for/, async () => {
    await page.keyboard.press('Enter');
    await page.locator('.filter-problem pre').waitFor();
    await visit.settled();
  });
  const [said, filter, caret] = (await page.locator('.filter-problem pre').innerText()).split('\n');
  check(/^column 9\b/.test(said), `what is wrong with a filter: ${said}`);
  const place = caret?.indexOf('^') ?? -1;
  same(filter?.slice(place, place + 2), '1X', 'the caret points at what is wrong');
  same(await page.locator('[role=alert]').count(), 1, 'it is said once');
  await page.getByRole('button', { name: 'Clear' }).click();
  await visit.settled();
  same(await page.locator('.filter-problem').count(), 0, 'without the filter nothing is wrong');
  await built(visit, memlog, log);
}

async function built(visit, memlog, log) {
  const { page } = visit;
  await visit.open(`#/allocations?log=${log.id}`);
  await page.locator('.builder summary').click();
  await page.getByRole('tab', { name: 'Size' }).click();
  await page.locator('#field-1-0').fill('1MiB');
  await page.getByRole('button', { name: 'Add to the filter' }).click();
  await visit.settled();
  same(await page.inputValue('#filter'), 'size >= 1MiB', 'what the builder writes');
  const answer = await memlog.told('table', '--list', '--where', 'size >= 1MiB', '--top', '500', log.file);
  await compareTable(visit, 'Single blocks', answer.list.map((row) => ({ Bytes: bytes(row.bytes), Event: count(row.number) })));
}

export async function moments(visit, memlog, log) {
  const { page } = visit;
  await visit.open(`#/sites?log=${log.id}`);
  await page.selectOption('#moment', 'other');
  await page.fill('#other-moment', '40%');
  await page.keyboard.press('Enter');
  await visit.settled();
  const answer = await memlog.told('table', '--by', 'function', '--at', '40%', '--top', '1000', log.file);
  const rows = answer.rows.map((row) => ({ Site: name(row.name), Bytes: bytes(row.bytes) }));
  await compareTable(visit, 'Blocks live at 40%', rows, { Blocks: count(answer.blocks) });
}
