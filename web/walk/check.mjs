// What was found wrong. The walk goes on, so that one run tells all of it.

const wrongs = [];
let checks = 0;

export function fail(what) {
  wrongs.push(what);
  console.log(`WRONG   ${what}`);
}

export function check(isSo, what) {
  checks += 1;
  if (!isSo) fail(what);
}

export function same(have, want, what) {
  check(Object.is(have, want), `${what}: the page has ${JSON.stringify(have)}, and it should be ${JSON.stringify(want)}`);
}

export const counted = () => ({ checks, wrongs: wrongs.length });
