// A table of groups with what each held over the run. Some logs that other tools made do not know that, and a report
// has it of some tables only: those are asked for without.

import type { Question } from '../api';
import type { Table } from '../answers';
import { canAsk } from '../static';
import { Asked } from './asked.svelte';

const CANNOT_TELL = 422;

export class Drawn {
  #curves: Asked<Table>;
  #plain: Asked<Table>;

  constructor(question: (curve: boolean) => Question<Table>) {
    this.#curves = new Asked(() => (canAsk(question(true).path) ? question(true) : null));
    this.#plain = new Asked(() => (this.#hasNone() ? question(false) : null));
  }

  #hasNone() {
    return this.#curves.question === null || this.#curves.problem?.status === CANNOT_TELL;
  }

  get asked(): Asked<Table> {
    return this.#hasNone() ? this.#plain : this.#curves;
  }
}

/** Whether there is an answer at all. */
export const hasAnswer = (question: (curve: boolean) => Question<Table>) => [true, false].some((curve) => canAsk(question(curve).path));
