// The tree of a flame graph, laid out once. Nodes come parents first; all is in typed arrays, for there may be
// 100,000 of them.

import type { FlameAnswer, Frame } from '../answers';

export interface Tree {
  count: number;
  names: Frame[];
  name: Int32Array;
  parent: Int32Array;
  depth: Int32Array;
  bytes: Float64Array;
  blocks: Float64Array;
  ownBytes: Float64Array;
  /** Bytes at the moment before; null unless two moments are compared. */
  beforeBytes: Float64Array | null;
  /** How wide a node is drawn, in the unit of the tree. */
  width: Float64Array;
  /** Where it begins, in the same unit, counted from the left of everything. */
  start: Float64Array;
  /** Children of `i`, the widest first: order[firstChild[i]] .. order[firstChild[i] + children[i] - 1]. */
  firstChild: Int32Array;
  children: Int32Array;
  order: Int32Array;
  roots: Int32Array;
  total: number;
  /** A number for the path from the root, that is the same in another answer. */
  pathHash: Uint32Array;
  deepest: number;
}

export type Unit = 'bytes' | 'blocks';

export function layOut(answer: FlameAnswer, unit: Unit): Tree {
  const { nodes, names } = answer;
  const count = nodes.parent.length;
  const bytes = Float64Array.from(nodes.bytes);
  const blocks = Float64Array.from(nodes.blocks);
  const before = nodes.before_bytes ? Float64Array.from(nodes.before_bytes) : null;
  const parent = Int32Array.from(nodes.parent);
  const width = before ? comparedWidths(parent, bytes, before) : unit === 'bytes' ? bytes.slice() : blocks.slice();

  const children = new Int32Array(count);
  let rootCount = 0;
  for (let i = 0; i < count; i++) {
    const above = parent[i]!;
    if (above < 0) rootCount += 1;
    else children[above]! += 1;
  }
  const firstChild = new Int32Array(count);
  const order = new Int32Array(count - rootCount);
  const filled = new Int32Array(count);
  const roots = new Int32Array(rootCount);
  for (let i = 0, next = 0; i < count; i++) {
    firstChild[i] = next;
    next += children[i]!;
  }
  for (let i = 0, root = 0; i < count; i++) {
    const above = parent[i]!;
    if (above < 0) roots[root++] = i;
    else order[firstChild[above]! + filled[above]!++] = i;
  }
  const widestFirst = (a: number, b: number) => width[b]! - width[a]! || a - b;
  roots.sort(widestFirst);
  for (let i = 0; i < count; i++) {
    if (children[i]! > 1) order.subarray(firstChild[i]!, firstChild[i]! + children[i]!).sort(widestFirst);
  }

  const tree: Tree = {
    count, names, parent, bytes, blocks, width, children, firstChild, order, roots,
    name: Int32Array.from(nodes.name),
    ownBytes: Float64Array.from(nodes.own_bytes),
    beforeBytes: before,
    depth: new Int32Array(count),
    start: new Float64Array(count),
    pathHash: new Uint32Array(count),
    total: 0,
    deepest: 0,
  };
  place(tree);
  return tree;
}

/** Where two moments are compared, a node is as wide as the larger of both: what went is to be seen as well. */
function comparedWidths(parent: Int32Array, bytes: Float64Array, before: Float64Array): Float64Array {
  const count = parent.length;
  const inChildren = new Float64Array(count);
  const width = new Float64Array(count);
  for (let i = count - 1; i >= 0; i--) {
    width[i] = Math.max(bytes[i]!, before[i]!, inChildren[i]!);
    const above = parent[i]!;
    if (above >= 0) inChildren[above]! += width[i]!;
  }
  return width;
}

function place(tree: Tree) {
  const { parent, depth, start, pathHash, width } = tree;
  for (const root of tree.roots) {
    start[root] = tree.total;
    tree.total += width[root]!;
  }
  const hashes = tree.names.map((frame) => textHash(frame.function));
  for (let i = 0; i < tree.count; i++) {
    const above = parent[i]!;
    depth[i] = above < 0 ? 0 : depth[above]! + 1;
    if (depth[i]! > tree.deepest) tree.deepest = depth[i]!;
    const begin = above < 0 ? 0x811c9dc5 : pathHash[above]!;
    pathHash[i] = Math.imul(begin ^ hashes[tree.name[i]!]!, 0x01000193) >>> 0;
    let next = start[i]!;
    for (let k = 0; k < tree.children[i]!; k++) {
      const child = tree.order[tree.firstChild[i]! + k]!;
      start[child] = next;
      next += width[child]!;
    }
  }
}

/** A place without a name is called by its module, as `cc1+0x67664a`. */
export function moduleOf(frame: Frame): string {
  return frame.module ?? /^(.+)\+0x[0-9a-f]+$/.exec(frame.function)?.[1] ?? '';
}

/** FNV-1a. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

export function childrenOf(tree: Tree, node: number): Int32Array {
  if (node < 0) return tree.roots;
  return tree.order.subarray(tree.firstChild[node]!, tree.firstChild[node]! + tree.children[node]!);
}

export function nodeOfPath(tree: Tree, hash: string): number {
  const wanted = parseInt(hash, 16);
  return tree.pathHash.indexOf(wanted);
}

/** From the root to the node. */
export function pathTo(tree: Tree, node: number): number[] {
  const path: number[] = [];
  for (let i = node; i >= 0; i = tree.parent[i]!) path.unshift(i);
  return path;
}

export interface Found {
  /** 1 for each name that matches. */
  matches: Uint8Array;
  /** Bytes, or blocks, in matching nodes, each counted once though a callee matches too. */
  width: number;
  nodes: number;
}

/** `pattern` is a regular expression; one that is none is looked for as it stands. */
export function search(tree: Tree, pattern: string): Found | null {
  if (pattern === '') return null;
  let matcher: (text: string) => boolean;
  try {
    const regex = new RegExp(pattern, 'i');
    matcher = (text) => regex.test(text);
  } catch {
    const small = pattern.toLowerCase();
    matcher = (text) => text.toLowerCase().includes(small);
  }
  const matches = Uint8Array.from(tree.names, (frame) =>
    matcher(frame.function) || matcher(frame.location ?? '') || matcher(frame.module ?? '') ? 1 : 0,
  );
  const covered = new Uint8Array(tree.count);
  let width = 0;
  let nodes = 0;
  for (let i = 0; i < tree.count; i++) {
    const isMatch = matches[tree.name[i]!] === 1;
    const above = tree.parent[i]!;
    const isBelow = above >= 0 && covered[above] === 1;
    if (isMatch) nodes += 1;
    if (isMatch && !isBelow) width += tree.width[i]!;
    covered[i] = isMatch || isBelow ? 1 : 0;
  }
  return { matches, width, nodes };
}
