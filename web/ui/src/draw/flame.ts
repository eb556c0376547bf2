// Draws the part of a tree that is to be seen: rows in view, and nodes of one pixel at least. The widest child
// comes first, so the first one that is too narrow ends its row, and the rest is one grey stretch.

import { childrenOf, type Found, type Tree } from './tree';

export const ROW_PX = 20;

export interface View {
  /** Fills the whole width; -1 is everything. */
  focus: number;
  isIcicle: boolean;
  widthPx: number;
  heightPx: number;
  /** How far the rows are scrolled. */
  scrollPx: number;
  selected: number;
  hovered: number;
  found: Found | null;
}

export interface Box {
  node: number;
  depth: number;
  leftPx: number;
  widthPx: number;
}

/** All boxes to be drawn, parents first; `rest` are stretches of nodes that are too narrow. */
export function boxesInView(tree: Tree, view: View): { boxes: Box[]; rest: Box[] } {
  const boxes: Box[] = [];
  const rest: Box[] = [];
  const width = view.focus < 0 ? tree.total : tree.width[view.focus]!;
  if (width <= 0) return { boxes, rest };
  const origin = view.focus < 0 ? 0 : tree.start[view.focus]!;
  const pixels = view.widthPx / width;
  // What the focus was called by is drawn above it, each over the whole width.
  const above: number[] = [];
  if (view.focus >= 0) for (let i = tree.parent[view.focus]!; i >= 0; i = tree.parent[i]!) above.unshift(i);
  above.forEach((node, depth) => boxes.push({ node, depth, leftPx: 0, widthPx: view.widthPx }));

  const [firstRow, lastRow] = rowsInView(tree, view);
  const waiting: number[] = view.focus < 0 ? Array.from(tree.roots).reverse() : [view.focus];
  let narrowRoots = 0;
  while (waiting.length) {
    const node = waiting.pop()!;
    const depth = tree.depth[node]!;
    const widthPx = tree.width[node]! * pixels;
    if (widthPx < 1) {
      narrowRoots += widthPx;
      continue;
    }
    const leftPx = (tree.start[node]! - origin) * pixels;
    if (depth >= firstRow) boxes.push({ node, depth, leftPx, widthPx });
    if (depth + 1 > lastRow) continue;
    for (const child of childrenOf(tree, node)) {
      if (tree.width[child]! * pixels < 1) {
        const beginPx = (tree.start[child]! - origin) * pixels;
        const restPx = leftPx + (widthPx * childrenShare(tree, node)) - beginPx;
        if (restPx >= 1 && depth + 1 >= firstRow) rest.push({ node, depth: depth + 1, leftPx: beginPx, widthPx: restPx });
        break;
      }
      waiting.push(child);
    }
  }
  if (narrowRoots >= 1) rest.push({ node: -1, depth: 0, leftPx: view.widthPx - narrowRoots, widthPx: narrowRoots });
  return { boxes, rest };
}

function childrenShare(tree: Tree, node: number): number {
  const all = childrenOf(tree, node);
  const last = all[all.length - 1];
  if (last === undefined || tree.width[node]! === 0) return 0;
  return (tree.start[last]! + tree.width[last]! - tree.start[node]!) / tree.width[node]!;
}

function rowsInView(tree: Tree, view: View): [number, number] {
  const shown = Math.ceil(view.heightPx / ROW_PX) + 1;
  if (view.isIcicle) {
    const first = Math.floor(view.scrollPx / ROW_PX);
    return [first, first + shown];
  }
  const fromBottom = (tree.deepest + 1) * ROW_PX - view.scrollPx - view.heightPx;
  const first = Math.max(0, Math.floor(fromBottom / ROW_PX) - 1);
  return [first, first + shown + 2];
}

/** The top of a row on the canvas. */
export function rowTop(tree: Tree, view: View, depth: number): number {
  const row = view.isIcicle ? depth : Math.max(tree.deepest, Math.floor(view.heightPx / ROW_PX) - 1) - depth;
  return row * ROW_PX - view.scrollPx;
}

export function totalHeight(tree: Tree): number {
  return (tree.deepest + 1) * ROW_PX;
}

/** What lies under the pointer; -1 if nothing does. */
export function nodeAt(tree: Tree, view: View, boxes: Box[], xPx: number, yPx: number): number {
  for (const box of boxes) {
    const top = rowTop(tree, view, box.depth);
    if (yPx >= top && yPx < top + ROW_PX && xPx >= box.leftPx && xPx < box.leftPx + box.widthPx) return box.node;
  }
  return -1;
}
