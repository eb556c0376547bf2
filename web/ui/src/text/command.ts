// The command line that answers the same question, for people to learn it from.

import { quoted } from './filter';

/** A word as a POSIX shell takes it. */
export function shellWord(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replace(/'/g, `'\\''`)}'`;
}

export type OptionValue = string | number | boolean | null | undefined | string[];

export interface Line {
  command: string;
  /** Words without an option's name, before the file: `size` of a histogram. */
  words?: string[];
  options?: Record<string, OptionValue>;
  files: string[];
  /** Words behind the file: the source of annotate, an address. */
  behind?: string[];
}

export function commandLine(line: Line): string {
  const words = ['memlog', line.command, ...(line.words ?? []).map(shellWord)];
  for (const [name, value] of Object.entries(line.options ?? {})) {
    if (value === null || value === undefined || value === '' || value === false) continue;
    if (value === true) words.push(`--${name}`);
    else if (name === 'between') words.push('--between', ...[value].flat().map((part) => shellWord(String(part))));
    else for (const one of [value].flat()) words.push(`--${name}`, shellWord(String(one)));
  }
  words.push(...line.files.map(shellWord), ...(line.behind ?? []).map(shellWord));
  return words.join(' ');
}

/** A mark of the program as a moment. */
export function markMoment(name: string): string {
  return `mark ${quoted(name)}`;
}
