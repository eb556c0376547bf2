// The address of a state of the page: `#/sites?log=1&at=rss-peak&where=leaked&by=line`.
// Everything that is to be seen is in it, so each state is a link, and the browser's back works.

import type { Range, RangeAs } from '../text/filter';
import { secondsExact } from '../text/units';

export const SCREENS = [
  'runs', 'overview', 'sites', 'flame', 'callers', 'graph', 'site', 'allocations', 'temporary', 'leaks',
  'maps', 'rss', 'threads', 'diff', 'console',
] as const;
export type Screen = (typeof SCREENS)[number];

export interface Route {
  screen: Screen;
  log: number | null;
  /** A moment in the words of `--at`; 'run' is the whole run; null is what the screen begins with. */
  at: string | null;
  where: string;
  range: Range | null;
  /** What only this screen knows: grouping, order, focus. */
  own: Record<string, string>;
}

const SHARED = new Set(['log', 'at', 'where', 'range', 'as']);

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = splitOnce(hash.replace(/^#\/?/, ''), '?');
  const values = new URLSearchParams(query);
  const screen = (SCREENS as readonly string[]).includes(path) ? (path as Screen) : 'runs';
  const own: Record<string, string> = {};
  for (const [name, value] of values) if (!SHARED.has(name)) own[name] = value;
  const log = Number(values.get('log') ?? NaN);
  return {
    screen,
    log: Number.isInteger(log) ? log : null,
    at: values.get('at'),
    where: values.get('where') ?? '',
    range: parseRange(values.get('range'), values.get('as')),
    own,
  };
}

export function formatRoute(route: Route): string {
  const values = new URLSearchParams();
  if (route.log !== null) values.set('log', String(route.log));
  if (route.at) values.set('at', route.at);
  if (route.where) values.set('where', route.where);
  if (route.range) {
    values.set('range', `${secondsExact(route.range.fromSeconds)}..${secondsExact(route.range.toSeconds)}`);
    if (route.range.as !== 'born') values.set('as', route.range.as);
  }
  for (const [name, value] of Object.entries(route.own)) if (value !== '') values.set(name, value);
  const query = values.toString();
  return `#/${route.screen}${query ? `?${query}` : ''}`;
}

function parseRange(text: string | null, as: string | null): Range | null {
  const ends = /^([\d.]+)\.\.([\d.]+)$/.exec(text ?? '');
  if (!ends) return null;
  const [fromSeconds, toSeconds] = [Number(ends[1]), Number(ends[2])];
  if (!(fromSeconds <= toSeconds)) return null;
  return { fromSeconds, toSeconds, as: as === 'alive' || as === 'died' ? (as as RangeAs) : 'born' };
}

function splitOnce(text: string, mark: string): [string, string] {
  const place = text.indexOf(mark);
  return place < 0 ? [text, ''] : [text.slice(0, place), text.slice(place + 1)];
}
