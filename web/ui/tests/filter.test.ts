import { expect, test } from 'vitest';
import { TABS, testOf } from '../src/text/builder';
import { allOf, escapedRegex, quoted, rangeFilter, rowFilter } from '../src/text/filter';

test('a text in quotes means itself', () => {
  expect(quoted('operator new')).toBe('"operator new"');
  expect(quoted('say "so"')).toBe('"say \\"so\\""');
  expect(quoted('\\.rs$')).toBe('"\\.rs$"');
  expect(quoted('a\\')).toBe('"a\\\\"');
  expect(quoted('a\\"')).toBe('"a\\\\\\""');
});

test('parts with or get parentheses', () => {
  expect(allOf(['', ' leaked ', null])).toBe('leaked');
  expect(allOf(['a = 1 or b = 2', 'leaked'])).toBe('(a = 1 or b = 2) and leaked');
  expect(allOf(['a || b', 'c'])).toBe('(a || b) and c');
  expect(allOf(['function = "or"', 'leaked'])).toBe('function = "or" and leaked');
});

test('a range is a test of its own', () => {
  expect(rangeFilter(null)).toBe('');
  expect(rangeFilter({ fromSeconds: 1.5, toSeconds: 2, as: 'born' })).toBe('born in 1.5s..2s');
  expect(rangeFilter({ fromSeconds: 0, toSeconds: 2, as: 'alive' })).toBe('alive in 0s..2s');
});

test('rows as filters', () => {
  expect(rowFilter('function', 'f<int>(a, b)', null)).toBe('function = "f<int>(a, b)"');
  expect(rowFilter('stack', 'x', [3, 4])).toBe('stack = 3 or stack = 4');
  expect(rowFilter('thread', 'server (8256)', null)).toBe('tid = 8256');
  expect(rowFilter('freed-by', '4711', null)).toBe('freed-by-tid = 4711');
  expect(rowFilter('size', '8,032', null)).toBe('size = 8032');
  expect(rowFilter('line', '/a/b.c:12', null)).toBe('file = "/a/b.c" and line = 12');
  expect(rowFilter('line', 'xmalloc', null)).toBe('function = "xmalloc"');
  expect(rowFilter('scope', 'load/parse (1)', null)).toBe('scope ~ "^load/parse \\(1\\)$"');
  expect(rowFilter('scope', '(no scope)', null)).toBe('scope = "(no scope)"');
  expect(rowFilter('module', '(unknown)', null)).toBeNull();
  expect(rowFilter('type', 'int', null)).toBeNull();
});

test('the builder writes the filter language', () => {
  const field = (name: string) => TABS.flatMap((tab) => tab.fields).find((one) => one.field === name)!;
  expect(testOf(field('size'), { from: '1MiB' })).toBe('size >= 1MiB');
  expect(testOf(field('size'), { from: '1MiB', to: '2M' })).toBe('size in 1MiB..2M');
  expect(testOf(field('born'), { to: '20%' })).toBe('born <= 20%');
  expect(testOf(field('leaked'), { isOn: true })).toBe('leaked');
  expect(testOf(field('function ~'), { from: '^std::' })).toBe('function ~ "^std::"');
  expect(testOf(field('alive at'), { from: 'rss-peak' })).toBe('alive at rss-peak');
  expect(testOf(field('size'), {})).toBe('');
});

test('a name as a regular expression matches itself only', () => {
  const name = 'a::operator+(int*) [x]|y';
  expect(new RegExp(`^${escapedRegex(name)}$`).test(name)).toBe(true);
});
