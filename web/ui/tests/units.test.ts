import { expect, test } from 'vitest';
import { bytesChange, bytesExact, bytesText, countText, percentText, secondsExact, secondsText } from '../src/text/units';

test('sizes are as memlog prints them', () => {
  expect(bytesText(0)).toBe('0 bytes');
  expect(bytesText(1)).toBe('1 byte');
  expect(bytesText(1023)).toBe('1023 bytes');
  expect(bytesText(1024)).toBe('1.0 KiB');
  expect(bytesText(28_940_697)).toBe('27.6 MiB');
  expect(bytesText(1024 * 1024 - 1)).toBe('1.0 MiB');
  expect(bytesText(-2048)).toBe('−2.0 KiB');
});

test('a difference has its sign', () => {
  expect(bytesChange(2048)).toBe('+2.0 KiB');
  expect(bytesChange(-2048)).toBe('−2.0 KiB');
  expect(bytesChange(0)).toBe('±0 bytes');
});

test('counts have commas', () => {
  expect(countText(990002)).toBe('990,002');
  expect(countText(12)).toBe('12');
  expect(countText(-1234)).toBe('−1,234');
  expect(bytesExact(1234567)).toBe('1,234,567 bytes');
});

test('shares', () => {
  expect(percentText(1, 3)).toBe('33.3 %');
  expect(percentText(1, 1e9)).toBe('<0.1 %');
  expect(percentText(1, 0)).toBe('–');
});

test('times', () => {
  expect(secondsText(0.072)).toBe('72 ms');
  expect(secondsText(12.5)).toBe('12.5 s');
  expect(secondsText(0.00000042)).toBe('0.4 µs');
  expect(secondsText(90)).toBe('1 min 30 s');
  expect(secondsText(7260)).toBe('2 h 1 min');
  expect(secondsText(null)).toBe('–');
  expect(secondsExact(0.1 + 0.2)).toBe('0.3');
});
