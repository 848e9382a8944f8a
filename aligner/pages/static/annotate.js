// The page of an annotator: a pair as a matrix to change, by keys and by mouse; every change goes to the server at once.

import { AgreementPanel, ListPanel, TrainingPanel, WordPanel } from "./annotate-panels.js";
import { NEXT_KIND, Annotation, drawnLinks, listenToDrags } from "./annotation.js";
import { clamp, html, svg, visible } from "./dom.js";
import { draw } from "./draw.js";
import { $, ask, given, tabs } from "./page.js";

const { first, languages } = given();
const editor = $("editor");
const inEditor = (/** @type {string} */ selector) => /** @type {Element} */ (editor.querySelector(selector));
// info: what the server says of the pair; other: the annotator with whom differences are decided, or null
// unsaved: whether the server has not kept the work as it is; stuck: its revision, where another window has changed the pair
const state = {
  info: /** @type {About} */ (/** @type {any} */ (null)), // until the first answer
  work: /** @type {Annotation} */ (/** @type {any} */ (null)),
  cursor: /** @type {Cell} */ ([0, 0]),
  other: /** @type {string | null} */ (null),
  drawn: /** @type {Picture | null} */ (null),
  scores: /** @type {Map<string, number>} */ (new Map()),
  unsaved: false,
  stuck: 0,
};

// One after the other, in the order of keys and clicks, each with what the one before has done.
/** @type {Promise<void>} */
let last = Promise.resolve();
let waiting = 0;
/** @type {InTurn} */
function inTurn(action) {
  waiting += 1;
  document.body.dataset.busy = "yes";
  last = last
    .then(action)
    .catch((error) => trouble(`not done: ${error.message}`))
    .then(() => {
      waiting -= 1;
      if (!waiting) document.body.dataset.busy = "no";
    });
  return last;
}

const aboutPair = (/** @type {number} */ pair) => ({ pair, ...(state.other === null ? {} : { with: state.other }) });

/** @type {(pair: number | null, other?: string | null) => Promise<void>} */
async function open(pair, other = state.other) {
  if (state.unsaved) await save();
  if (pair === null || state.unsaved) return;
  const cursor = state.info?.pair === pair ? state.cursor : [0, 0];
  state.other = other;
  /** @type {About} */
  const info = await ask("GET", "pair", aboutPair(pair));
  Object.assign(state, { info, cursor, work: new Annotation(info.work) });
  state.scores = new Map(info.scores.map(([j, k, score]) => [`${j}-${k}`, score]));
  $("comment").value = state.work.comment;
  showPair();
}

async function save() {
  state.unsaved = true;
  try {
    const given = { ...aboutPair(state.info.pair), revision: state.info.revision, work: state.work };
    state.info = await ask("POST", "save", given);
  } catch (error) {
    if (error.status === 409) return conflict();
    throw error;
  }
  const accepted = new Annotation(state.info.work);
  if (accepted.status !== state.work.status || accepted.kinds.size !== state.work.kinds.size) state.work = accepted;
  state.unsaved = false;
  state.stuck = 0;
  $("trouble").hidden = true;
  showFacts();
}

// Change the work on the pair, show it, and keep it.
/** @type {(edit: (work: Annotation) => unknown) => Promise<void>} */
async function change(edit) {
  if (state.stuck) return;
  edit(state.work);
  showPair();
  await save();
}

/** @type {(status: Status) => Promise<void>} */
async function finish(status) {
  if (state.stuck) return;
  state.work.status = status;
  await save();
  if (!state.unsaved) await openPair(state.info.following ?? state.info.pair);
}

async function undo() {
  if (state.unsaved) return forget();
  const { pairs } = await ask("POST", "undo", state.other === null ? {} : { with: state.other });
  if (pairs.length) await open(pairs.includes(state.info.pair) ? state.info.pair : pairs[0]);
}

// Show a pair again as the server has it.
function forget() {
  state.unsaved = false;
  state.stuck = 0;
  $("trouble").hidden = true;
  return open(state.info.pair);
}

/** @type {(label: Child, act: () => unknown) => HTMLElement} */
const way = (label, act) => html("button", { type: "button", click: () => inTurn(act) }, label);

/** @type {(message: string, ways?: HTMLElement[]) => void} */
function trouble(message, ways = state.work ? [way("Try again", save)] : []) {
  $("trouble").replaceChildren(html("span", {}, message), ...ways);
  $("trouble").hidden = false;
}

// Keys do nothing here before one has chosen; no button has the focus, that the next Enter would press.
async function conflict() {
  const there = await ask("GET", "pair", aboutPair(state.info.pair));
  const told = (/** @type {Annotation} */ work) => `${work.kinds.size} links, ${work.status}`;
  const both = `(there ${told(new Annotation(there.work))}; here ${told(state.work)})`;
  state.stuck = there.revision;
  trouble(`Changed in another window ${both}: not kept yet.`, [
    way(["Show what is there ", html("kbd", {}, "t")], forget),
    way(["Keep what is here ", html("kbd", {}, "h")], keepHere),
  ]);
}

