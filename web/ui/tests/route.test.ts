import { expect, test } from 'vitest';
import { formatRoute, parseRoute } from '../src/state/route';

test('each state comes back from its address', () => {
  const route = {
    screen: 'sites' as const, log: 3, at: 'mark "a b"', where: 'function ~ "x&y=z#"',
    range: { fromSeconds: 0.5, toSeconds: 2, as: 'alive' as const }, own: { by: 'line', sort: 'blocks' },
  };
  expect(parseRoute(formatRoute(route))).toEqual(route);
});

test('what makes no sense is left out', () => {
  expect(parseRoute('').screen).toBe('runs');
  expect(parseRoute('#/nowhere?log=x').log).toBeNull();
  expect(parseRoute('#/sites?range=3..1').range).toBeNull();
  expect(parseRoute('#/sites?range=1..3&as=never').range?.as).toBe('born');
});
