// Where the page is: the fragment of its address, as a value that components follow.

import { formatRoute, parseRoute, type Route, type Screen } from './route';

class Current {
  now = $state.raw<Route>(parseRoute(location.hash));

  constructor() {
    addEventListener('hashchange', () => (this.now = parseRoute(location.hash)));
  }

  /** The address of the state with these changes. Another screen begins with its own settings. */
  link(changes: Partial<Route>): string {
    const own = changes.own ?? (changes.screen && changes.screen !== this.now.screen ? {} : this.now.own);
    return formatRoute({ ...this.now, ...changes, own });
  }

  go(changes: Partial<Route>, { replace = false } = {}) {
    const hash = this.link(changes);
    if (hash === location.hash) return;
    if (replace) history.replaceState(null, '', hash);
    else history.pushState(null, '', hash);
    this.now = parseRoute(hash);
  }

  screen(screen: Screen, own: Record<string, string> = {}) {
    this.go({ screen, own });
  }

  /** Changes what only this screen knows; an empty text is the screen's default. */
  set(own: Record<string, string>, options = {}) {
    this.go({ own: { ...this.now.own, ...own } }, options);
  }
}

export const route = new Current();
