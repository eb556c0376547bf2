// The tabs of the page, in their order.

import type { Screen } from '../state/route';

export interface Entry {
  name: string;
  screens: Screen[];
  /** What a static report must have for this screen; without it, the screen needs a server. */
  needs?: string;
}

export const NAV: Entry[] = [
  { name: 'Runs', screens: ['runs'], needs: '' },
  { name: 'Overview', screens: ['overview'], needs: 'timeline?points=4000' },
  { name: 'Who', screens: ['sites', 'flame', 'callers', 'graph', 'site'], needs: 'table?by=function&at=rss-peak&top=1000' },
  { name: 'Allocations', screens: ['allocations'] },
  { name: 'Temporary', screens: ['temporary'] },
  { name: 'Leaks', screens: ['leaks'], needs: 'leaks?by=function&top=1000' },
  { name: 'Maps', screens: ['maps'] },
  { name: 'RSS', screens: ['rss'] },
  { name: 'Threads', screens: ['threads'] },
  { name: 'Diff', screens: ['diff'] },
  { name: 'Console', screens: ['console'] },
];

export const WHO: Entry[] = [
  { name: 'Sites', screens: ['sites'], needs: 'table?by=function&at=rss-peak&top=1000' },
  { name: 'Flame graph', screens: ['flame'], needs: 'flame?by=live&at=rss-peak&nodes=20000' },
  { name: 'Callers', screens: ['callers'] },
  { name: 'Graph', screens: ['graph'] },
];