function keepHere() {
  state.info.revision = state.stuck;
  return save();
}

function showPair() {
  const { info, work } = state;
  const { scrollLeft = 0, scrollTop = 0 } = editor.querySelector(".picture") ?? {};
  const hadFocus = editor.contains(document.activeElement);
  const pair = {
    source: info.source,
    target: info.target,
    languages,
    links: drawnLinks(work, info.sides, state.scores),
  };
  const deciding = info.sides.length === 2;
  state.drawn = draw(editor, pair, {
    view: "matrix",
    label: `Links of pair ${info.pair + 1}`,
    systems: deciding ? ["mine", `${state.other}`] : [],
    shown: { mode: deciding ? "difference" : "one", system: 0, other: 1 },
    onword: (side, index) => inTurn(() => change(() => work.turnNull(side, index))),
  });
  for (const [n, side] of ["source", "target"].entries())
    for (const index of work.null[n]) {
      const word = inEditor(`[data-side=${side}][data-index="${index}"]`);
      word.classList.add("nothing");
      word.setAttribute("aria-label", `${word.getAttribute("aria-label")}, NULL`);
    }
  inEditor(".picture").scrollTo(scrollLeft, scrollTop);
  const { svg: picture, matrix, point } = state.drawn;
  if (picture && matrix) {
    listenToDrags(picture, matrix, editor, (from, to) => inTurn(() => changeBlock(from, to)));
    picture.addEventListener("mouseleave", () => point(...state.cursor));
  }
  showCursor();
  showFacts();
  if (hadFocus) editor.focus({ preventScroll: true });
}

function showCursor() {
  const { drawn, cursor } = state;
  if (!drawn?.matrix || !state.info.source.length || !state.info.target.length) return;
  drawn.point(...cursor);
  editor.querySelector(".cursor")?.remove();
  const box = drawn.matrix.place(...cursor);
  inEditor(".side").before(svg("rect", { class: "cursor", rx: 4, ...box }));
  const scroller = inEditor(".picture");
  const start = drawn.matrix.place(0, 0);
  scroller.scrollTo(
    clamp(scroller.scrollLeft, box.x + 2 * box.width - scroller.clientWidth, box.x - start.x),
    clamp(scroller.scrollTop, box.y + 2 * box.height - scroller.clientHeight, box.y - start.y),
  );
  const [j, k] = cursor;
  const nothing = state.work.null.map((side, n) =>
    side.has(cursor[n]) ? `, ${n ? "target" : "source"} word NULL` : "",
  );
  const kind = state.work.kind(j, k) === "none" ? ", no link" : "";
  $("where").textContent = `${inEditor(".said").textContent}${kind}${nothing.join("")}`;
  for (const [n, id] of ["source-sentence", "target-sentence"].entries()) {
    const words = n ? state.info.target : state.info.source;
    const shown = words.map((word, at) => [
      at ? " " : "",
      at === cursor[n] ? html("mark", {}, visible(word)) : visible(word),
    ]);
    $(id).replaceChildren(...shown.flat());
    if (languages[n]) $(id).lang = languages[n];
  }
}

function showFacts() {
  const { info, work } = state;
  const { pairs, accepted, skipped, pace } = info.progress;
  $("title").textContent = `Pair ${info.pair + 1}`;
  $("status").textContent = work.status;
  $("status").className = `badge ${work.status}`;
  $("flag").setAttribute("aria-pressed", `${work.flagged}`);
  $("bar").value = `${pairs ? accepted / pairs : 0}`;
  const parts = [`${accepted} of ${pairs} accepted`];
  if (skipped) parts.push(`${skipped} skipped`);
  if (info.flagged) parts.push(`${info.flagged} flagged`);
  if (pace) parts.push(`${pace.toFixed(0)} pairs an hour`);
  if (accepted === pairs) parts.push("all done");
  $("progress").textContent = parts.join(" · ");
  $("deciding").hidden = $("own").hidden = $("of-sides").hidden = state.other === null;
  $("of-suggestions").hidden = state.other !== null;
  $("deciding").textContent = `deciding between ${state.other} and me`;
  $("of-other").textContent = `Take ${state.other}'s`;
  document.body.dataset.ready = "yes";
}

/** @type {(pair: number, other?: string) => Promise<void>} */
function openPair(pair, other) {
  return open(pair, other).then(() => editor.focus({ preventScroll: true }));
}

// A click changes a cell, a drag all of a block, to what its first cell becomes.
/** @type {(from: Cell, to: Cell) => Promise<void>} */
function changeBlock(from, to) {
  state.cursor = to;
  const kind = NEXT_KIND[state.work.kind(...from)];
  return change((work) => {
    for (let j = Math.min(from[0], to[0]); j <= Math.max(from[0], to[0]); j++)
      for (let k = Math.min(from[1], to[1]); k <= Math.max(from[1], to[1]); k++) work.set(j, k, kind);
  });
}

