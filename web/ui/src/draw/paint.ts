// Colours of flame graphs and maps. Each pair of text and ground has a contrast of 4.5 at least, in both themes.
// Blue and orange are told apart by all who see colours badly; and what they say stands there as a sign too.

import type { Tree } from './tree';
import { rowTop, ROW_PX, type Box, type View } from './flame';
import { bytesChange, percentText } from '../text/units';

export interface Paint {
  isDark: boolean;
  font: string;
  characterPx: number;
}

/** The same module always has the same colour. It says no more than which parts belong together. */
export function moduleColour(hash: number, isDark: boolean): string {
  const hue = 24 + (hash % 9) * 24;
  const light = (hash >>> 8) % 3;
  return isDark ? `hsl(${hue} 32% ${25 + light * 2}%)` : `hsl(${hue} 62% ${80 - light * 3}%)`;
}

/** -1 all went, 1 all is new. */
export function changeColour(change: number, isDark: boolean): string {
  const strength = Math.min(1, Math.abs(change));
  if (strength < 0.005) return isDark ? 'hsl(0 0% 27%)' : 'hsl(0 0% 87%)';
  const hue = change > 0 ? 24 : 215;
  return isDark
    ? `hsl(${hue} ${20 + 45 * strength}% ${27 + 5 * strength}%)`
    : `hsl(${hue} ${40 + 50 * strength}% ${86 - 14 * strength}%)`;
}

export function changeOf(tree: Tree, node: number): number {
  const before = tree.beforeBytes![node]!;
  const after = tree.bytes[node]!;
  const larger = Math.max(before, after);
  return larger === 0 ? 0 : (after - before) / larger;
}

export function drawFlame(
  context: CanvasRenderingContext2D, tree: Tree, view: View, drawn: { boxes: Box[]; rest: Box[] }, paint: Paint, hashes: Uint32Array,
) {
  const ink = paint.isDark ? '#f2f2f2' : '#1a1a1a';
  context.clearRect(0, 0, view.widthPx, view.heightPx);
  context.font = paint.font;
  context.textBaseline = 'middle';
  context.fillStyle = paint.isDark ? '#3a3d42' : '#d5d8dc';
  for (const { depth, leftPx, widthPx } of drawn.rest) {
    context.fillRect(leftPx, rowTop(tree, view, depth) + 6, widthPx, ROW_PX - 13);
  }
  const focusDepth = view.focus < 0 ? 0 : tree.depth[view.focus]!;
  for (const box of drawn.boxes) {
    const top = rowTop(tree, view, box.depth);
    if (top <= -ROW_PX || top > view.heightPx) continue;
    const { node, leftPx } = box;
    const widthPx = Math.max(1, box.widthPx - 1);
    const isFound = view.found?.matches[tree.name[node]!] === 1;
    context.globalAlpha = box.depth < focusDepth ? 0.6 : 1;
    context.fillStyle = tree.beforeBytes
      ? changeColour(changeOf(tree, node), paint.isDark)
      : view.found && !isFound
        ? paint.isDark ? '#33363b' : '#e6e8ea'
        : moduleColour(hashes[tree.name[node]!]!, paint.isDark);
    context.fillRect(leftPx, top, widthPx, ROW_PX - 1);
    context.globalAlpha = 1;
    if (isFound && widthPx >= 3) {
      context.strokeStyle = ink;
      context.lineWidth = 1.5;
      context.strokeRect(leftPx + 1, top + 1, widthPx - 2, ROW_PX - 3);
    }
    if (widthPx > 3 * paint.characterPx) {
      context.fillStyle = ink;
      context.fillText(label(tree, view, node, Math.floor((widthPx - 6) / paint.characterPx)), leftPx + 4, top + ROW_PX / 2);
    }
  }
  outline(context, tree, view, drawn.boxes, view.hovered, ink, 1);
  outline(context, tree, view, drawn.boxes, view.selected, ink, 2.5);
}

function outline(
  context: CanvasRenderingContext2D, tree: Tree, view: View, boxes: Box[], node: number, ink: string, width: number,
) {
  const box = node < 0 ? undefined : boxes.find((one) => one.node === node);
  if (!box) return;
  context.strokeStyle = ink;
  context.lineWidth = width;
  const inset = width / 2;
  context.strokeRect(box.leftPx + inset, rowTop(tree, view, box.depth) + inset, Math.max(1, box.widthPx - 1 - width), ROW_PX - 1 - width);
}

function label(tree: Tree, view: View, node: number, fits: number): string {
  let text = tree.names[tree.name[node]!]!.function;
  if (tree.beforeBytes) text = `${bytesChange(tree.bytes[node]! - tree.beforeBytes[node]!)}  ${text}`;
  else if (node === view.selected && fits > text.length + 8) text += `  ${percentText(tree.width[node]!, tree.total)}`;
  return text.length <= fits ? text : fits < 3 ? '' : `${text.slice(0, fits - 1)}…`;
}

/** How full a stretch of addresses is: 0 empty, 1 full. One hue, from light to dark. */
export function fillColour(share: number, isDark: boolean): string {
  if (share <= 0) return isDark ? 'hsl(215 8% 24%)' : 'hsl(215 15% 91%)';
  return isDark ? `hsl(${210 - 160 * share} 70% ${32 + 38 * share}%)` : `hsl(${200 + 60 * share} 70% ${76 - 50 * share}%)`;
}
