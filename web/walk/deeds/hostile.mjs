// Names that are markup stand as text on every screen, and nothing of them runs.

import { check, same } from '../check.mjs';

const NAME = '<script>alert(1)</script>';

export async function hostile(visit, log) {
  const filter = encodeURIComponent('function ~ "alert"');
  const states = [
    ['runs', ''], ['overview', ''], ['sites', ''], ['sites', '&by=stack'], ['sites', '&by=thread'], ['flame', ''], ['graph', ''],
    ['callers', `&name=${encodeURIComponent('.*alert.*')}`], ['site', `&of=function&name=${encodeURIComponent(NAME)}&site=${filter}`],
    ['allocations', ''], ['leaks', ''], ['maps', ''], ['rss', ''], ['threads', ''], ['diff', ''], ['temporary', ''], ['console', ''],
  ];
  const SHOW_IT = ['overview', 'sites', 'callers', 'site', 'allocations', 'leaks', 'maps', 'diff'];
  for (const [screen, own] of states) {
    await visit.open(`#/${screen}?log=${log.id}${own}`);
    const made = await visit.page.locator('main script, main img[src="x"], main b').count();
    same(made, 0, `${visit.where}: elements made of a name`);
    const text = await visit.page.locator('main').innerText();
    if (SHOW_IT.includes(screen) && own !== '&by=thread') check(text.includes(NAME), `${visit.where}: the name stands there as text`);
    if (screen === 'threads' || own === '&by=thread') check(text.includes('<b>\'"&'), `${visit.where}: the thread's name stands there as text`);
  }
  // A row of it leads to its site, by a filter with quotes in it.
  await visit.open(`#/sites?log=${log.id}`);
  await visit.page.locator('tr.leads a', { hasText: 'alert(1)' }).first().click();
  await visit.settled();
  check((await visit.text('h1')).includes(NAME), 'the site of a name that is markup');
  check((await visit.page.locator('.stack li').count()) > 0, 'and it has stacks');
  await visit.open(`#/flame?log=${log.id}&find=alert`);
  check(parseFloat(await visit.text('.tools [role=status]')) > 50, 'the flame graph finds it');
}

export async function hostileInReport(visit, memlog, folder) {
  await memlog.says('html', '-o', 'hostile.html', 'hostile.memlog');
  for (const state of ['', '#/sites', '#/leaks', '#/flame']) {
    visit.where = `hostile.html${state}`;
    await visit.page.goto('about:blank');
    await visit.page.goto(`file://${folder}/hostile.html${state}`);
    await visit.settled();
    if (state !== '#/flame') check((await visit.text('main')).includes(NAME), `${visit.where}: the name stands there as text`);
    same(await visit.page.locator('main script, main img[src="x"]').count(), 0, `${visit.where}: elements made of a name`);
  }
}
