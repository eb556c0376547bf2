import { expect, test } from 'vitest';
import type { FlameAnswer } from '../src/answers';
import { boxesInView } from '../src/draw/flame';
import { layOut, search } from '../src/draw/tree';

/** 100,000 nodes in towers of up to some hundred. */
function large(count: number): FlameAnswer {
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const parent = Array.from({ length: count }, (_, i) => (i === 0 ? -1 : Math.max(0, i - 1 - Math.floor(random() ** 4 * 300))));
  const own = parent.map(() => Math.floor(1 + 1000 * random()));
  const bytes = own.slice();
  for (let i = count - 1; i > 0; i--) bytes[parent[i]!]! += bytes[i]!;
  const names = Array.from({ length: 5000 }, (_, i) => ({ function: `function_${i}`, location: null, module: `m${i % 20}` }));
  return {
    total_bytes: bytes[0]!, total_blocks: count, names,
    nodes: { name: parent.map((_, i) => i % 5000), parent, bytes, blocks: parent.map(() => 1), own_bytes: own },
    left_out: { nodes: 0, bytes: 0 }, notes: [],
  };
}

// Limits are ten times what it takes, so that a slow machine does not fail; a square of the nodes would.
test('a hundred thousand nodes', () => {
  const answer = large(100_000);
  const started = performance.now();
  const tree = layOut(answer, 'bytes');
  const laidOut = performance.now();
  const found = search(tree, 'function_77');
  const searched = performance.now();
  const view = { focus: -1, isIcicle: true, widthPx: 1250, heightPx: 600, scrollPx: 0, selected: -1, hovered: -1, found };
  const { boxes } = boxesInView(tree, view);
  const drawn = performance.now();
  console.log(`layout ${(laidOut - started).toFixed(1)} ms, search ${(searched - laidOut).toFixed(1)} ms, boxes ${(drawn - searched).toFixed(2)} ms for ${boxes.length}, depth ${tree.deepest}`);
  expect(laidOut - started).toBeLessThan(2000);
  expect(drawn - searched).toBeLessThan(100);
});
