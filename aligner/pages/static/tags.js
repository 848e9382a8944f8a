// The page of unsure tags: each in both texts, moved by keyboard or mouse, and saved as a table of corrections.

import { clamp, fill, html, shortened, visible } from "./dom.js";
import { $, given } from "./page.js";

const MOST_ROWS = 200;

/** @type {{ segments: TaggedSegment[], unsure: [number, number, number][], languages: (string | null)[] }} */
const { segments, unsure, languages } = given();

/** @type {[string, RegExp, string[]][]} */
const LOOKS = [
  ["bold", /\b(x-)?bold\b|xlf:b\b/, ["b", "strong"]],
  ["italic", /\b(x-)?italics?\b|xlf:i\b/, ["i", "em", "cite", "var", "dfn"]],
  ["link", /\b(x-)?(link|url|html-a)\b/, ["a", "link"]],
  ["under", /\b(x-)?underlined?\b|xlf:u\b/, ["u", "ins"]],
  ["struck", /\bstrikethrough\b/, ["s", "del", "strike"]],
  ["mono", /(?!)/, ["code", "kbd", "samp", "tt", "key", "cmd", "file", "sys", "input"]],
];

// Characters of texts are counted as the program counts them, by code points.
const texts = segments.map((segment) => segment.sides.map((side) => Array.from(side)));

// What is decided of each unsure tag: where it is; by its place in `unsure`.
/** @type {Record<number, Place>} */
let decided = {};
let current = 0;

// Decisions stay in the browser until the page of another document, or of other tags, is opened.
const KEPT = `aligner tags ${Array.from($("data").textContent ?? "").reduce((hash, c) => (hash * 31 + (c.codePointAt(0) ?? 0)) % 4294967291, 7)}`;
try {
  decided = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
} catch {
  decided = {};
}

/** @type {(item: number) => { segment: TaggedSegment, number: number, tag: GivenTag, place: Place }} */
function about(item) {
  const [, index, number] = unsure[item];
  const segment = segments[index];
  const tag = segment.tags[number];
  return { segment, number, tag, place: decided[item] ?? [tag[5], tag[6]] };
}

// Where all tags of a segment are: those that are decided elsewhere too.
/** @type {(index: number) => Place[]} */
function placesIn(index) {
  const places = segments[index].tags.map((tag) => /** @type {Place} */ ([tag[5], tag[6]]));
  for (const [item, place] of Object.entries(decided)) {
    const [, of, number] = unsure[Number(item)];
    if (of === index) places[number] = place;
  }
  return places;
}

/** @type {(tag: GivenTag) => string} */
function look([name, opening]) {
  const found = LOOKS.find(([, values, names]) => names.includes(name.toLowerCase()) || values.test(opening));
  return found ? found[0] : "other";
}

// A text as its tags would show it; the one at hand is marked.
/** @type {(points: string[], tags: GivenTag[], places: Place[], here: number) => HTMLElement[]} */
function rendered(points, tags, places, here) {
  const cuts = [...new Set([0, points.length, ...places.flat()])].sort((one, other) => one - other);
  return cuts.flatMap((cut, n) => {
    const codes = tags.flatMap((tag, number) => {
      const [start, end] = places[number];
      if (start !== cut || end !== cut) return [];
      return html("span", { class: number === here ? "code here" : "code" }, visible(shortened(tag[1], 24)));
    });
    const over = tags.flatMap((_, number) => (places[number][0] <= cut && places[number][1] > cut ? number : []));
    const text = visible(points.slice(cut, cuts[n + 1] ?? cut).join(""));
    const names = over.map((number) => look(tags[number])).join(" ");
    const run = text ? html(over.includes(here) ? "mark" : "span", { class: names, "data-start": cut }, text) : [];
    return [...codes, run].flat();
  });
}

/** @type {(points: string[], place: Place) => string} */
const words = (points, [start, end]) => points.slice(start, end).join("");

