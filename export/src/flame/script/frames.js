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
