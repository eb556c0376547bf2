// More logs than one chooses from a list: they are found by words.

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { check, same } from '../check.mjs';
import { Visit } from '../browser.mjs';

const LOGS = 40;

export async function crowd(browser, memlog, folder) {
  mkdirSync(`${folder}/runs`);
  for (let number = 0; number < LOGS; number++) {
    spawnSync(memlog.program, ['record', '-o', `${folder}/runs/run${number}.memlog`, '/bin/echo', `word${number}`], { stdio: 'ignore' });
  }
  const server = await memlog.serve('runs');
  const visit = await Visit.of(browser, server);
  await visit.open('#/runs');
  const rows = async () => {
    await visit.settled();
    return visit.page.locator('main tbody tr').count();
  };
  same(await rows(), LOGS, 'logs in Runs');
  const box = visit.page.locator('main input[type=search]');
  await box.fill('echo WORD7');
  same(await rows(), 1, 'logs that are found by two words');
  await visit.open('#/runs?find=run12.memlog');
  same([await rows(), await box.inputValue()].join(), '1,run12.memlog', 'what was looked for is in the link');
  await visit.page.locator('main tbody a').click();
  await visit.settled();
  check((await visit.page.locator('#log').count()) === 0, 'so many logs are in no list');
  await visit.page.locator('.top-line a', { hasText: `another of ${LOGS}` }).click();
  same(await rows(), LOGS, 'logs in Runs again');
  await visit.close();
  await server.end();
}
