// The flame graph: click, keys, search, and two moments compared.

import { bytesIn } from '../cells.mjs';
import { check, same } from '../check.mjs';

/** Notes the texts that are drawn since a canvas was cleared last. */
export const NOTE_TEXTS = `{
  const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
  window.drawnTexts = [];
  CanvasRenderingContext2D.prototype.clearRect = function (...box) { window.drawnTexts = []; return clearRect.apply(this, box); };
  CanvasRenderingContext2D.prototype.fillText = function (...text) { window.drawnTexts.push(text[0]); return fillText.apply(this, text); };
}`;

const frames = (page) => page.evaluate(() => new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(told))));
const texts = (page) => page.evaluate(() => window.drawnTexts);
const isFocused = (visit) => visit.page.locator('.crumbs button').count().then((count) => count > 1);

async function press(visit, ...keys) {
  for (const key of keys) {
    await visit.page.keyboard.press(key);
    await frames(visit.page);
  }
  await visit.settled();
}

export async function flame(visit, log) {
  const { page } = visit;
  await visit.open(`#/flame?log=${log.id}`);
  const total = bytesIn(await totalTitle(visit, log));
  const canvas = page.locator('.flame canvas');
  const box = await canvas.boundingBox();
  // The first root is the widest, at the left of the first row; its first callee lies below.
  await page.mouse.move(box.x + 30, box.y + 50);
  await page.locator('.tip').waitFor();
  const pointed = await page.locator('.tip strong').innerText();
  await page.mouse.click(box.x + 30, box.y + 50);
  await visit.settled();
  check(await isFocused(visit), `a click focuses: ${await visit.hash()}`);
  same((await page.locator('.crumbs button').last().innerText()).trim(), pointed, 'on what was pointed at');
  const state = await visit.hash();
  await visit.open(state);
  check(await isFocused(visit), 'the focus is in the address');
  await canvas.focus();
  await press(visit, 'Escape', 'Escape', 'Escape', 'Escape');
  check(!(await isFocused(visit)), `Escape goes back: ${await visit.hash()}`);

  await visit.open(`#/flame?log=${log.id}`);
  await canvas.focus();
  const path = [];
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp']) {
    await press(visit, key);
    path.push(await page.locator('.chosen strong').first().innerText());
  }
  check(path[0] !== '' && path[3] === path[1] && path[2] !== path[1], `arrows move: ${path.join(' > ')}`);
  await press(visit, 'Enter');
  check(await isFocused(visit), 'Enter focuses');
  await press(visit, 'Escape');

  await page.fill('#find', 'xmalloc|ggc|alloc');
  await visit.settled();
  const found = await page.locator('.tools [role=status]').innerText();
  check(/^[\d.]+ % in [\d,]+ matches$/.test(found) && parseFloat(found) > 0 && parseFloat(found) <= 100, `the share that matches: ${found}`);
  await page.fill('#find', 'no such function anywhere');
  await visit.settled();
  check((await page.locator('.tools [role=status]').innerText()).includes('in 0 matches'), 'nothing matches');
  check(total > 0, 'the flame graph has a total');
}

/** Of the root, that is said when it is chosen. */
async function totalTitle(visit, log) {
  await visit.page.locator('.flame canvas').focus();
  await press(visit, 'ArrowDown');
  const title = await visit.page.locator('.chosen span[title]').first().getAttribute('title');
  await visit.open(`#/flame?log=${log.id}`);
  return title;
}

export async function flameCompared(visit, log) {
  const { page } = visit;
  await visit.open(`#/flame?log=${log.id}&at=end`);
  const plain = await texts(page);
  check(plain.length > 0 && !plain.some((text) => /^[+−±]/.test(text)), `one moment has no signs: ${plain.join(' | ')}`);
  await page.getByLabel('Compare with').selectOption('rss-peak');
  await visit.settled();
  await frames(page);
  const signs = (await texts(page)).map((text) => text[0]);
  check(signs.includes('+') && signs.includes('−'), `two moments have signs: ${(await texts(page)).join(' | ')}`);
  await page.locator('.flame canvas').focus();
  await press(visit, 'ArrowDown');
  check(/Before it was .*: [+−±]/.test(await page.locator('.chosen').innerText()), 'the change of what is chosen is said');
}
