// Every call of the server, in one place. A question knows its address and the command line that asks the same.

import type * as A from './answers';
import { staticData } from './static';
import { commandLine, type Line, type OptionValue } from './text/command';

export interface Question<T> {
  path: string;
  command: string;
  /** Never there; it only carries the type of the answer. */
  answer?: T;
}

export class Problem extends Error {
  constructor(message: string, readonly hint: string | null, readonly status: number) {
    super(message);
  }

  /** Of what was thrown, whatever it is. */
  static of(error: unknown): Problem {
    return error instanceof Problem ? error : new Problem(String(error), null, 0);
  }
}

type Options = Record<string, OptionValue>;

// One order, so that a static report can be made with the same addresses.
const ORDER = [
  'of', 'name', 'source', 'address', 'by', 'list', 'growing', 'curve', 'at', 'between', 'before', 'after', 'other', 'where',
  'reverse', 'sort', 'points', 'nodes', 'top',
];

export function queryOf(options: Options): string {
  const parts: string[] = [];
  for (const name of ORDER) {
    const value = options[name];
    if (value === null || value === undefined || value === '' || value === false) continue;
    const values = value === true ? ['1'] : [value].flat();
    for (const one of values) parts.push(`${name}=${encodeURIComponent(String(one))}`);
  }
  return parts.length ? `?${parts.join('&')}` : '';
}

function question<T>(log: A.Log, name: string, options: Options, line?: Partial<Line>): Question<T> {
  return {
    path: `logs/${log.id}/${name}${queryOf(options)}`,
    command: commandLine({ command: name, options, files: [log.file], ...line }),
  };
}

export const logs: Question<{ logs: A.Log[] }> = { path: 'logs', command: 'memlog info --list' };

export function summary(log: A.Log): Question<A.Summary> {
  return { path: `logs/${log.id}`, command: commandLine({ command: 'summary', files: [log.file] }) };
}

export interface Choice {
  at?: string | null;
  where?: string;
}

export interface Grouping extends Choice {
  by: string;
  /** What each group held over the run. */
  curve?: boolean;
  sort?: string;
  top?: number;
}

export const table = (log: A.Log, options: Grouping) => question<A.Table>(log, 'table', { ...options });
export const temporary = (log: A.Log, options: Grouping) => question<A.Table>(log, 'temporary', { ...options });
export const leaks = (log: A.Log, options: Grouping & { growing?: boolean; between?: string[] }) =>
  question<A.Table>(log, 'leaks', { ...options });

export const blocks = (log: A.Log, options: Choice & { sort: string; top: number }) =>
  question<A.BlockList>(log, 'table', { list: true, ...options });

export function histogram(log: A.Log, of: string, choice: Choice): Question<A.Histogram> {
  return question(log, 'histogram', { of, ...choice }, { words: [of], options: { ...choice } });
}

export const timeline = (log: A.Log, options: Choice & { points: number }) =>
  question<A.Timeline>(log, 'timeline', { ...options });

export const chains = (log: A.Log, options: Choice & { by: string }) => question<A.Chains>(log, 'chains', { ...options });
export const threads = (log: A.Log, choice: Choice) => question<A.Threads>(log, 'threads', { ...choice });

export function callers(log: A.Log, name: string, choice: Choice): Question<A.Callers> {
  return question(log, 'function', { name, ...choice }, { words: [name], options: { ...choice } });
}

export function annotate(log: A.Log, source: string, choice: Choice): Question<A.Annotated> {
  return question(log, 'annotate', { source, ...choice }, { options: { ...choice }, behind: [source] });
}

export const fragmentation = (log: A.Log, options: Choice & { by: string }) =>
  question<A.Fragmentation>(log, 'fragmentation', { ...options });
export const maps = (log: A.Log, options: Choice & { by: string }) => question<A.Maps>(log, 'maps', { ...options });
export const rss = (log: A.Log, options: Choice & { by: string }) => question<A.Rss>(log, 'rss', { ...options });

export function address(log: A.Log, asked: string, choice: Choice): Question<A.AddressAnswer> {
  return question(log, 'where', { address: asked, ...choice }, { options: { ...choice }, behind: [asked] });
}

