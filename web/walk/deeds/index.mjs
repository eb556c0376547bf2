// What one does with the page, and what must come of it.

import { Visit } from '../browser.mjs';
import { filters, moments } from './filter.mjs';
import { flame, flameCompared, NOTE_TEXTS } from './flame.mjs';
import { keyboardOnly } from './keys.mjs';
import { scopes } from './scopes.mjs';
import { console_, list, looks, sorting } from './tables.mjs';
import { history, links, menus, ranges } from './time.mjs';

export async function deeds(browser, server, memlog, { server: log, kinds, cc1, phases }) {
  const visit = await Visit.of(browser, server, { script: NOTE_TEXTS });
  await ranges(visit, memlog, log);
  await menus(visit, log);
  await history(visit, log);
  await links(visit, log);
  await filters(visit, memlog, log);
  await moments(visit, memlog, log);
  await scopes(visit, memlog, phases);
  await flame(visit, cc1);
  await flameCompared(visit, log);
  await sorting(visit, cc1);
  await list(visit, kinds);
  await looks(visit, log);
  await console_(visit, log);
  await keyboardOnly(visit, log);
  await visit.close();
}
