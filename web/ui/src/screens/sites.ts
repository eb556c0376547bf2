// What tables of groups show, on every screen that has one.

import type { Row, Table } from '../answers';
import type { Column } from '../parts/columns';
import { choice } from '../state/choice.svelte';
import { route } from '../state/route.svelte';
import { rowFilter } from '../text/filter';

/** No more groups than these are asked for at a time. By stack each has all its frames, so there are fewer. */
export const TOP_GROUPS = 1000;
const TOP_STACKS = 200;

export function topOf(by: string): number {
  return by.endsWith('stack') ? TOP_STACKS : TOP_GROUPS;
}

export const GROUPINGS: [string, string][] = [
  ['function', 'function'], ['line', 'source line'], ['file', 'source file'], ['module', 'module'], ['stack', 'stack'],
  ['type', 'type'], ['size', 'size'], ['thread', 'thread'], ['scope', 'scope'], ['kind', 'allocator function'], ['alignment', 'alignment'],
  ['static-init', 'static initialiser'], ['freed-by', 'freeing thread'], ['freed-function', 'freeing function'],
  ['freed-line', 'freeing line'],
];

/** Columns that the server can sort by. */
export const SERVER_SORTS = ['bytes', 'blocks', 'below', 'waste', 'largest', 'leaked', 'temporary', 'name'];

const overTime = (moments: number): Column<Row> => ({
  key: 'curve', label: 'Live over the run', kind: 'curve', value: (row) => row.live_bytes ?? null, sorts: false,
  title: `What was live of these blocks at ${moments} moments, from the start of the run to its end; each curve goes up to its own largest value`,
});

export function siteColumns(table: Table): Column<Row>[] {
  const share = (row: Row) => (table.bytes > 0 ? (100 * row.bytes) / table.bytes : 0);
  return [
    { key: 'name', label: 'Site', kind: 'text', value: (row) => row.name },
    { key: 'bytes', label: 'Bytes', kind: 'bytes', value: (row) => row.bytes, hasBar: true, total: table.bytes },
    { key: 'share', label: 'Share', kind: 'percent', value: share, total: 100, sorts: false },
    ...(table.moments_seconds ? [overTime(table.moments_seconds.length)] : []),
    { key: 'blocks', label: 'Blocks', kind: 'count', value: (row) => row.blocks, total: table.blocks },
    { key: 'below', label: 'With callees', kind: 'bytes', value: (row) => row.below_bytes, title: 'With what the functions that it called asked for; this does not add up' },
    { key: 'largest', label: 'Largest', kind: 'bytes', value: (row) => row.largest_bytes, title: 'The largest block' },
    { key: 'waste', label: 'Waste', kind: 'bytes', value: (row) => row.waste_bytes, title: 'What the allocator gave beyond what was asked for', total: sum(table, 'waste_bytes') },
    { key: 'leaked', label: 'Never freed', kind: 'bytes', value: (row) => row.leaked_bytes, total: sum(table, 'leaked_bytes') },
    { key: 'temporary', label: 'Temporary', kind: 'count', value: (row) => row.temporary_blocks, title: 'Blocks freed before the thread allocated again', total: sum(table, 'temporary_blocks') },
    { key: 'first', label: 'First', kind: 'seconds', value: (row) => row.first_seconds, title: 'When the first of its blocks was allocated' },
    { key: 'last', label: 'Last', kind: 'seconds', value: (row) => row.last_seconds, title: 'When the last of its blocks was allocated' },
  ];
}

/** Null where not all groups are there. */
function sum(table: Table, key: 'waste_bytes' | 'leaked_bytes' | 'temporary_blocks'): number | null {
  if (table.rows.length < table.groups) return null;
  return table.rows.reduce((all, row) => all + row[key], 0);
}

/** Where a click on a row leads; null if the filter language has no word for the group. */
export function siteLink(by: string, row: { name: string; stack_numbers?: number[] | null }): string | null {
  const filter = rowFilter(by, row.name, row.stack_numbers ?? null);
  if (!filter) return null;
  // The site is looked at as the table was: at its moment, or in the whole run.
  return route.link({ screen: 'site', at: choice.takesMoment ? choice.at : null, own: { of: by, name: row.name, site: filter } });
}

export const functionLink = (name: string) => siteLink('function', { name });