export interface DiffOptions {
  by: string;
  before: string;
  after: string;
  where?: string;
  sort?: string;
  top?: number;
}

/** Two moments of one log, or the same moment of another log (before) and this one (after). */
export function diff(log: A.Log, other: A.Log | null, options: DiffOptions): Question<A.Diff> {
  const { before, after, ...rest } = options;
  const line = { at: [before, after], ...rest };
  return {
    path: `logs/${log.id}/diff${queryOf({ ...options, other: other?.id })}`,
    command: commandLine({ command: 'diff', options: line, files: other ? [other.file, log.file] : [log.file] }),
  };
}

export interface FlameOptions extends Choice {
  by: string;
  before?: string | null;
  reverse?: boolean;
  nodes: number;
}

export function flame(log: A.Log, options: FlameOptions): Question<A.FlameAnswer> {
  const { by, at, where, before, reverse } = options;
  const path = `logs/${log.id}/flame${queryOf({ ...options })}`;
  if (before) {
    return { path, command: commandLine({ command: 'diff', options: { at: [before, at ?? 'end'], where, output: 'flame.html' }, files: [log.file] }) };
  }
  const line = { 'top-down': !reverse, by: by === 'live' ? null : by, at, where };
  return { path, command: commandLine({ command: 'tree', options: line, files: [log.file] }) };
}

export function graph(log: A.Log, options: Choice & { by: string }): Question<never> {
  const by = options.by === 'live' ? null : options.by;
  return {
    path: `logs/${log.id}/graph.svg${queryOf({ ...options })}`,
    // The picture is of blocks; the command's has what the program mapped besides.
    command: commandLine({
      command: 'dot',
      options: { by, at: options.at, where: options.where, 'no-mapped': by === null && !options.where },
      files: [log.file],
    }),
  };
}

export function regions(log: A.Log, choice: Choice): Question<A.Regions> {
  return question(log, 'regions', { ...choice }, { command: 'fragmentation' });
}

export function filterAsScript(log: A.Log, where: string): Question<{ code: string }> {
  return question(log, 'filter-as-script', { where });
}

/** Where a picture of the server stands. */
export const urlOf = (path: string) => `api/1/${path}`;

export async function ask<T>(asked: Question<T>, signal?: AbortSignal): Promise<T> {
  const inlined = staticData();
  if (inlined) {
    if (asked.path in inlined) return inlined[asked.path] as T;
    throw new Problem('This report does not have the answer.', `Ask it of the log: ${asked.command}`, 404);
  }
  return answerOf<T>(await reached(fetch(urlOf(asked.path), { signal, headers: { accept: 'application/json' } })));
}

export async function runScript(log: A.Log, text: string, signal?: AbortSignal): Promise<A.ScriptAnswer> {
  const body = { method: 'POST', body: text, signal, headers: { 'content-type': 'text/plain' } };
  return answerOf(await reached(fetch(urlOf(`logs/${log.id}/script`), body)));
}

async function reached(response: Promise<Response>): Promise<Response> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Problem('The server does not answer.', 'See whether `memlog server` still runs; then ask again.', 0);
  }
}

async function answerOf<T>(response: Response): Promise<T> {
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Problem(`The server answered with ${response.status} and no JSON.`, null, response.status);
  }
  if (response.ok) return json as T;
  const { error, hint } = json as { error?: string; hint?: string };
  throw new Problem(error ?? `The server answered with ${response.status}.`, hint ?? null, response.status);
}

/** Calls back with the logs whenever one of them changes. Does nothing in a static report. */
export function watchLogs(changed: (logs: A.Log[], count: number) => void, connected: (is: boolean) => void): () => void {
  if (staticData()) return () => {};
  const source = new EventSource(urlOf('events'));
  source.addEventListener('logs', (event) => {
    connected(true);
    const news = JSON.parse((event as MessageEvent<string>).data) as A.LogList;
    changed(news.logs, news.count);
  });
  source.onopen = () => connected(true);
  source.onerror = () => connected(false);
  return () => source.close();
}
