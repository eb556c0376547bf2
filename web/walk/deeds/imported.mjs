// A log that another tool made: its tables have no curves, and its overview says what is not known.

import { bytes, compareTable, count, name, tableOf } from '../cells.mjs';
import { check } from '../check.mjs';
import { Visit } from '../browser.mjs';

export async function imported(browser, memlog) {
  const file = 'imported.memlog';
  const server = await memlog.serve(file);
  // DHAT knows no course over time, and the overview says so.
  const visit = await Visit.of(browser, server, { pardoned: /\b422 for \S+timeline|console says: .* status of 422/ });
  for (const [hash, caption, words] of [
    ['#/overview?log=1&at=end', 'The sites', ['table', '--at', 'end']],
    ['#/sites?log=1&at=end', 'Blocks live', ['table', '--at', 'end']],
    ['#/leaks?log=1', 'Never freed', ['leaks']],
  ]) {
    const answer = await memlog.told(...words, '--by', 'function', '--top', '1000', file);
    await visit.open(hash);
    const rows = answer.rows.map((row) => ({ Site: name(row.name), Bytes: bytes(row.bytes), Blocks: count(row.blocks) }));
    await compareTable(visit, caption, rows.slice(0, 10), { Bytes: bytes(answer.bytes) });
    const table = await tableOf(visit.page, caption);
    check(!table?.columns.includes('Live over the run'), `${hash} has no curves`);
  }
  await visit.open('#/overview?log=1&at=end');
  check(/does not know/.test(await visit.text('main [role=alert]')), 'the overview says what is not known');
  await visit.close();
  await server.end();
}
