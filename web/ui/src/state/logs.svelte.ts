// The logs that the server has, and the one that is looked at.

import { untrack } from 'svelte';
import type { Log } from '../answers';
import { ask, logs as question, Problem, watchLogs } from '../api';
import { route } from './route.svelte';

class Logs {
  all = $state.raw<Log[]>([]);
  state = $state<'loading' | 'ready' | 'failed'>('loading');
  problem = $state.raw<Problem | null>(null);
  isConnected = $state(true);

  /** The chosen one; of a single log nobody need choose. */
  current = $derived.by(() => {
    const chosen = this.all.find((log) => log.id === route.now.log);
    return chosen ?? (this.all.length === 1 ? (this.all[0] ?? null) : null);
  });

  generation = $derived(this.current?.generation ?? 0);

  /** Whoever starts it must not begin anew when the logs change. */
  start() {
    untrack(() => this.load());
    return watchLogs(
      (some, count) => this.#hear(some, count),
      (is) => (this.isConnected = is),
    );
  }

  load() {
    if (this.all.length === 0) this.state = 'loading';
    ask(question).then(
      (answer) => this.#have(answer.logs),
      (error: unknown) => {
        this.problem = Problem.of(error);
        this.state = 'failed';
      },
    );
  }

  /** Of many logs the server tells those only that are open. */
  #hear(some: Log[], count: number) {
    if (some.length === count) return this.#have(some);
    const news = new Map(some.map((log) => [log.id, log]));
    if (count !== this.all.length) this.load();
    this.all = this.all.map((log) => news.get(log.id) ?? log);
  }

  #have(all: Log[]) {
    this.all = all;
    this.problem = null;
    this.state = 'ready';
  }
}

export const logs = new Logs();
