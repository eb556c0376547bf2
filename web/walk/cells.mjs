// Tables as they stand on the page, and whether a cell is the figure that it should be. What is written is read back
// here by rules of this file's own, so that a fault of the page's rules is seen.

import { check, fail, same } from './check.mjs';

/** By the beginning of its caption: labels of columns, rows of cells, and the row of totals. */
export async function tableOf(page, caption) {
  const tables = await page.evaluate(() => {
    const cell = (one) => ({
      text: one.innerText.trim(),
      title: one.querySelector('.figure[title], span[title], a[title]')?.title ?? '',
      curve: [...(one.querySelector('svg.sparkline polyline')?.points ?? [])].map((point) => point.y),
    });
    return [...document.querySelectorAll('main table')].map((table) => ({
      caption: table.caption?.textContent ?? '',
      columns: [...table.querySelectorAll('thead th')].map((head) => head.innerText.replace(/ [▲▼]$/, '').trim()),
      rows: [...table.tBodies[0].rows].filter((row) => !row.ariaHidden).map((row) => [...row.cells].map(cell)),
      totals: [...(table.tFoot?.rows[0]?.cells ?? [])].map(cell),
    }));
  });
  return tables.find((table) => table.caption.startsWith(caption)) ?? null;
}

/** `want` is a list of rows, each a record of labels and figures. */
export async function compareTable(visit, caption, want, totals = {}, from = 0) {
  const table = await tableOf(visit.page, caption);
  const where = `${visit.where}, "${caption}"`;
  if (!table) return fail(`${where}: there is no such table`);
  check(want.length > 0, `${where}: there is something to compare`);
  const shown = Math.min(want.length, 50);
  check(table.rows.length >= shown, `${where}: ${table.rows.length} rows of at least ${shown}`);
  for (const [place, row] of want.slice(0, shown).entries()) {
    for (const [label, figure] of Object.entries(row)) {
      compareCell(table.rows[from + place]?.[columnOf(table, label)], figure, `${where}, row ${place + 1}, ${label}`);
    }
  }
  for (const [label, figure] of Object.entries(totals)) {
    compareCell(table.totals[columnOf(table, label)], figure, `${where}, totals, ${label}`);
  }
  return table;
}

export const columnOf = (table, label) => table.columns.indexOf(label);

function compareCell(cell, figure, what) {
  if (!cell) return fail(`${what}: there is no such cell`);
  return figure(cell, what);
}

// Figures: each says whether a cell is so.

export const text = (want) => (cell, what) => same(cell.text, String(want), what);

/** A name, which may be cut in the middle if its title has the whole. */
export const name = (want) => (cell, what) => {
  const [begin, end] = cell.text.split('…');
  if (end === undefined) return same(cell.text.replace(/\s+/g, ' '), want.replace(/\s+/g, ' '), what);
  same(cell.title, want, `${what}, its title`);
  return check(want.startsWith(begin) && want.endsWith(end), `${what}: ${cell.text} is cut out of ${want}`);
};

export const none = (cell, what) => same(cell.text, '–', what);

export const count = (want) => (cell, what) => same(numberOf(cell.text), want, what);

export const bytes = (want) => (want === null ? none : (cell, what) => {
  same(bytesIn(cell.title), want, what);
  check(isAbout(cell.text, want), `${what}: ${cell.text} is ${want} bytes`);
});

export const percent = (want) => (cell, what) => {
  const isSmall = cell.text.startsWith('<');
  check(isSmall ? want > 0 && want < 0.05 : Math.abs(parseFloat(cell.text) - want) < 0.051, `${what}: ${cell.text} is ${want} %`);
};

export const seconds = (want) => (want === null ? none : (cell, what) => check(isTime(cell.text, want), `${what}: ${cell.text} is ${want} s`));

/** A small curve: the higher the value the higher the point, and the largest is at the top. */
export const curve = (want) => (cell, what) => {
  const [top, bottom] = [Math.min(...cell.curve), Math.max(...cell.curve)];
  const most = Math.max(...want);
  same(cell.curve.length, want.length, `${what}: points`);
  for (const [place, value] of want.entries()) {
    const height = most > 0 && bottom > top ? (bottom - cell.curve[place]) / (bottom - top) : 0;
    const least = Math.min(...want);
    const expected = most > least ? (value - least) / (most - least) : 0;
    check(Math.abs(height - expected) < 0.02, `${what}: point ${place + 1} at ${height.toFixed(2)}, not ${expected.toFixed(2)}`);
  }
};

export function numberOf(written) {
  return Number(written.replace(/,/g, '').replace('−', '-').replace('±', '').replace('+', ''));
}

/** `1,234 bytes` of a title. */
export function bytesIn(title) {
  const found = /^([−\d,]+) bytes?$/.exec(title);
  return found ? numberOf(found[1]) : NaN;
}

const UNITS = { byte: 1, bytes: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

function isAbout(written, want) {
  const [figure, unit] = written.split(/\s/);
  return Math.abs(numberOf(figure) * UNITS[unit] - want) <= 0.0501 * UNITS[unit];
}

const SECONDS = { 'µs': [1e-6, 0.1], ms: [1e-3, 0.1], s: [1, 0.001] };

function isTime(written, want) {
  const parts = [...written.matchAll(/([−\d.]+) (µs|ms|s|min|h)\b/g)];
  if (/min|h/.test(written)) {
    const sum = parts.reduce((all, [, figure, unit]) => all + numberOf(figure) * { h: 3600, min: 60, s: 1 }[unit], 0);
    return Math.abs(sum - want) <= 60;
  }
  const [unit, digit] = SECONDS[parts[0]?.[2]] ?? [NaN, NaN];
  return Math.abs(numberOf(parts[0]?.[1] ?? '') * unit - want) <= 0.51 * unit * digit + 1e-9;
}
