// Frames of a flame graph of 100,000 nodes, while one points, scrolls and focuses. Others use the machine too: the
// best of three tries counts.

import { check } from './check.mjs';

const NODES = 100_000;
const MOST_MS = 34;
const TRIES = 3;

const ACTS = {
  point: (canvas, frame, i) => {
    const box = canvas.getBoundingClientRect();
    const place = { clientX: box.left + ((i * 37) % box.width), clientY: box.top + ((i * 23) % box.height), bubbles: true };
    canvas.dispatchEvent(new PointerEvent('pointermove', place));
  },
  scroll: (canvas, frame, i) => {
    frame.scrollTop = (i * 40) % Math.max(1, frame.scrollHeight - frame.clientHeight);
  },
  keys: (canvas, frame, i) => {
    const key = ['ArrowDown', 'ArrowRight', 'ArrowDown', 'Enter', 'ArrowDown', 'Escape'][i % 6];
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  },
};

export async function speed(visit, log, pictures) {
  const begun = performance.now();
  await visit.open(`#/flame?log=${log.id}&more=1`);
  const shown = /([\d,]+) nodes\./.exec(await visit.page.locator('main').innerText())?.[1];
  check(Number(shown?.replace(/,/g, '')) > 0.99 * NODES, `the flame graph has ${shown} nodes`);
  console.log(`note    a flame graph of ${shown} nodes is there after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  if (pictures) await visit.page.screenshot({ path: `${pictures}/flame-many.png` });
  for (const [name, act] of Object.entries(ACTS)) {
    let best = { median: Infinity };
    for (let i = 0; i < TRIES && best.median > MOST_MS / 2; i++) {
      const now = await frames(visit.page, act);
      if (now.median < best.median) best = now;
    }
    console.log(`note    ${name}: frames of ${best.median.toFixed(1)} ms in the median, ${best.most.toFixed(1)} ms in 95 of 100`);
    check(best.median <= MOST_MS, `${name}: the median frame takes ${best.median.toFixed(1)} ms`);
  }
}

async function frames(page, act) {
  const times = await page.evaluate(`(async () => {
    const act = ${act}, frame = document.querySelector('.flame'), canvas = frame.querySelector('canvas'), times = [];
    for (let i = 0, last = performance.now(); i < 90; i++) {
      act(canvas, frame, i);
      await new Promise((next) => requestAnimationFrame(next));
      const now = performance.now();
      times.push(now - last);
      last = now;
    }
    return times.sort((a, b) => a - b);
  })()`);
  return { median: times[times.length >> 1], most: times[Math.floor(times.length * 0.95)] };
}