/** @type {Record<string, Cell>} */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @type {(key: string, far: boolean) => void} */
function move(key, far) {
  const most = [state.info.source.length - 1, state.info.target.length - 1];
  const [j, k] = STEPS[key];
  let [row, column] = state.cursor;
  do [row, column] = [clamp(row + j, 0, most[0]), clamp(column + k, 0, most[1])];
  while (far && state.work.kind(row, column) === "none" && (j ? row % most[0] : column % most[1]));
  state.cursor = [row, column];
  showCursor();
}

const sideTaken = (/** @type {number} */ n) => (/** @type {Annotation} */ work) => {
  if (!state.info.sides.length) return;
  const { kinds, null: nothing } = new Annotation(state.info.sides[n]);
  Object.assign(work, { kinds, null: nothing });
};
const least = () => Number($("least").value);
/** @type {Record<string, () => unknown>} */
const ACTIONS = {
  accept: () => finish("accepted"),
  skip: () => finish("skipped"),
  undo,
  flag: () => change((work) => (work.flagged = !work.flagged)),
  "null-source": () => change((work) => work.turnNull(0, state.cursor[0])),
  "null-target": () => change((work) => work.turnNull(1, state.cursor[1])),
  "clear-source": () => change((work) => work.clearWord(0, state.cursor[0])),
  "clear-target": () => change((work) => work.clearWord(1, state.cursor[1])),
  "clear-pair": () => change((work) => work.clear()),
  above: () => change((work) => work.keepAbove(least(), state.scores)),
  first: () => change(sideTaken(0)),
  second: () => change(sideTaken(1)),
  previous: () => open(state.info.previous),
  next: () => open(state.info.next),
  own: () => open(first, null),
  train: () => training.begin(),
  there: () => state.stuck && forget(),
  here: () => state.stuck && keepHere(),
  cycle: () => change((work) => work.set(...state.cursor, NEXT_KIND[work.kind(...state.cursor)])),
  comment: () => $("comment").focus(),
  keys: () => $("help").showModal(),
};
/** @type {Record<string, string>} */
const KEYS = {
  Enter: "accept",
  " ": "cycle",
  s: "skip",
  u: "undo",
  f: "flag",
  m: "comment",
  n: "null-source",
  N: "null-target",
  c: "clear-source",
  C: "clear-target",
  Delete: "clear-pair",
  Backspace: "clear-pair",
  a: "above",
  1: "first",
  2: "second",
  j: "next",
  k: "previous",
  t: "there",
  h: "here",
  "?": "keys",
};
for (const id of Object.keys(ACTIONS))
  if (id !== "comment") $(id)?.addEventListener("click", () => inTurn(ACTIONS[id]));
$("comment").addEventListener("change", () => inTurn(() => change((work) => (work.comment = $("comment").value))));
$("comment").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.preventDefault();
  editor.focus(); // which tells the field that it has changed
});
$("least").addEventListener("input", () => ($("least-value").textContent = least().toFixed(2)));

document.addEventListener("keydown", (event) => {
  const target = /** @type {Element} */ (event.target);
  const elsewhere = target.closest("input, select, textarea, dialog[open], [role=tablist]");
  const pressed = target.closest("button, a, summary") && [" ", "Enter"].includes(event.key);
  const moves = event.key in STEPS || event.key === "Home" || event.key === "End";
  if (event.altKey || event.metaKey || (event.ctrlKey && !moves) || elsewhere || pressed || $("panel-pairs").hidden)
    return;
  if (!moves && !(event.key in KEYS)) return;
  event.preventDefault();
  inTurn(() => {
    if (!moves) return ACTIONS[KEYS[event.key]]();
    if (event.key in STEPS) return move(event.key, event.ctrlKey);
    state.cursor[1] = event.key === "Home" ? 0 : state.info.target.length - 1;
    return showCursor();
  });
});

/** @type {(pair: number, other?: string) => Promise<void>} */
const goto = (pair, other) => showTab("pairs").then(() => openPair(pair, other));
/** @type {Record<string, { show: () => Promise<void> }>} */
const panels = {
  list: new ListPanel(inTurn, goto),
  words: new WordPanel($("words"), $("contexts"), inTurn),
  agreement: new AgreementPanel($("agreement"), inTurn, goto),
};
const mark = tabs(["pairs", ...Object.keys(panels)], (name) => inTurn(() => showTab(name)));

/** @type {(name: string) => Promise<unknown>} */
async function showTab(name) {
  mark(name);
  return name === "pairs" ? open(state.info.pair) : panels[name].show();
}

const training = new TrainingPanel($("train"), $("training"), inTurn);

addEventListener("beforeunload", (event) => state.unsaved && event.preventDefault());
inTurn(() => open(first, null).then(() => editor.focus({ preventScroll: true })));
inTurn(() => training.follow());
