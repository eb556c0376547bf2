// A question that is asked again whenever it, or the log that it is of, changes.

import { untrack } from 'svelte';
import { ask, Problem, type Question } from '../api';
import { choice } from './choice.svelte';
import { logs } from './logs.svelte';
import { refused } from './refused.svelte';

const KEPT_ANSWERS = 60;
const kept = new Map<string, Promise<unknown>>();
const running = new Map<string, Promise<unknown>>();
const OUTDATED = new Error('nobody waits for this answer any more');

export class Asked<T> {
  state = $state<'idle' | 'loading' | 'ready' | 'failed'>('idle');
  /** The last answer; while another one is on its way it is still there. */
  data = $state.raw<T | null>(null);
  problem = $state.raw<Problem | null>(null);
  question = $state.raw<Question<T> | null>(null);
  #again = $state(0);

  constructor(question: () => Question<T> | null) {
    // A text, since each news of the logs makes new questions that are the same.
    const key = $derived(`${question()?.path} ${logs.generation} ${this.#again}`);
    $effect(() => {
      void key;
      const asked = untrack(question);
      this.question = asked;
      if (!asked) {
        this.state = 'idle';
        this.data = null;
        return;
      }
      let isWanted = true;
      this.state = 'loading';
      this.problem = null;
      shared(key, asked, () => isWanted).then(
        (answer) => isWanted && this.#done(answer),
        (error: unknown) => isWanted && (error === OUTDATED ? this.again() : this.#failed(error)),
      );
      return () => (isWanted = false);
    });
  }

  again() {
    this.#again += 1;
  }

  #done(answer: T) {
    this.data = answer;
    this.problem = null;
    this.state = 'ready';
  }

  #failed(error: unknown) {
    this.problem = Problem.of(error);
    this.state = 'failed';
    this.data = null;
    refused.say(choice.where, this.problem);
  }
}

/** Who asks the same while an answer is on its way, or soon after, gets the same answer. */
function shared<T>(key: string, asked: Question<T>, isWanted: () => boolean): Promise<T> {
  const there = kept.get(key);
  if (there) return there as Promise<T>;
  // A log that grows faster than the server answers must not make it answer everything at once.
  const before = running.get(asked.path);
  const next = () => (isWanted() ? ask(asked) : Promise.reject(OUTDATED));
  const answer = before ? before.then(next, next) : ask(asked);
  kept.set(key, answer);
  running.set(asked.path, answer);
  const done = () => running.get(asked.path) === answer && running.delete(asked.path);
  answer.then(done, () => {
    done();
    kept.delete(key);
  });
  const oldest = kept.keys().next().value;
  if (kept.size > KEPT_ANSWERS && oldest !== undefined) kept.delete(oldest);
  return answer;
}
