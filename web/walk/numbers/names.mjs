// Long names are cut, with the whole in their title; command lines in the list are what was typed.

import { check } from '../check.mjs';
import { tableOf } from '../cells.mjs';

export async function names(visit, log, cc1) {
  await visit.open(`#/sites?log=${log.id}`);
  const [{ text, title }] = (await tableOf(visit.page, 'Blocks ')).rows.map((row) => row[0]).filter((cell) => cell.text.startsWith('Index<'));
  check(text.includes('…') && text.length < 120 && title.length > 300, `${visit.where}: a long name is cut: ${text}`);
  await visit.open('#/runs');
  const typed = await visit.page.locator('tbody tr', { hasText: `cc1 ${cc1.pid}` }).locator('.clip').innerText();
  check(/^\S+cc1 -quiet /.test(typed), `${visit.where}: options stand as they were given: ${typed}`);
}
