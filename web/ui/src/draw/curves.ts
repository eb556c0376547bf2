// The curves of a timeline, as uPlot takes them.

import type { Timeline } from '../answers';
import { bytesText, countText } from '../text/units';

export interface Curve {
  label: string;
  colour: string;
  isDashed?: boolean;
  isFilled?: boolean;
  values: (number | null)[];
}

export interface ChartData {
  title: string;
  unit: 'bytes' | 'count' | 'rate';
  curves: Curve[];
}

export function secondsOf(timeline: Timeline): number[] {
  return timeline.points.map((point) => point.seconds);
}

export function chartsOf(timeline: Timeline, hasRss: boolean): ChartData[] {
  const { points } = timeline;
  const memory: Curve[] = [{ label: 'Heap', colour: 'curve-1', isFilled: true, values: points.map((point) => point.heap_bytes) }];
  if (hasRss) memory.push({ label: 'RSS, highest so far', colour: 'curve-2', isDashed: true, values: points.map((point) => point.rss_bytes) });
  if (hasRss && points.some((point) => point.mapped_bytes > 0)) {
    memory.push({ label: 'Mapped', colour: 'curve-3', isDashed: true, values: points.map((point) => point.mapped_bytes) });
  }
  return [
    { title: hasRss ? 'Memory' : 'Heap', unit: 'bytes', curves: memory },
    {
      title: 'Live blocks',
      unit: 'count',
      curves: [{ label: 'Live blocks', colour: 'curve-1', values: points.map((point) => point.heap_blocks) }],
    },
    {
      title: 'Events a second',
      unit: 'rate',
      curves: [
        { label: 'Allocations', colour: 'curve-1', values: rates(timeline, (point) => point.allocations) },
        { label: 'Releases', colour: 'curve-2', isDashed: true, values: rates(timeline, (point) => point.releases) },
      ],
    },
  ];
}

/** A point has what came since the one before; of the first nobody knows since when. */
export function rates(timeline: Timeline, count: (point: Timeline['points'][number]) => number): (number | null)[] {
  const { points } = timeline;
  return points.map((point, i) => {
    const seconds = i === 0 ? 0 : point.seconds - points[i - 1]!.seconds;
    return seconds > 0 ? count(point) / seconds : null;
  });
}

export function figure(unit: ChartData['unit'], value: number): string {
  if (unit === 'bytes') return bytesText(value);
  if (unit === 'count' || value < 10_000) return countText(value);
  return value < 1e6 ? `${(value / 1e3).toFixed(0)}k` : `${(value / 1e6).toFixed(1)}M`;
}

/** Steps of an axis of bytes: powers of two, so that ticks are round in KiB and MiB. */
export const BYTE_STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power);
