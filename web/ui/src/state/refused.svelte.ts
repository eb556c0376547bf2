// Filters that the server did not take, so that the filter box can say why.

import type { Problem } from '../api';

class Refused {
  #where = $state('');
  #problem = $state.raw<Problem | null>(null);

  say(where: string, problem: Problem) {
    if (problem.status >= 400 && problem.status < 500 && /column \d+/.test(problem.message)) {
      this.#where = where;
      this.#problem = problem;
    }
  }

  of(where: string): Problem | null {
    return where === this.#where ? this.#problem : null;
  }
}

export const refused = new Refused();
