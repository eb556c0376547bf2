// Names of functions, which in C++ may be longer than a page.

const MOST = 110;
const TAIL = 45;

/** Cut in the middle, where it is too long: what a name is of stands at its beginning, what it does at its end. */
export function shortName(name: string, most = MOST): string {
  const letters = [...name];
  if (letters.length <= most) return name;
  const tail = Math.min(TAIL, most >> 1);
  return `${letters.slice(0, most - tail - 1).join('')}…${letters.slice(-tail).join('')}`;
}

/** The whole, for a title; nothing where all of it is to be seen anyway. */
export function wholeName(name: string, most = MOST): string | undefined {
  return shortName(name, most) === name ? undefined : name;
}
