// A flame graph in a browser. html.rs embeds what it reads, and makes one
// function of its parts:
//
//   tree      nodes by number, callers first, 0 stands for everything; and the
//             state, what was chosen, which is in the address behind #
//   frames    what is drawn, made new at each change: only what is as wide as
//             half a pixel, and only rows that may soon be seen
//   draw      frames in words and on the canvas
//   controls  the page around it, pointer and keyboard, and how it begins
//
// From the other end no tree is made: a frame there is a set of nodes that ask
// for memory, each with the caller that it has reached (its cursor).

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
const start = {metric: data.keys[data.shown], with: data.keys[data.with] ?? '', reverse: `${data.reversed}`, inverted: `${data.inverted}`, search: '', zoom: ''};
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
