// Each screen in two sizes and two themes: it has what it must show, nothing is too wide, and axe finds nothing
// serious.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { check, fail } from './check.mjs';
import { NARROW, Visit, WIDE } from './browser.mjs';
import { shows } from './screens.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SIZES = [WIDE, NARROW];
const THEMES = ['light', 'dark'];

/** The command lines that were seen are added to `seen`. */
export async function look(browser, server, screens, pictures, seen) {
  const visit = await Visit.of(browser, server);
  for (const screen of screens) {
    const act = () => visit.open(screen.state);
    await (screen.isRefused ? visit.pardoning(/status of 400|^400 for/, act) : act());
    for (const size of SIZES) {
      await visit.page.setViewportSize(size);
      await visit.settled();
      await shows(visit, screen);
      await fits(visit, `${screen.name}, ${size.width} pixels`);
      for (const colorScheme of THEMES) {
        await visit.page.emulateMedia({ colorScheme });
        const what = `${screen.name}-${size.width}-${colorScheme}`;
        await accessible(visit, what);
        if (pictures) await picture(visit, `${pictures}/${what}`, size === NARROW);
      }
    }
    await visit.page.setViewportSize(WIDE);
    if (!screen.isRefused) for (const line of await visit.commands()) seen.add(line);
  }
  await visit.close();
}

async function picture(visit, path, isWhole) {
  await visit.settled();
  await visit.page.screenshot({ path: `${path}.png`, fullPage: isWhole });
}

/** What scrolls by itself may be wider than the window; the page may not, and a figure stands on one line. */
async function fits(visit, what) {
  const found = await visit.page.evaluate(() => {
    const isInFrame = (one) => one.closest('.table-frame, .tabs, .flame, .graph, pre, .out-of-sight');
    const wide = [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !isInFrame(one));
    const broken = [...document.querySelectorAll('td.number .figure, span.size')].filter((one) => one.getClientRects().length > 1);
    const tab = document.querySelector('.tabs [aria-current]')?.getBoundingClientRect();
    const isTabSeen = !tab || (tab.left >= 0 && tab.right <= innerWidth + 1);
    const named = (one) => `${one.tagName.toLowerCase()}.${one.className}: ${one.textContent.slice(0, 60)}`;
    return { over: document.documentElement.scrollWidth - innerWidth, wide: wide.slice(0, 5).map(named), broken: broken.slice(0, 5).map(named), isTabSeen };
  });
  check(found.over <= 0, `${what}: ${found.over} pixels too wide: ${found.wide.join('; ')}`);
  check(found.isTabSeen, `${what}: the chosen tab is to be seen`);
  check(found.broken.length === 0, `${what}: figures on two lines: ${found.broken.join('; ')}`);
}

export async function accessible(visit, what) {
  // By the debugger, since the policy of the page lets no other script in.
  const found = await visit.page.evaluate(`${axe}; axe.run(document, { resultTypes: ['violations'] }).then((found) =>
    found.violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.slice(0, 3).map((node) => node.target.join(' ') + ': ' + node.failureSummary) })))`);
  for (const { id, impact, nodes } of found) {
    const line = `${what}: axe, ${impact}, ${id}: ${nodes.join(' | ')}`;
    if (['serious', 'critical'].includes(impact)) fail(line);
    else console.log(`note    ${line}`);
  }
  check(true, what);
}
