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
