// Walks the page of `memlog server` in a browser, and the file of `memlog html`: see README.md and ci/page, which
// records the logs.
//
//     node walk.mjs --memlog PROGRAM --logs FOLDER --chromium PROGRAM [--keep FOLDER] [PART...]

import { parseArgs } from 'node:util';
import { mkdirSync } from 'node:fs';
import { launch, Visit } from './browser.mjs';
import { counted, fail } from './check.mjs';
import { Memlog } from './memlog.mjs';
import { look } from './look.mjs';
import { commands, numbers } from './numbers/index.mjs';
import { screensOf } from './screens.mjs';
import { deeds } from './deeds/index.mjs';
import { crowd } from './deeds/crowd.mjs';
import { imported } from './deeds/imported.mjs';
import { growing, ending } from './deeds/live.mjs';
import { hostile } from './deeds/hostile.mjs';
import { report } from './report.mjs';
import { speed } from './speed.mjs';

const { values: given, positionals: parts } = parseArgs({
  allowPositionals: true,
  options: { memlog: { type: 'string' }, logs: { type: 'string' }, chromium: { type: 'string' }, keep: { type: 'string' } },
});
if (given.keep) mkdirSync(given.keep, { recursive: true });

const memlog = new Memlog(given.memlog, given.logs);
const browser = await launch(given.chromium);
const server = await memlog.serve('server.memlog', 'threads8.memlog', 'kinds.memlog', 'gcc', 'hostile.memlog', 'many.memlog', 'phases.memlog');
const seen = new Set();

/** By the name of the program. Most is known of a log when it is open. */
async function logsOf() {
  const { count } = await server.json('logs');
  for (let id = 1; id <= count; id++) await server.json(`logs/${id}`);
  const { logs } = await server.json('logs');
  return Object.fromEntries(logs.map((log) => [log.name, log]));
}

async function visited(act) {
  const visit = await Visit.of(browser, server);
  await act(visit);
  await visit.close();
}

const logs = await logsOf();
const ALL = {
  screens: () => look(browser, server, screensOf(logs), given.keep, seen),
  commands: () => commands(memlog, seen),
  numbers: () => visited((visit) => numbers(visit, memlog, logs)),
  deeds: () => deeds(browser, server, memlog, logs),
  hostile: () => visited((visit) => hostile(visit, logs.hostile)),
  report: () => report(browser, memlog, given.logs, given.keep),
  crowd: () => crowd(browser, memlog, given.logs),
  imported: () => imported(browser, memlog),
  growing: () => growing(browser, memlog, given.logs),
  ending: () => ending(browser, memlog),
  speed: () => visited((visit) => speed(visit, logs.many, given.keep)),
};

async function walked(...names) {
  for (const name of names) {
    if (parts.length && !parts.includes(name)) continue;
    const begun = performance.now();
    await ALL[name]().catch((error) => fail(`${name}: ${error.stack}`));
    console.log(`walked  ${name} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
  }
}

// Two at a time; frames are timed when nothing else is done.
await Promise.all([walked('screens', 'commands'), walked('numbers', 'deeds', 'hostile', 'report', 'crowd', 'imported', 'growing', 'ending')]);
await walked('speed');

await browser.close();
await server.end();
const { checks, wrongs } = counted();
console.log(`${checks} checks, ${wrongs} wrong`);
process.exit(wrongs ? 1 : 0);
