// From what there is to know first to the blocks of a scope, by clicks.

import { bytes, compareTable, count, name } from '../cells.mjs';
import { check, same } from '../check.mjs';

const NAMES = ['load', 'load/parse', 'serve "a" (1) \\ <b>', 'arena', '(no scope)'];

export async function scopes(visit, memlog, log) {
  const { page } = visit;
  const answer = await memlog.told('table', '--by', 'scope', '--at', 'rss-peak', log.file);
  const rows = (table) => table.rows.map((row) => ({ Scope: name(row.name), Bytes: bytes(row.bytes), Blocks: count(row.blocks) }));
  same(answer.rows.map((row) => row.name).sort().join(), [...NAMES].sort().join(), 'the scopes of the program');
  await visit.open(`#/overview?log=${log.id}`);
  await compareTable(visit, 'The scopes with most', rows(answer), { Bytes: bytes(answer.bytes), Blocks: count(answer.blocks) });
  await page.getByRole('link', { name: /^All \d+ by scope$/ }).click();
  await visit.settled();
  same(new URLSearchParams((await page.url()).split('?').pop()).get('by'), 'scope', 'the table by scope is a click away');
  for (const row of answer.rows) await site(visit, memlog, log, row);
  await built(visit, memlog, log);
}

/** A row leads to its own blocks, without those of scopes within it, whatever its name is. */
async function site(visit, memlog, log, row) {
  const { page } = visit;
  await visit.open(`#/sites?log=${log.id}&by=scope`);
  await page.getByRole('link', { name: row.name, exact: true }).click();
  await visit.settled();
  same(await page.locator('h1').innerText(), row.name, 'the scope that was clicked');
  const filter = await page.locator('p.tools code').innerText();
  const answer = await memlog.told('table', '--at', 'rss-peak', '--where', filter, log.file);
  same(`${answer.bytes} ${answer.blocks}`, `${row.bytes} ${row.blocks}`, `what ${filter} chooses`);
}

/** The builder writes a filter of a scope with all that are within it, and the list has a column for them. */
async function built(visit, memlog, log) {
  const { page } = visit;
  await visit.open(`#/allocations?log=${log.id}`);
  await page.locator('.builder summary').click();
  await page.getByRole('tab', { name: 'Thread' }).click();
  await page.getByLabel('In the scope, or one within it').fill('load');
  await page.getByRole('button', { name: 'Add to the filter' }).click();
  await visit.settled();
  same(await page.inputValue('#filter'), 'scope = "load"', 'what the builder writes');
  const answer = await memlog.told('table', '--list', '--where', 'scope = "load"', '--top', '500', log.file);
  check(answer.blocks === 800, `${answer.blocks} blocks of load and what is within it`);
  await compareTable(visit, 'Single blocks', answer.list.slice(0, 20).map((row) => ({ Bytes: bytes(row.bytes), Scope: name(row.scope), With: name(row.kind) })));
}
