// The address space without its gaps, cut into cells of equal size that fill rows from left to right.

import type { Area } from '../answers';

export interface Cell {
  area: number;
  /** Of the area. */
  fromByte: number;
  bytes: number;
  /** 0 empty, 1 full of live blocks. */
  share: number;
}

export interface Layout {
  cells: Cell[];
  cellBytes: number;
}

const SIZES = Array.from({ length: 40 }, (_, power) => 2 ** power);

export function areaBytes(area: Area): number {
  return Number(BigInt(area.end) - BigInt(area.start));
}

/** So many cells at most as have room; each area begins a cell of its own. */
export function cellsOf(areas: Area[], pageBytes: number, most: number): Layout {
  const sizes = areas.map(areaBytes);
  const cellBytes = SIZES.find((size) => size >= pageBytes && sizes.reduce((sum, bytes) => sum + Math.ceil(bytes / size), 0) <= most) ?? 2 ** 39;
  const cells: Cell[] = [];
  areas.forEach((area, place) => {
    const bytes = sizes[place]!;
    for (let from = 0; from < bytes && cells.length < most; from += cellBytes) {
      const here = Math.min(cellBytes, bytes - from);
      cells.push({ area: place, fromByte: from, bytes: here, share: shareOf(area, bytes, from, here) });
    }
  });
  return { cells, cellBytes };
}

/** From the equal parts that the server counted. */
function shareOf(area: Area, bytes: number, from: number, here: number): number {
  const parts = area.fill.length;
  if (parts === 0 || here === 0) return 0;
  const partBytes = bytes / parts;
  let live = 0;
  const last = Math.min(parts - 1, Math.ceil((from + here) / partBytes) - 1);
  for (let part = Math.floor(from / partBytes); part <= last; part++) {
    const begin = Math.max(from, part * partBytes);
    const end = Math.min(from + here, (part + 1) * partBytes);
    live += (area.fill[part]! * Math.max(0, end - begin)) / partBytes;
  }
  return Math.min(1, live / here);
}
