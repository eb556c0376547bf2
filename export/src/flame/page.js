// A flame graph in a browser; html.rs embeds what it reads.
//
//   tree     nodes by number, callers first; 0 stands for everything
//   state    what was chosen; it is in the address behind #
//   frames   what is drawn, made new at each change: only what is as wide as
//            half a pixel, and only rows that may soon be seen
//
// From the other end no tree is made: a frame there is a set of nodes that ask
// for memory, each with the caller that it has reached (its cursor).
'use strict';
(() => {
const $ = id => document.getElementById(id);
const on = (id, event, act) => $(id).addEventListener(event, act);
const data = JSON.parse($('data').textContent);

// ---- tree

const count = data.label.length + 1;
const label = Int32Array.from([0].concat(data.label));
const caller = Int32Array.from([1].concat(data.caller), (step, at) => at - step);

// The callees of node n are callee[first[n]] up to callee[first[n + 1] - 1].
const first = new Int32Array(count + 2);
for (let at = 1; at < count; at++) first[caller[at] + 2]++;
for (let at = 1; at < count + 2; at++) first[at] += first[at - 1];
const callee = new Int32Array(count);
for (let at = 1; at < count; at++) callee[first[caller[at] + 1]++] = at;

const series = data.things.map((thing, index) => {
  const own = [new Float64Array(count), new Float64Array(count)];
  const list = data['own' + index];
  for (let at = 0, node = 0; at < list.length; at += 3) {
    node += list[at];
    own[0][node] = list[at + 1];
    own[1][node] = list[at + 2];
  }
  return {thing, own, total: [null, null]};
});

// By bytes (0) or by their number (1); summed when it is first asked for.
function total(index, unit) {
  const one = series[index];
  if (!one.total[unit]) {
    const sums = one.total[unit] = one.own[unit].slice();
    for (let at = count - 1; at > 0; at--) sums[caller[at]] += sums[at];
  }
  return one.total[unit];
}

// ---- state

const HALF_PIXEL = 0.5, ROW = 20, FONT = '12px system-ui, "Liberation Sans", sans-serif';
const start = {metric: data.keys[data.shown], with: '', reverse: `${data.reversed}`, inverted: `${data.inverted}`, search: '', zoom: ''};
const state = {};           // as it is in the address
let view = {};              // what that means
let matched = null;         // of each name whether it is searched for
let rows = [], isWhole = false, marked = null, hovered = null, width = 0;

const comparable = other => other !== view.metric && data.byBlocks[other] === data.byBlocks[view.metric];

// Reads the address; what is not there is as at the start.
function read() {
  const words = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  for (const key in start) state[key] = words[key] ?? start[key];
}

function understand() {
  const [node, depth] = state.zoom.split('.').map(Number), other = data.keys.indexOf(state.with);
  view = {metric: Math.max(0, data.keys.indexOf(state.metric)), other: -1, reversed: state.reverse === '1', inverted: state.inverted === '1', node: 0, depth: 0};
  if (comparable(other)) view.other = other;
  if (node < count && depth > 0 && way(node, depth)) Object.assign(view, {node, depth});
}

// Changes the state and shows it. A zoom is a step that the browser can go back.
function change(what) {
  Object.assign(state, what);
  const words = Object.entries(state).filter(([key, word]) => word !== start[key]);
  history['zoom' in what ? 'pushState' : 'replaceState'](null, '', '#' + new URLSearchParams(words));
  show();
}

// The nodes from the outermost frame of the view to the one that is zoomed.
function way(node, depth) {
  const nodes = [];
  for (let at = node; at > 0; at = caller[at]) nodes.push(at);
  if (view.reversed) return depth <= nodes.length && nodes.slice(0, depth);
  return depth === nodes.length && nodes.reverse();
}

// ---- frames

const frame = (above, depth, name, node, value, more) => ({above, depth, name, node, value, left: 0, right: 1, ...more});

// What widths go by, of two metrics that are compared both together: by node,
// with all that is called from there; only what ends there; and of that the
// part by the first metric.
let sums, ends, now, unit, thing;

function weigh() {
  unit = data.byBlocks[view.metric];
  const [one, other] = [view.metric, view.other].map(metric => data.series[metric]);
  thing = series[one].thing;
  sums = total(one, unit);
  now = ends = series[one].own[unit];
  if (view.other < 0) return;
  const more = total(other, unit), moreEnds = series[other].own[unit];
  sums = sums.map((sum, at) => sum + more[at]);
  ends = now.map((sum, at) => sum + moreEnds[at]);
}

// The nodes that ask for memory, each its own cursor.
function askers() {
  const items = label.map((_, at) => at).filter(at => ends[at] > 0);
  return {items, cursors: items.slice(), size: items.length};
}

// Sets by the names at their cursors: a step from the allocator outwards. Of a
// recursion nearly all have the same one, so what goes with the cursor in the
// middle stays where it is: a set is stepped once.
function groups({items, cursors, size}) {
  const nameAt = cursor => cursor > 0 ? Math.max(label[cursor], -1) : -2;
  const middle = nameAt(cursors[size >> 1]), others = new Map();
  let kept = 0;
  for (let at = 0; at < size; at++) {
    const name = nameAt(cursors[at]);
    if (name === -2) continue;
    if (name === middle) {
      items[kept] = items[at];
      cursors[kept++] = cursors[at];
    } else {
      if (!others.has(name)) others.set(name, [[], []]);
      others.get(name)[0].push(items[at]);
      others.get(name)[1].push(cursors[at]);
    }
  }
  const all = Array.from(others.values(), ([items, cursors]) => stepped(Int32Array.from(items), Int32Array.from(cursors), items.length));
  if (kept) all.push(stepped(items, cursors, kept));
  return all;
}

// Its cursors go on to their callers.
function stepped(items, cursors, size) {
  const set = {name: label[cursors[0]], items, cursors, size, value: 0, now: 0};
  for (let at = 0; at < size; at++) {
    set.value += ends[items[at]];
    set.now += now[items[at]];
    cursors[at] = caller[cursors[at]];
  }
  return set;
}

// The set of a frame once more.
function setOf(one) {
  let set = askers();
  for (const node of way(one.node, one.depth)) set = groups(set).find(group => isSame(group.name, label[node]));
  return set;
}

const isSame = (name, other) => Math.max(name, -1) === Math.max(other, -1);

// Who is below a frame, all of them, as frames without a place.
function below(above, set) {
  if (above.rest) return [];
  const depth = above.depth + 1;
  if (view.reversed) return groups(set).map(group => frame(above, depth, group.name, group.items[0], group.value, {set: group, now: group.now}));
  const list = [];
  for (let at = first[above.node]; at < first[above.node + 1]; at++) {
    const node = callee[at], value = sums[node];
    if (value > 0) list.push(frame(above, depth, label[node], node, value));
  }
  return list;
}

const byWidth = (a, b) => b.value - a.value || a.name - b.name;

// Places who is below a frame: who is seen, by width, and the rest together.
function place(above, row) {
  const least = HALF_PIXEL / width / (above.right - above.left) * above.value;
  let left = above.left, rest = 0, many = 0;
  const scale = (above.right - above.left) / above.value;
  const seen = below(above, above.set).filter(one => one.value >= least || (rest += one.value, many++, false)).sort(byWidth);
  if (rest >= least && many) seen.push(frame(above, above.depth + 1, -many, 0, rest, {rest: true}));
  for (const one of seen) {
    one.left = left;
    one.right = left += one.value * scale;
    row.push(one);
  }
}

// The zoomed frame and its callers over the whole width, then what is below it,
// as far as it may soon be seen. A set is let go once its row is through.
function lay() {
  weigh();
  let last = frame(null, 0, -1, 0, sums[0], view.reversed ? {set: askers()} : {});
  rows = [[last]];
  for (const node of view.depth ? way(view.node, view.depth) : []) {
    const here = below(last, last.set).find(one => view.reversed ? isSame(one.name, label[node]) : one.node === node);
    // It holds nothing by this metric.
    if (!here) {
      Object.assign(view, {node: last.node, depth: last.depth});
      break;
    }
    last.isAbove = true;
    last.set = null;
    rows.push([last = here]);
  }
  isWhole = false;
  layUntil(view.depth + 2 * screenRows());
}

function layUntil(many) {
  while (rows.length < many && !isWhole) {
    const next = [];
    for (const one of rows[rows.length - 1]) {
      if (one.value > 0) place(one, next);
      one.set = null;
    }
    if (next.length) rows.push(next);
    isWhole = !next.length;
  }
}

const screenRows = () => Math.max(8, Math.floor(innerHeight * 0.68 / ROW));

// More rows before the last that are there come into sight.
function grow() {
  const before = rows.length, seen = (view.inverted ? stage.scrollTop : before * ROW - stage.scrollTop) / ROW;
  if (!isWhole && seen + 3 * screenRows() > before) {
    layUntil(2 * before);
    resize();
    if (!view.inverted) stage.scrollTop += (rows.length - before) * ROW;
  }
  draw();
}

// Bytes and number by the one metric, and by the other; of a set when they are
// first asked for.
function figuresOf(one) {
  if (one.rest || one.figures) return one.figures;
  const set = view.reversed && (one.set || setOf(one));
  const of = set ? own => set.items.slice(0, set.size).reduce((sum, item) => sum + own[item], 0) : (own, total) => total[one.node];
  return one.figures = [view.metric, view.other].map(metric => metric < 0 ? [0, 0] : [0, 1].map(by => of(series[data.series[metric]].own[by], total(data.series[metric], by))));
}

// ---- words

function sized(bytes) {
  const step = Math.floor(Math.log2(Math.abs(bytes) || 1) / 10);
  return step ? `${(bytes / 1024 ** step).toFixed(1)} ${'KMGTPE'[step - 1]}iB` : `${bytes} bytes`;
}
const grouped = number => number.toLocaleString('en-US');
const things = (number, thing) => grouped(number) + ' ' + thing + (number === 1 ? '' : 's');
const exact = bytes => Math.abs(bytes) < 1024 ? sized(bytes) : `${sized(bytes)} (${grouped(bytes)}B)`;
const percent = (part, of) => (of > 0 ? 100 * part / of : 0).toFixed(2) + '%';
const told = ([bytes, number], thing) => unit ? `${things(number, thing)} of ${exact(bytes)}` : `${exact(bytes)} in ${things(number, thing)}`;

// Not everything, and not what is summed up.
const isNamed = one => one.depth > 0 && one.name >= 0;

function named(one) {
  if (one.depth === 0) return 'all';
  if (isNamed(one)) return data.names[one.name];
  return one.rest ? `${things(-one.name, 'place')}, too narrow here` : `${grouped(-one.name)} more`;
}

// File with line, and module.
const where = one => isNamed(one) ? [data.places[data.place[one.name]], data.modules[data.module[one.name]]] : ['', ''];

// What there is to say of a frame, in lines.
function details(one) {
  const lines = [named(one)];
  const known = where(one).filter(Boolean);
  if (known.length) lines.push(known.join(' · '));
  const [now, then] = figuresOf(one) || [];
  if (now) lines.push(told(now, thing) + (view.other < 0 ? '' : ` ${data.metrics[view.metric]}`));
  if (now && view.other >= 0) {
    lines.push(`${told(then, data.things[data.series[view.other]])} ${data.metrics[view.other]}`);
    const [bytes, number] = [0, 1].map(by => now[by] - then[by]);
    const sign = number => number > 0 ? '+' : '';
    lines.push(`difference: ${sign(bytes)}${exact(bytes)}, ${sign(number)}${things(number, thing)}`);
  }
  const shares = [`${percent(one.value, sums[0])} of all`];
  if (one.above) shares.push(`${percent(one.value, one.above.value)} of ${view.reversed ? 'the frame before it' : 'its caller'}`);
  const own = !view.reversed && isNamed(one) && ends[one.node];
  if (own) shares.push(`${unit ? grouped(own) : sized(own)} by itself`);
  return [...lines, shares.join(', ')];
}

// ---- drawing

const canvas = $('canvas'), stage = $('stage'), context = canvas.getContext('2d');
const widths = new Map();
const dark = matchMedia('(prefers-color-scheme: dark)');
let ink = {};

const RED = [226, 84, 70], BLUE = [74, 134, 220];
const parts = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
const mix = (one, other, share) => `rgb(${one.map((part, at) => Math.round(part + (other[at] - part) * share))})`;
const shaded = (hex, shade) => mix(parts(hex), dark.matches ? [20, 21, 24] : [255, 255, 255], dark.matches ? 0.2 + 0.1 * shade : 0.14 * shade);

function colours() {
  const style = getComputedStyle(document.documentElement);
  ink = {paper: style.getPropertyValue('--paper'), line: style.getPropertyValue('--mark'), none: shaded(data.plain[1], 0)};
  ink.module = [...data.colours, data.plain[0]].map(hex => Array.from({length: data.shades}, (_, shade) => shaded(hex, shade)));
}

function colour(one) {
  if (view.other >= 0 && !one.rest) {
    const now = view.reversed && one.depth ? one.now : total(data.series[view.metric], unit)[one.node];
    const change = (2 * now - one.value) / Math.max(1, one.value);
    const still = dark.matches ? [196, 196, 192] : [240, 240, 236];
    return mix(still, change > 0 ? RED : BLUE, Math.min(1, Math.abs(change)));
  }
  const module = isNamed(one) ? data.module[one.name] : 0;
  if (!module) return ink.none;
  return ink.module[Math.min(module - 1, data.colours.length)][one.name % data.shades];
}

const measured = text => {
  if (!widths.has(text)) widths.set(text, context.measureText(text).width);
  return widths.get(text);
};

const shortOf = one => isNamed(one) && data.short[one.name] || named(one);

// The name, or its short form, or as much of that as there is room for.
function fitted(one, room) {
  const name = named(one), line = where(one)[0].split('/').pop();
  if (line && measured(`${name} [${line}]`) <= room) return `${name} [${line}]`;
  if (measured(name) <= room) return name;
  const short = shortOf(one);
  const wide = measured(short);
  if (wide <= room) return short;
  const letters = Math.floor(short.length * room / wide) - 1;
  return letters > 2 ? short.slice(0, letters) + '…' : '';
}

const top = row => (view.inverted ? row : rows.length - 1 - row) * ROW;

// The canvas is as large as what is seen of the stage.
function resize() {
  const scale = devicePixelRatio || 1, whole = rows.length * ROW, height = Math.min(whole, screenRows() * ROW);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  $('space').style.height = whole - height + 'px';
  stage.style.height = height + 2 + 'px';
  context.setTransform(scale, 0, 0, scale, 0, 0);
}

function draw() {
  const height = stage.clientHeight;
  context.fillStyle = ink.paper;
  context.fillRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = 'middle';
  rows.forEach((row, depth) => {
    const y = top(depth) - stage.scrollTop;
    if (y < -ROW || y > height) return;
    for (const one of row) drawFrame(one, y);
  });
}

function drawFrame(one, y) {
  const x = one.left * width, wide = (one.right - one.left) * width;
  const gap = wide > 3 ? 1 : 0;
  const found = matched && isNamed(one) && matched[one.name];
  context.globalAlpha = !found && matched ? 0.35 : 1;
  context.fillStyle = found ? '#7a1fa2' : one.isAbove ? ink.none : colour(one);
  context.fillRect(x, y, Math.max(wide - gap, HALF_PIXEL), ROW - 1);
  context.globalAlpha = 1;
  if (one === marked || one === hovered) {
    context.strokeStyle = ink.line;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, Math.max(wide - gap - 2, 1), ROW - 3);
  }
  if (wide < 26) return;
  context.fillStyle = found ? '#fff' : matched && dark.matches ? '#d8d8d4' : '#161616';
  context.fillText(fitted(one, wide - 9), x + 4, y + ROW / 2);
}

// ---- the page around it

function search() {
  matched = null;
  $('found').textContent = '';
  if (!state.search) return;
  let pattern;
  try { pattern = new RegExp(state.search, 'i'); } catch {
    $('found').textContent = 'not a regular expression';
    return;
  }
  const [names, places, modules] = [data.names, data.places, data.modules].map(list => list.map(text => text && pattern.test(text)));
  matched = names.map((is, at) => is || places[data.place[at]] || modules[data.module[at]]);
  // What has one that is searched for anywhere on its stack.
  const isBelow = new Uint8Array(count);
  let amount = 0;
  for (let at = 1; at < count; at++) {
    isBelow[at] = isBelow[caller[at]] || label[at] >= 0 && matched[label[at]];
    if (isBelow[at]) amount += ends[at];
  }
  $('found').textContent = `${percent(amount, sums[0])} matched, ${unit ? grouped(amount) : sized(amount)} by ${things(matched.filter(Boolean).length, 'function')}`;
}

function element(kind, ...inside) {
  const made = document.createElement(kind);
  made.append(...inside);
  return made;
}

// A frame's name, which zooms it.
function link(one, text) {
  const made = element('button', text);
  made.type = 'button';
  made.title = named(one);
  made.addEventListener('click', () => zoom(one));
  return made;
}

function crumbs() {
  const all = rows.slice(0, view.depth + 1).map(row => row[0]);
  const isLeftOut = at => all.length > 9 && at > 1 && at < all.length - 6;
  $('crumbs').replaceChildren(...all.flatMap((one, at) => {
    if (isLeftOut(at)) return at === 2 ? [element('span', `… ${all.length - 8} more ›`)] : [];
    return at === view.depth ? [element('b', named(one))] : [link(one, shortOf(one)), element('span', '›')];
  }));
}

function legend() {
  const items = view.other >= 0
    ? [[RED, `more ${data.metrics[view.metric]}`], [BLUE, `more ${data.metrics[view.other]}`], ['', 'widths: both together']]
    : ink.module.map((shades, at) => [shades[0], at < data.colours.length ? data.modules[at + 1] : 'other files']).slice(0, data.modules.length - 1);
  $('legend').replaceChildren(...items.map(([fill, name]) => {
    const square = element('i');
    square.style.background = fill.map ? `rgb(${fill})` : fill;
    return element('span', square, name);
  }));
}

// At most so many rows: who wants all has memlog tree.
const MOST_LISTED = 200;

function listing() {
  if (!$('listing').open) return;
  const zoomed = rows[view.depth][0];
  const list = below(zoomed, view.reversed && setOf(zoomed)).sort(byWidth);
  $('things').textContent = thing + 's';
  $('rows').replaceChildren(...list.slice(0, MOST_LISTED).map(one => {
    const [bytes, number] = figuresOf(one)[0];
    const cells = [
      one.name >= 0 ? link(one, named(one)) : named(one), ...where(one),
      grouped(bytes), grouped(number), percent(one.value, sums[0]), percent(one.value, zoomed.value),
    ];
    return element('tr', ...cells.map(cell => element('td', cell)));
  }));
}

function show() {
  understand();
  width = stage.clientWidth;
  $('metric').value = view.metric;
  for (const option of $('other').options) option.hidden = option.disabled = option.value >= 0 && !comparable(+option.value);
  $('other').value = view.other;
  $('reversed').checked = view.reversed;
  $('inverted').checked = view.inverted;
  if ($('search').value !== state.search) $('search').value = state.search;
  hover(null);
  lay();
  marked = rows[view.depth][0];
  search();
  resize();
  scrollTo(marked);
  crumbs();
  legend();
  listing();
  say(marked);
  draw();
}

// The zoomed frame and what is next to it are to be seen.
function scrollTo({depth}) {
  const y = top(depth), height = stage.clientHeight;
  if (y < stage.scrollTop || y + ROW > stage.scrollTop + height) stage.scrollTop = y - (view.inverted ? 3 * ROW : height - 4 * ROW);
}

const say = one => { $('detail').textContent = details(one).join(' — '); };

function zoom(one) {
  if (isNamed(one) || !one.depth) change({zoom: one.depth ? `${one.node}.${one.depth}` : ''});
}

// ---- pointer and keyboard

function under(event) {
  const box = canvas.getBoundingClientRect();
  const depth = Math.floor((event.clientY - box.top + stage.scrollTop) / ROW);
  const x = (event.clientX - box.left) / width;
  return rows[view.inverted ? depth : rows.length - 1 - depth]?.find(one => one.left <= x && x < one.right) || null;
}

function hover(event) {
  const one = event && under(event), tip = $('tip');
  const isNew = one !== hovered;
  hovered = one;
  tip.hidden = !one;
  if (!one) return isNew;
  if (isNew) tip.replaceChildren(...details(one).map(text => element('div', text)));
  const {width, height} = tip.getBoundingClientRect(), {clientX: x, clientY: y} = event;
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 8)) + 'px';
  tip.style.top = (y + 22 + height < innerHeight ? y + 18 : y - height - 12) + 'px';
  return isNew;
}

