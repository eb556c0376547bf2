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