function show() {
  const [confidence, index] = unsure[current];
  const { segment, number, tag, place } = about(current);
  const [source, target] = texts[index];
  const sourcePlaces = segment.tags.map((one) => /** @type {Place} */ ([one[3], one[4]]));
  $("title").textContent = `${current + 1} of ${unsure.length.toLocaleString("en")}: ${visible(shortened(tag[1], 60))}`;
  const where = segment.name ? `line ${segment.line}, ${segment.name}` : `line ${segment.line}`;
  const certain = `${Math.round(100 * confidence)} % certain`;
  $("where").textContent = `${where} · ${certain}${current in decided ? " · decided" : ""}`;
  const sides = [rendered(source, segment.tags, sourcePlaces, number)];
  sides.push(rendered(target, segment.tags, placesIn(index), number));
  $("sides").replaceChildren(
    ...sides.map((runs, side) =>
      html("p", { class: side ? "marked target" : "marked", lang: languages[side], dir: "auto" }, runs),
    ),
  );
  $("said").textContent = tag[2] && place[0] < place[1] ? `Around: ${visible(words(target, place))}` : "At a place";
  for (const row of $("list").querySelectorAll("button")) {
    row.setAttribute("aria-current", `${Number(row.dataset.item) === current}`);
  }
  listed(current);
}

/** @type {(item: number) => Child[]} */
function cells(item) {
  const { tag, place } = about(item);
  const [source, target] = texts[unsure[item][1]];
  const state = !(item in decided) ? "" : place[0] === tag[5] && place[1] === tag[6] ? "right" : "moved";
  return [
    html("span", { class: "number" }, `${item + 1}`),
    html("code", {}, visible(shortened(tag[1]))),
    html("bdi", { lang: languages[0] }, visible(words(source, [tag[3], tag[4]]))),
    html("bdi", { lang: languages[1] }, visible(words(target, place))),
    html("span", { class: "number" }, state),
  ];
}

/** @type {(item: number) => void} */
function listed(item) {
  const row = $("list").querySelector(`[data-item="${item}"]`);
  if (row) row.replaceChildren(.../** @type {Node[]} */ (cells(item)));
}

function addRows() {
  const shown = $("list").childElementCount;
  const last = Math.min(shown + MOST_ROWS, unsure.length);
  for (let item = shown; item < last; item++) {
    const row = html("button", { type: "button", "data-item": item, click: () => go(item) }, cells(item));
    $("list").append(html("li", {}, row));
  }
  $("more").hidden = last >= unsure.length;
}

/** @type {(item: number) => void} */
function go(item) {
  current = clamp(item, 0, unsure.length - 1);
  show();
  $("tag").focus();
}

/** @type {(place: Place | null) => void} */
function decide(place) {
  if (place) decided[current] = place;
  else delete decided[current];
  try {
    localStorage.setItem(KEPT, JSON.stringify(decided));
  } catch {
    // Without a store of the browser they last as long as the page.
  }
  show();
}

// The tokens that a tag is around, from the first to the end; or before which it is.
/** @type {() => Place} */
function tokensOf() {
  const { segment, place } = about(current);
  const first = segment.tokens.findIndex(([, end]) => end > place[0]);
  const start = first < 0 ? segment.tokens.length : first;
  return [start, Math.max(start, segment.tokens.filter(([begin]) => begin < place[1]).length)];
}

// Puts the tag at hand around tokens; a code before the first of them.
/** @type {(start: number, end: number) => void} */
function put(start, end) {
  const { segment, tag } = about(current);
  const { tokens } = segment;
  const length = texts[unsure[current][1]][1].length;
  if (!tokens.length) return;
  if (tag[2]) {
    const first = clamp(start, 0, tokens.length - 1);
    const last = clamp(end, first + 1, tokens.length);
    decide([tokens[first][0], tokens[last - 1][1]]);
  } else {
    const place = start < tokens.length ? tokens[Math.max(start, 0)][0] : length;
    decide([place, place]);
  }
}

/** @type {(step: number, moves: "start" | "end") => void} */
function move(step, moves) {
  const [start, end] = tokensOf();
  const { tag } = about(current);
  if (!tag[2]) put(start + step, start + step);
  else if (moves === "start") put(start + step, Math.max(end, start + step + 1));
  else put(Math.min(start, Math.max(end + step - 1, 0)), end + step);
}

