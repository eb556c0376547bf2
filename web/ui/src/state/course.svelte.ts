// What several parts of the page know of the chosen log: its figures, and its course over time.

import type { Summary, Timeline } from '../answers';
import * as api from '../api';
import { Asked } from './asked.svelte';
import { logs } from './logs.svelte';

/** Points of a curve: more than a screen has columns. */
export const POINTS = 4000;
/** Where only a range is shown, so many of the whole run at most. */
const MOST_POINTS = 32_000;

/** As many of the run that the part of it which is shown has POINTS; doubled each time, so that few are asked for. */
export function pointsFor(shownSeconds: number, allSeconds: number): number {
  if (!(shownSeconds > 0) || shownSeconds >= allSeconds) return POINTS;
  return Math.min(MOST_POINTS, POINTS * 2 ** Math.ceil(Math.log2(allSeconds / shownSeconds)));
}

class Course {
  summary = $state.raw<Asked<Summary> | null>(null);
  timeline = $state.raw<Asked<Timeline> | null>(null);

  /** To be called where an effect may be made: once, by the page. */
  start() {
    const ready = () => (logs.current?.state === 'ready' ? logs.current : null);
    this.summary = new Asked(() => ready() && api.summary(ready()!));
    this.timeline = new Asked(() => ready() && api.timeline(ready()!, { points: POINTS }));
  }
}

export const course = new Course();
