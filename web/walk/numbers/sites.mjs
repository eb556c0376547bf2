// Tables of groups: Sites in several groupings, moments and filters, Temporary, and the steps of Leaks.

import { bytes, bytesIn, compareTable, count, curve, name, percent, seconds } from '../cells.mjs';
import { same } from '../check.mjs';

const OVER_TIME = 'Live over the run';
const FILTER = 'size >= 20 and size < 20000';
const SITES = [
  ['function', 'rss-peak', ''], ['line', 'heap-peak', FILTER], ['module', 'end', ''], ['stack', null, FILTER],
  ['size', '50%', FILTER], ['thread', 'end', FILTER],
];

export const where = (filter) => (filter ? ['--where', filter] : []);
export const at = (moment) => (moment ? ['--at', moment] : []);
const asHash = (options) => new URLSearchParams(Object.entries(options).filter(([, value]) => value)).toString();

export const rowOf = (answer) => (row) => ({
  Bytes: bytes(row.bytes),
  Share: percent(answer.bytes ? (100 * row.bytes) / answer.bytes : 0),
  Blocks: count(row.blocks),
  'With callees': bytes(row.below_bytes),
  Largest: bytes(row.largest_bytes),
  Waste: bytes(row.waste_bytes),
  'Never freed': bytes(row.leaked_bytes),
  Temporary: count(row.temporary_blocks),
  First: seconds(row.first_seconds),
  Last: seconds(row.last_seconds),
  ...(row.live_bytes && { [OVER_TIME]: curve(row.live_bytes) }),
});

export function only(row, ...labels) {
  return Object.fromEntries(labels.map((label) => [label, row[label]]));
}

const sumOf = (answer, key) => answer.rows.reduce((sum, row) => sum + row[key], 0);

export async function sites(visit, memlog, log, asked = SITES) {
  for (const [by, moment, filter] of asked) {
    const top = by === 'stack' ? '200' : '1000';
    const answer = await memlog.told('table', '--curve', '--by', by, ...at(moment), ...where(filter), '--top', top, log.file);
    await visit.open(`#/sites?${asHash({ log: log.id, at: moment ?? 'run', where: filter, by: by === 'function' ? '' : by })}`);
    const rows = answer.rows.map((row) => ({ ...(by === 'stack' ? {} : { Site: name(row.name) }), ...rowOf(answer)(row) }));
    // Where not all groups are there, nobody can add them up.
    const sums = answer.rows.length < Number(top) && {
      Waste: bytes(sumOf(answer, 'waste_bytes')), 'Never freed': bytes(sumOf(answer, 'leaked_bytes')),
      Temporary: count(sumOf(answer, 'temporary_blocks')),
    };
    await compareTable(visit, 'Blocks ', rows, { Bytes: bytes(answer.bytes), Blocks: count(answer.blocks), ...sums });
  }
}

export async function temporary(visit, memlog, log) {
  const answer = await memlog.told('temporary', '--by', 'function', '--sort', 'blocks', '--top', '1000', log.file);
  await visit.open(`#/temporary?log=${log.id}`);
  const rows = answer.rows.map((row) => ({ Site: name(row.name), ...only(rowOf(answer)(row), 'Blocks', 'Bytes', 'Largest', 'First', 'Last') }));
  await compareTable(visit, 'Who makes temporary', rows, { Bytes: bytes(answer.bytes), Blocks: count(answer.blocks) });
  const chains = await memlog.told('chains', '--by', 'function', log.file);
  const chainRows = chains.rows.map((row) => ({
    'Site of the last block': name(row.name), Outgrown: bytes(row.outgrown_bytes), Chains: count(row.chains),
    Reallocs: count(row.blocks - row.chains), Longest: count(row.length), Reserve: bytes(row.reserve_bytes),
    'Never freed': count(row.leaked_chains),
  }));
  chainRows.length && await compareTable(visit, 'Chains of reallocs', chainRows.slice(0, 20));
}

const LATE = 'died >= 98% and lifetime > 50%';

export async function leaks(visit, memlog, log, filter = '') {
  const options = [...where(filter), '--by', 'function', '--top', '1000', log.file];
  const answers = {
    never: await memlog.told('leaks', '--curve', ...options),
    growing: await memlog.told('leaks', '--growing', ...options),
    late: await memlog.told('table', '--curve', ...where(filter ? `${filter} and ${LATE}` : LATE), ...options.slice(filter ? 2 : 0)),
  };
  for (const [step, answer] of Object.entries(answers)) {
    await visit.open(`#/leaks?${asHash({ log: log.id, where: filter, step })}`);
    await leakStep(visit, Object.keys(answers).indexOf(step), answer);
  }
}

/** Both the count on the step's card and, if it is chosen, its table. */
export async function leakStep(visit, place, answer) {
  const card = visit.page.locator('.steps a').nth(place);
  const [, blocks] = /in ([\d,]+) blocks?/.exec(await card.innerText()) ?? [];
  const title = await card.locator('span[title]').getAttribute('title');
  same(bytesIn(title), answer.bytes, `${visit.where}: bytes of step ${place + 1}`);
  same(Number((blocks ?? 'NaN').replace(/,/g, '')), answer.blocks, `${visit.where}: blocks of step ${place + 1}`);
  if (answer.rows.length === 0) return;
  const rows = answer.rows.map((row) => ({ Site: name(row.name), ...only(rowOf(answer)(row), 'Bytes', 'Share', OVER_TIME, 'Blocks', 'Largest', 'First', 'Last') }));
  await compareTable(visit, ['Never freed', 'Growing', 'Freed only'][place], rows, { Bytes: bytes(answer.bytes), Blocks: count(answer.blocks) });
}