function save() {
  const rows = Object.keys(decided).map((item) => {
    const { segment, number, tag, place } = about(Number(item));
    return [segment.pair, number, ...place, segment.sides[1], tag[1]].map(cell).join("\t");
  });
  const table = ["pair\tnumber\tstart\tend\ttext\ttag", ...rows, ""].join("\n");
  const file = URL.createObjectURL(new Blob([table], { type: "text/tab-separated-values" }));
  const anchor = html("a", { href: file, download: "corrected.tsv" });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(file), 60000);
  $("said").textContent = `Saved in corrected.tsv: ${rows.length} of ${unsure.length}. Run the same command with --corrected corrected.tsv`;
}

// A cell of a table: what a spreadsheet would run has two apostrophes before it.
/** @type {(value: string | number) => string} */
function cell(value) {
  const text = `${value}`.replace(/[\t\r\n]+/g, " ");
  return typeof value === "string" && /^\s*(''\s*)*[-=+@]/.test(text) ? `''${text}` : text;
}

// The token under the mouse, or the nearest one.
/** @type {(event: PointerEvent) => number | null} */
function tokenAt(event) {
  const target = /** @type {Element} */ (event.target);
  if (!target.closest(".target")) return null;
  const range = caretAt(event.clientX, event.clientY);
  const run = /** @type {HTMLElement | null} */ (range?.node.parentElement?.closest("[data-start]") ?? null);
  if (!range || !run) return null;
  const place = Number(run.dataset.start) + Array.from((range.node.textContent ?? "").slice(0, range.offset)).length;
  const { tokens } = about(current).segment;
  const found = tokens.findIndex(([, end]) => end >= place);
  return found < 0 ? tokens.length - 1 : found;
}

/** @type {(x: number, y: number) => { node: Node, offset: number } | null} */
function caretAt(x, y) {
  const page = /** @type {any} */ (document);
  if (page.caretPositionFromPoint) {
    const found = page.caretPositionFromPoint(x, y);
    return found && { node: found.offsetNode, offset: found.offset };
  }
  const found = page.caretRangeFromPoint(x, y);
  return found && { node: found.startContainer, offset: found.startOffset };
}

/** @type {number | null} */
let dragged = null;
/** @type {(event: PointerEvent) => void} */
function drag(event) {
  const token = tokenAt(event);
  if (token !== null && dragged !== null) put(Math.min(dragged, token), Math.max(dragged, token) + 1);
}

/** @type {Record<string, (event: KeyboardEvent) => void>} */
const KEYS = {
  j: () => go(current + 1),
  k: () => go(current - 1),
  u: () => decide(null),
  s: save,
  "?": () => $("help").showModal(),
  Enter: confirm,
  ArrowLeft: (event) => arrow(event, -1),
  ArrowRight: (event) => arrow(event, 1),
};

function confirm() {
  decide(about(current).place);
  go(current + 1);
}

// An arrow moves to where it points, also in text from right to left.
/** @type {(event: KeyboardEvent, step: number) => void} */
function arrow(event, step) {
  const target = $("sides").lastElementChild;
  const back = target && getComputedStyle(target).direction === "rtl";
  move(back ? -step : step, event.shiftKey ? "start" : "end");
}

/** @type {(event: KeyboardEvent) => void} */
function keydown(event) {
  const on = /** @type {Element} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || on.closest("dialog")) return;
  if (event.key === "Enter" && on.closest("button")) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act(event);
}

fill($("sides"), {
  pointerdown: (/** @type {PointerEvent} */ event) => {
    dragged = tokenAt(event);
    drag(event);
  },
  pointermove: drag,
});
document.addEventListener("pointerup", () => (dragged = null));
document.addEventListener("keydown", keydown);
/** @type {[string, () => void][]} */
const BUTTONS = [
  ["previous", () => go(current - 1)],
  ["next", () => go(current + 1)],
  ["right", confirm],
  ["undo", () => decide(null)],
  ["save", save],
  ["keys", () => $("help").showModal()],
  ["more", addRows],
];
for (const [name, act] of BUTTONS) $(name).addEventListener("click", act);
addRows();
if (unsure.length) show();
else $("tag").hidden = true;
document.body.dataset.ready = "yes";
