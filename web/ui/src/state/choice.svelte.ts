// What a screen asks about: the moment, and the filter with the time range in it.

import { allOf, RANGE_WORDS, rangeFilter } from '../text/filter';
import { secondsText } from '../text/units';
import { route } from './route.svelte';
import type { Screen } from './route';

/** How a screen takes the moment. */
const MOMENTS: Record<Screen, 'peak' | 'run' | 'none'> = {
  runs: 'none', overview: 'peak', sites: 'peak', flame: 'peak', callers: 'peak', graph: 'peak', site: 'run',
  allocations: 'run', temporary: 'none', leaks: 'none', maps: 'peak', rss: 'peak', threads: 'run', diff: 'none',
  console: 'none',
};

class Choice {
  takesMoment = $derived(MOMENTS[route.now.screen] !== 'none');

  /** As it stands in the selector: a moment, or `run`. */
  moment = $derived.by(() => {
    const kind = MOMENTS[route.now.screen];
    if (kind === 'none') return 'run';
    if (route.now.at) return route.now.at;
    return kind === 'peak' && !route.now.range ? 'rss-peak' : 'run';
  });

  /** For `--at`; null is the whole run. */
  at = $derived(this.moment === 'run' ? null : this.moment);

  where = $derived(allOf([route.now.where, rangeFilter(route.now.range)]));

  /** The moment of screens that need one. */
  atOrPeak = $derived(this.at ?? 'rss-peak');

  and(filter: string): string {
    return allOf([this.where, filter]);
  }
}

export const choice = new Choice();

export const MOMENT_WORDS: Record<string, string> = {
  'rss-peak': 'RSS peak',
  'heap-peak': 'heap peak',
  start: 'start',
  end: 'end',
  run: 'whole run',
};

export function momentText(moment: string): string {
  const words = MOMENT_WORDS[moment];
  if (words) return words;
  const seconds = /^([\d.]+)s$/.exec(moment)?.[1];
  return seconds ? secondsText(Number(seconds)) : moment;
}

/** What the chosen blocks are, as the end of a sentence. */
export function chosenText(moment: string): string {
  const range = route.now.range;
  if (range && moment === 'run') return `${RANGE_WORDS[range.as]} the range`;
  return moment === 'run' ? 'of the whole run' : `live at ${momentText(moment)}`;
}

/** A filter that is asked for from a click: joined to the one that is there. */
export function addFilter(filter: string) {
  route.go({ where: allOf([route.now.where, filter]) });
}

