// Logs in an order in which each stands below the process that started it.

import type { Log } from '../answers';

export type Order = 'started' | 'rss' | 'heap';

export function family(logs: Log[], order: Order): { log: Log; depth: number }[] {
  const ids = new Set(logs.map((log) => log.id));
  const children = new Map<number | null, Log[]>();
  for (const log of logs) {
    const parent = log.parent_id !== null && log.parent_id !== log.id && ids.has(log.parent_id) ? log.parent_id : null;
    children.set(parent, [...(children.get(parent) ?? []), log]);
  }
  const rows: { log: Log; depth: number }[] = [];
  const seen = new Set<number>();
  const walk = (parent: number | null, depth: number) => {
    for (const log of [...(children.get(parent) ?? [])].sort(compareBy(order))) {
      if (seen.has(log.id)) continue;
      seen.add(log.id);
      rows.push({ log, depth });
      walk(log.id, depth + 1);
    }
  };
  walk(null, 0);
  // Logs that name each other as parents are in no tree.
  for (const log of logs) if (!seen.has(log.id)) rows.push({ log, depth: 0 });
  return rows;
}

function compareBy(order: Order): (a: Log, b: Log) => number {
  if (order === 'rss') return (a, b) => (b.rss_peak_bytes ?? 0) - (a.rss_peak_bytes ?? 0) || a.id - b.id;
  if (order === 'heap') return (a, b) => (b.heap_peak_bytes ?? 0) - (a.heap_peak_bytes ?? 0) || a.id - b.id;
  return (a, b) => Number(a.rank ?? -1) - Number(b.rank ?? -1) || (a.start_unix_ns ?? 0) - (b.start_unix_ns ?? 0) || a.id - b.id;
}
