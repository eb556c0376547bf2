// Every screen, and what it must show.

import { check } from './check.mjs';

const part = (log, share) => (log.duration_seconds * share).toFixed(6);
const COPY = encodeURIComponent('function = "copy_of"');

/** Names, states and what is to be seen: selectors with the least number of them, and pictures with something in them. */
export function screensOf({ server, threads8, kinds, cc1, phases }) {
  return [
    { name: 'runs', state: '#/runs', has: { 'tbody tr': 6, 'tbody a': 6 } },
    { name: 'overview', state: `#/overview?log=${server.id}`, has: { '.heading dt': 3, '.chart canvas': 3, 'tr.leads': 3 }, drawn: ['.chart canvas'] },
    { name: 'overview-range', state: `#/overview?log=${server.id}&range=${part(server, 0.3)}..${part(server, 0.6)}`, has: { '.chip': 1, 'tr.leads': 1 }, drawn: ['.chart canvas'] },
    { name: 'overview-scopes', state: `#/overview?log=${phases.id}`, has: { 'section[aria-label="Top scopes"] tr.leads': 5 }, drawn: ['.chart canvas'] },
    { name: 'scopes', state: `#/sites?log=${phases.id}&by=scope`, has: { 'tr.leads': 5, 'svg.sparkline': 5 } },
    { name: 'scope', state: `#/site?log=${phases.id}&of=scope&name=load&site=${encodeURIComponent('scope ~ "^load$"')}`, has: { 'h1.site-name': 1, '.stack li': 2 } },
    { name: 'allocations-scopes', state: `#/allocations?log=${phases.id}&where=${encodeURIComponent('kind = custom')}`, has: { '.tall tbody tr': 20 } },
    { name: 'sites', state: `#/sites?log=${cc1.id}`, has: { 'tr.leads': 20, 'tfoot td': 8 } },
    { name: 'stacks', state: `#/sites?log=${cc1.id}&by=stack`, has: { 'tbody tr': 50, 'tbody details': 20 } },
    { name: 'flame', state: `#/flame?log=${cc1.id}`, has: { '.crumbs button': 1 }, drawn: ['.flame canvas'] },
    { name: 'flame-diff', state: `#/flame?log=${server.id}&at=end&before=25%25`, has: { '.flame canvas': 1 }, drawn: ['.flame canvas'] },
    { name: 'callers', state: `#/callers?log=${server.id}&name=copy_of`, has: { 'tr.leads': 1 } },
    { name: 'graph', state: `#/graph?log=${server.id}`, has: { '.graph img': 1 } },
    { name: 'site', state: `#/site?log=${server.id}&of=function&name=copy_of&site=${COPY}`, has: { 'h1.site-name': 1, 'tbody tr': 5, '.stack li': 3 }, drawn: ['.chart canvas'] },
    { name: 'allocations', state: `#/allocations?log=${kinds.id}`, has: { '.builder': 1, '.tall tbody tr': 20 } },
    { name: 'temporary', state: `#/temporary?log=${kinds.id}`, has: { 'tr.leads': 2 } },
    { name: 'leaks', state: `#/leaks?log=${server.id}`, has: { '.steps a': 3, 'tr.leads': 1 } },
    { name: 'leaks-growing', state: `#/leaks?log=${server.id}&step=growing`, has: { '.steps a[aria-current]': 1, 'svg.sparkline': 1 } },
    { name: 'leaks-late', state: `#/leaks?log=${threads8.id}&step=late`, has: { '.steps a': 3 } },
    { name: 'maps', state: `#/maps?log=${kinds.id}&at=end`, has: { 'tbody tr': 12 }, drawn: ['canvas.space'] },
    { name: 'rss', state: `#/rss?log=${cc1.id}`, has: { 'tbody tr': 10 } },
    { name: 'threads', state: `#/threads?log=${threads8.id}`, has: { 'tbody tr': 9 } },
    { name: 'diff', state: `#/diff?log=${server.id}&before=25%25`, has: { 'tbody tr': 2, 'tfoot td': 4 } },
    { name: 'long-names', state: `#/sites?log=${kinds.id}`, has: { 'tr.leads': 3 } },
    { name: 'console', state: `#/console?log=${server.id}`, has: { textarea: 1 } },
    { name: 'bad-filter', state: `#/sites?log=${server.id}&where=size+%3E%3D+1X`, has: { '.filter-problem pre': 1 }, isRefused: true },
    { name: 'empty', state: `#/sites?log=${server.id}&where=size+%3E%3D+1T`, has: { '.empty': 1 } },
  ];
}

export async function shows(visit, screen) {
  for (const [selector, least] of Object.entries(screen.has)) {
    const found = await visit.page.locator(`:is(main, header.top) ${selector}`).count();
    check(found >= least, `${visit.where}: ${found} of at least ${least} "${selector}"`);
  }
  for (const selector of screen.drawn ?? []) {
    const colours = await coloursOf(visit.page, selector);
    check(colours >= 3, `${visit.where}: ${colours} colours in "${selector}"`);
  }
  const alarms = await visit.page.locator('[role=alert]').allInnerTexts();
  check(alarms.length === (screen.isRefused ? 1 : 0), `${visit.where}: alarms ${JSON.stringify(alarms)}`);
  if (screen.name === 'graph') {
    const width = await visit.page.locator('.graph img').evaluate((image) => image.naturalWidth);
    check(width > 50, `${visit.where}: the picture is ${width} pixels wide`);
  }
}

function coloursOf(page, selector) {
  return page.locator(selector).first().evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (const pixel of new Uint32Array(data.buffer)) seen.add(pixel);
    return seen.size;
  });
}
