import { expect, test } from 'vitest';
import { shortName, wholeName } from '../src/text/names';

test('a long name keeps both of its ends', () => {
  const long = `Index<${'std::string, '.repeat(40)}>::add(int const&)`;
  const short = shortName(long);
  expect(short.length).toBe(110);
  expect(short.startsWith('Index<std::string')).toBe(true);
  expect(short.endsWith('>::add(int const&)')).toBe(true);
  expect(wholeName(long)).toBe(long);
});

test('a short one stays', () => {
  expect(shortName('main')).toBe('main');
  expect(wholeName('main')).toBeUndefined();
});

test('no letter is cut in two', () => {
  expect(shortName('𝒇'.repeat(200), 9)).toBe(`${'𝒇'.repeat(4)}…${'𝒇'.repeat(4)}`);
});
