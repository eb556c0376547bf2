// What a table shows of its rows.

export type ColumnKind = 'bytes' | 'change' | 'count' | 'count-change' | 'seconds' | 'percent' | 'text' | 'curve';

export type Value = number | string | number[] | null;

export interface Column<R> {
  key: string;
  label: string;
  kind: ColumnKind;
  /** Of a curve: its values, in bytes. */
  value: (row: R) => Value;
  title?: string;
  /** Draws a bar as long as the figure's part of the largest one. */
  hasBar?: boolean;
  /** What the column comes to in all; a sum only where rows add up. */
  total?: number | null;
  /** False where nothing is sorted by it. */
  sorts?: boolean;
}

export function compare(a: Value, b: Value): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a !== 'number' || typeof b !== 'number') return String(b).localeCompare(String(a), undefined, { numeric: true });
  return a - b;
}

/** The largest first, names from A on; `isReversed` the other way round. */
export function sorted<R>(rows: R[], column: Column<R> | undefined, isReversed: boolean): R[] {
  if (!column) return rows;
  const order = rows.map((row, place) => ({ row, place, value: column.value(row) }));
  order.sort((a, b) => (isReversed ? compare(a.value, b.value) : compare(b.value, a.value)) || a.place - b.place);
  return order.map((one) => one.row);
}
