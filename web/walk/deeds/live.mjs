// A log that still grows, and a server that ends.

import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { columnOf, numberOf, tableOf } from '../cells.mjs';
import { check } from '../check.mjs';
import { Visit } from '../browser.mjs';

const PATIENCE_MS = 30_000;

async function until(isSo, what) {
  for (const begun = Date.now(); Date.now() - begun < PATIENCE_MS; await wait(100)) if (await isSo()) return;
  check(false, what);
}

export async function growing(browser, memlog, folder) {
  const log = `${folder}/slow.memlog`;
  const program = spawn(memlog.program, ['record', '--force', '-o', log, `${folder}/slow`], { stdio: 'ignore' });
  let server;
  try {
    await until(() => existsSync(log) && statSync(log).size > 0, 'the program makes a log');
    server = await memlog.serve('slow.memlog');
    const visit = await Visit.of(browser, server);
    await visit.open('#/sites?log=1&at=run');
    const blocks = async () => {
      const table = await tableOf(visit.page, 'Blocks ');
      return table ? numberOf(table.totals[columnOf(table, 'Blocks')].text) : NaN;
    };
    await until(async () => (await blocks()) > 0, 'the page shows the log');
    const first = await blocks();
    await until(async () => (await blocks()) > first, `the page shows more than ${first} blocks by itself`);
    check(await visit.page.locator('.tag', { hasText: 'runs still' }).isVisible(), 'it says that the program runs');
    const { logs } = await server.json('logs');
    process.kill(logs[0].pid);
    await until(async () => (await visit.page.locator('.tag', { hasText: 'runs still' }).count()) === 0, 'the end of the program is seen');
    await visit.close();
  } finally {
    program.kill();
    await server?.end();
  }
}

export async function ending(browser, memlog) {
  const server = await memlog.serve('server.memlog');
  const visit = await Visit.of(browser, server);
  await visit.open('#/overview?log=1');
  await visit.pardoning(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/, async () => {
    await server.end();
    await until(() => visit.page.getByText('no connection to the server').isVisible(), 'it says that there is no connection');
    check((await visit.page.locator('.heading dt').count()) > 0, 'what was there still is');
    await visit.page.locator('nav[aria-label=Screens] a', { hasText: 'Threads' }).click();
    await visit.page.locator('[role=alert]').waitFor();
    const said = await visit.text('[role=alert]');
    check(/The server does not answer/.test(said) && /memlog server/.test(said), `what is to be done is said: ${said}`);
  });
  await visit.close();
}
