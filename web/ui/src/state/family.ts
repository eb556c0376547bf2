// Logs in an order in which each stands below the process that started it, and those that are found by words.

import type { Log } from '../answers';

export type Order = 'started' | 'rss' | 'heap';

export function family(logs: Log[], order: Order): { log: Log; depth: number }[] {
  const ids = new Set(logs.map((log) => log.id));
  const children = new Map<number | null, Log[]>();
  for (const log of logs) {
    const parent = log.parent_id !== null && log.parent_id !== log.id && ids.has(log.parent_id) ? log.parent_id : null;
    children.set(parent, [...(children.get(parent) ?? []), log]);
  }
  // A process stands where the largest of those that it started would.
  const figures = { rss: (log: Log) => log.rss_peak_bytes, heap: (log: Log) => log.heap_peak_bytes, started: () => 0 };
  const largest = new Map<number, number>();
  const largestOf = (log: Log): number => {
    const known = largest.get(log.id);
    if (known !== undefined) return known;
    largest.set(log.id, 0);
    const all = [log, ...(children.get(log.id) ?? [])];
    const most = all.reduce((most, one) => Math.max(most, one === log ? (figures[order](log) ?? 0) : largestOf(one)), 0);
    largest.set(log.id, most);
    return most;
  };
  const byOrder = (a: Log, b: Log) => largestOf(b) - largestOf(a) || byStart(a, b);
  const rows: { log: Log; depth: number }[] = [];
  const seen = new Set<number>();
  const walk = (parent: number | null, depth: number) => {
    for (const log of [...(children.get(parent) ?? [])].sort(byOrder)) {
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

function byStart(a: Log, b: Log): number {
  return Number(a.rank ?? -1) - Number(b.rank ?? -1) || (a.start_unix_ns ?? 0) - (b.start_unix_ns ?? 0) || a.id - b.id;
}

/** Whether a log has all words in what is known of it; `rank 1` is no rank 10. */
export function hasWords(log: Log, sought: string): boolean {
  const texts = [log.name, log.host, log.file, log.command_line, log.pid].filter((one) => one !== null);
  const text = texts.join(' ').toLowerCase();
  const [, rank] = /\brank\s+(\S+)/i.exec(sought) ?? [];
  const words = sought.replace(/\brank\s+\S*/i, '').toLowerCase().split(/\s+/);
  return (rank === undefined || log.rank === rank) && words.every((word) => text.includes(word));
}
