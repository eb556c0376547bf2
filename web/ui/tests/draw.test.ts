import { expect, test } from 'vitest';
import type { Area, FlameAnswer, Log, Timeline } from '../src/answers';
import { cellsOf } from '../src/draw/areas';
import { rates } from '../src/draw/curves';
import { boxesInView, type View } from '../src/draw/flame';
import { layOut, nodeOfPath, pathTo, search } from '../src/draw/tree';
import { sorted, type Column } from '../src/parts/columns';
import { family, hasWords } from '../src/state/family';

const frame = (name: string) => ({ function: name, location: null, module: 'm' });
// main -> a (60: itself 10, b 50), c (40)
const answer: FlameAnswer = {
  total_bytes: 100, total_blocks: 10, names: ['main', 'c', 'a', 'b'].map(frame),
  nodes: { name: [0, 1, 2, 3], parent: [-1, 0, 0, 2], bytes: [100, 40, 60, 50], blocks: [10, 4, 6, 5], own_bytes: [0, 40, 10, 50] },
  left_out: { nodes: 0, bytes: 0 }, notes: [],
};
const view = (focus: number, widthPx = 100): View => ({
  focus, isIcicle: true, widthPx, heightPx: 400, scrollPx: 0, selected: -1, hovered: -1, found: null,
});

test('the widest child comes first', () => {
  const tree = layOut(answer, 'bytes');
  expect(tree.total).toBe(100);
  expect([...tree.start]).toEqual([0, 60, 0, 0]);
  expect([...tree.depth]).toEqual([0, 1, 1, 2]);
  expect(pathTo(tree, 3)).toEqual([0, 2, 3]);
  expect(nodeOfPath(tree, tree.pathHash[3]!.toString(16))).toBe(3);
});

test('the focus fills the width, below its callers', () => {
  const { boxes } = boxesInView(layOut(answer, 'bytes'), view(2));
  expect(boxes.map((box) => [box.node, box.leftPx, box.widthPx])).toEqual([[0, 0, 100], [2, 0, 100], [3, 0, expect.closeTo(83.3, 1)]]);
});

test('what is narrower than a pixel is not drawn one by one', () => {
  const count = 1001;
  const many: FlameAnswer = {
    ...answer,
    nodes: {
      name: Array(count).fill(0), parent: [-1, ...Array(count - 1).fill(0)], bytes: [1000, ...Array(count - 1).fill(1)],
      blocks: Array(count).fill(1), own_bytes: Array(count).fill(0),
    },
  };
  const { boxes, rest } = boxesInView(layOut(many, 'bytes'), view(-1));
  expect(boxes.length).toBe(1);
  expect(rest).toEqual([{ node: 0, depth: 1, leftPx: 0, widthPx: 100 }]);
});

test('what went is to be seen where two moments are compared', () => {
  const tree = layOut({ ...answer, nodes: { ...answer.nodes, bytes: [40, 40, 0, 0], before_bytes: [100, 40, 60, 50] } }, 'bytes');
  expect([...tree.width]).toEqual([100, 40, 60, 50]);
});

test('a match below a match counts once', () => {
  const tree = layOut(answer, 'bytes');
  expect(search(tree, '')).toBeNull();
  expect(search(tree, '^a|^b')).toMatchObject({ width: 60, nodes: 2 });
  expect(search(tree, '(')).toMatchObject({ width: 0, nodes: 0 });
});

test('rates are counted since the point before', () => {
  const points = [{ seconds: 0, allocations: 5 }, { seconds: 2, allocations: 8 }];
  expect(rates({ points } as unknown as Timeline, (point) => point.allocations)).toEqual([null, 4]);
});

test('cells of an area take their share of its parts', () => {
  const area: Area = { start: '0x1000', end: '0x3000', live_bytes: 4096, blocks: 1, fill: [4096, 0] };
  expect(cellsOf([area], 4096, 10).cells.map((cell) => cell.share)).toEqual([1, 0]);
  expect(cellsOf([area], 4096, 1).cells.map((cell) => cell.share)).toEqual([0.5]);
});

test('rows are sorted without losing the order of equal ones', () => {
  const column: Column<{ a: number; b: string }> = { key: 'a', label: '', kind: 'count', value: (row) => row.a };
  const rows = [{ a: 1, b: 'x' }, { a: 2, b: 'y' }, { a: 1, b: 'z' }];
  expect(sorted(rows, column, false).map((row) => row.b).join('')).toBe('yxz');
  expect(sorted(rows, column, true).map((row) => row.b).join('')).toBe('xzy');
});

test('a child stands below its parent, and a circle does not hang', () => {
  const log = (id: number, parent_id: number | null) => ({ id, parent_id, rank: null, start_unix_ns: id }) as Log;
  const rows = family([log(3, 1), log(1, null), log(2, null), log(8, 9), log(9, 8)], 'started');
  expect(rows.map((row) => [row.log.id, row.depth])).toEqual([[1, 0], [3, 1], [2, 0], [8, 0], [9, 0]]);
});

test('a log is found by words and by its rank', () => {
  const log = { name: 'solver', host: 'n3', file: 'job/n3.17.memlog', command_line: './solver -n 10', pid: 17, rank: '1' } as Log;
  for (const sought of ['', 'SOLVER n3', '-n 10', 'rank 1', 'solver rank 1', '17']) expect(hasWords(log, sought), sought).toBe(true);
  for (const sought of ['rank 10', 'rank 7', 'solver n4', 'rank']) expect(hasWords(log, sought), sought).toBe(false);
  expect(hasWords({ ...log, rank: null, host: null }, 'rank 1')).toBe(false);
});
