// Writes tests of memlog's filter language (doc/FILTERS.md). It never reads the language: the server does.

import { secondsExact } from './units';

/** A text as a value: in quotes, with a backslash before a quote or another backslash. */
export function quoted(text: string): string {
  // Inside quotes a backslash stands for itself, unless a quote or another backslash follows it.
  return `"${text.replace(/\\(?=["\\]|$)/g, '\\\\').replace(/"/g, '\\"')}"`;
}

/** `text` so that a regular expression matches it and nothing else. */
export function escapedRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** All of them must hold. A part with `or` gets parentheses, since `and` binds first. */
export function allOf(parts: (string | null | undefined)[]): string {
  const there = parts.map((part) => part?.trim() ?? '').filter((part) => part !== '');
  if (there.length < 2) return there[0] ?? '';
  return there.map((part) => (hasOr(part) ? `(${part})` : part)).join(' and ');
}

function hasOr(part: string): boolean {
  const withoutTexts = part.replace(/"(\\.|[^"\\])*"|'(\\.|[^'\\])*'/g, '""');
  return /\bor\b|\|\|/i.test(withoutTexts);
}

export type RangeAs = 'born' | 'alive' | 'died';

export interface Range {
  fromSeconds: number;
  toSeconds: number;
  as: RangeAs;
}

export function rangeFilter(range: Range | null): string {
  if (!range) return '';
  return `${range.as} in ${secondsExact(range.fromSeconds)}s..${secondsExact(range.toSeconds)}s`;
}

export const RANGE_WORDS: Record<RangeAs, string> = {
  born: 'allocated in',
  alive: 'alive throughout',
  died: 'freed in',
};

/** What a row of a table stands for, as a filter; null where the language has no word for it. */
export function rowFilter(by: string, name: string, stackNumbers: number[] | null): string | null {
  if (by === 'scope') return scopeFilter(name);
  if (name.startsWith('(') && name.endsWith(')')) return null;
  switch (by) {
    case 'stack':
    case 'freed-stack':
      return stackNumbers?.length ? stackNumbers.map((number) => `${by} = ${number}`).join(' or ') : null;
    case 'function':
    case 'file':
    case 'module':
    case 'kind':
    case 'freed-function':
    case 'freed-file':
    case 'freed-module':
      return `${by} = ${quoted(name)}`;
    case 'size':
    case 'alignment':
      return `${by} = ${name.replace(/,/g, '')}`;
    case 'thread':
      return threadFilter('tid', name);
    case 'freed-by':
      return threadFilter('freed-by-tid', name);
    case 'line':
      return lineFilter(name);
    default:
      return null;
  }
}

/** The scope itself, without those within it. What stands for none is in brackets, and has a name like any other. */
function scopeFilter(name: string): string {
  return name.startsWith('(') ? `scope = ${quoted(name)}` : `scope ~ ${quoted(`^${escapedRegex(name)}$`)}`;
}

function threadFilter(field: string, name: string): string | null {
  const tid = /\((\d+)\)$/.exec(name)?.[1] ?? /^\d+$/.exec(name)?.[0];
  return tid ? `${field} = ${tid}` : null;
}

function lineFilter(name: string): string {
  const place = /(?:^|[\s[])([^\s[\]]+):(\d+)\]?$/.exec(name);
  // A function without a line stands by its name.
  if (!place) return `function = ${quoted(name)}`;
  return `file = ${quoted(place[1] ?? '')} and line = ${place[2]}`;
}