on('canvas', 'mousemove', event => hover(event) && draw());
on('canvas', 'mouseleave', () => hover(null) && draw());
on('canvas', 'click', event => { const one = under(event); if (one) zoom(one); });
on('stage', 'scroll', grow);

function mark(one) {
  if (!one) return;
  marked = one;
  scrollTo(one);
  say(one);
  draw();
}

// Away from the outermost frame, towards it, and along a row.
const deeper = one => rows[one.depth + 1]?.find(other => other.above === one);
const beside = (one, step) => rows[one.depth][rows[one.depth].indexOf(one) + step];

on('stage', 'keydown', event => {
  const away = view.inverted ? 'ArrowDown' : 'ArrowUp', back = view.inverted ? 'ArrowUp' : 'ArrowDown';
  const acts = {
    [away]: () => mark(deeper(marked)),
    [back]: () => mark(marked.above),
    ArrowLeft: () => mark(beside(marked, -1)),
    ArrowRight: () => mark(beside(marked, 1)),
    Home: () => mark(rows[0][0]),
    Enter: () => zoom(marked),
    Escape: () => zoom(rows[Math.max(0, view.depth - 1)][0]),
  };
  if (!acts[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  acts[event.key]();
});
document.addEventListener('keydown', event => {
  if (event.key === '/' && event.target !== $('search')) { event.preventDefault(); $('search').focus(); }
});

$('metric').append(...data.metrics.map((name, at) => new Option(name, at)));
$('other').append(new Option('nothing', -1), ...data.metrics.map((name, at) => new Option(name, at)));
on('metric', 'change', event => change({metric: data.keys[event.target.value]}));
on('other', 'change', event => change({with: data.keys[event.target.value] ?? ''}));
on('inverted', 'change', event => change({inverted: `${+event.target.checked}`}));
// A frame of the one end is none of the other.
on('reversed', 'change', event => change({reverse: `${+event.target.checked}`, zoom: ''}));
on('search', 'input', event => change({search: event.target.value}));
on('reset', 'click', () => change(start));
on('listing', 'toggle', listing);
addEventListener('hashchange', () => { read(); show(); });
addEventListener('resize', show);
dark.addEventListener('change', () => { colours(); show(); });

colours();
read();
show();
})();
