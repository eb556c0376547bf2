// Figures on the page are those of the command line.

import { check, fail } from '../check.mjs';
import { names } from './names.mjs';
import * as rest from './rest.mjs';
import * as sites from './sites.mjs';

const BY_SCOPE = [['scope', 'rss-peak', ''], ['scope', null, 'scope = "load"'], ['kind', 'end', '']];

export async function numbers(visit, memlog, logs) {
  const { server, threads8, kinds, cc1, phases } = logs;
  for (const log of [server, cc1]) await sites.sites(visit, memlog, log);
  await sites.sites(visit, memlog, phases, BY_SCOPE);
  for (const log of [kinds, cc1]) await sites.temporary(visit, memlog, log);
  await sites.leaks(visit, memlog, server);
  await sites.leaks(visit, memlog, kinds, 'size >= 50');
  for (const log of [server, threads8, cc1]) await rest.overview(visit, memlog, log);
  await rest.allocations(visit, memlog, kinds, 'function ~ "keep_two_thousand|grow_text"');
  await rest.threads(visit, memlog, threads8);
  await rest.diff(visit, memlog, server, ['25%', 'end']);
  await rest.diff(visit, memlog, kinds, ['rss-peak', 'rss-peak'], server);
  for (const log of [server, cc1]) await rest.rss(visit, memlog, log);
  for (const log of [kinds, cc1]) await rest.maps(visit, memlog, log);
  await names(visit, kinds, cc1);
  await rest.callers(visit, memlog, server, 'copy_of');
  await rest.site(visit, memlog, server, 'copy_of');
}

/** Each command line that was seen on the page is one. */
export async function commands(memlog, seen) {
  check(seen.size > 20, `${seen.size} command lines were seen`);
  for (const line of seen) {
    await memlog.typed(line).catch((error) => fail(`the page shows a command that fails: ${line}\n${error.stderr}`));
  }
}
