// Kinds of links, and the marks that tell them apart without colours; at: where along a curve the mark is.

import { html, svg } from "./dom.js";

/** @type {Record<Kind, { label: string, mark: string, at?: number }>} */
export const KINDS = {
  link: { label: "link", mark: "square" },
  sure: { label: "sure", mark: "square" },
  possible: { label: "possible", mark: "disc" },
  suggested: { label: "suggested", mark: "frame" },
  right: { label: "right", mark: "square" },
  allowed: { label: "right, possible in gold", mark: "disc", at: 0.5 },
  wrong: { label: "wrong", mark: "cross", at: 0.36 },
  missed: { label: "missed, sure in gold", mark: "frame", at: 0.64 },
  open: { label: "possible in gold, not found", mark: "ring", at: 0.57 },
  first: { label: "only in the first", mark: "up", at: 0.4 },
  firstWrong: { label: "only in the first, wrong", mark: "upHollow", at: 0.4 },
  second: { label: "only in the second", mark: "down", at: 0.6 },
  secondWrong: { label: "only in the second, wrong", mark: "downHollow", at: 0.6 },
};

/** @type {Record<string, string>} */
const MARKS = {
  square: "M-5-5h10v10h-10z",
  disc: "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0z",
  cross: "M-5-5L5 5M-5 5L5-5",
  frame: "M-4.5-4.5h9v9h-9z",
  ring: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
  up: "M0-6L6 5H-6z",
  upHollow: "M0-5.5L5.5 4.5H-5.5z",
  down: "M0 6L6-5H-6z",
  downHollow: "M0 5.5L5.5-4.5H-5.5z",
};

/** @type {Record<string, string>} */
const OUTLINES = { right: "frame", missed: "frame", allowed: "ring", open: "ring", wrong: "ring", link: "frame" };

// The mark of a link at a place: that of its kind, or where several systems are drawn, a small one for each, an outline
// where it does not have the link.
/** @type {(link: { kind: Kind, found?: boolean[] }, x: number | string, y: number | string, several: number) => SVGElement} */
export function markOf(link, x, y, several) {
  const { kind } = link;
  const place = `translate(${x},${y})`;
  if (!several) return svg("path", { class: `mark ${kind}`, d: MARKS[KINDS[kind].mark], transform: place });
  const columns = several > 2 ? 2 : several;
  const rows = Math.ceil(several / columns);
  const marks = Array.from({ length: several }, (_, n) => {
    const across = 9 * ((n % columns) - (columns - 1) / 2);
    const down = 9 * (Math.floor(n / columns) - (rows - 1) / 2);
    return smallMark(kind, link.found?.[n], across, down);
  });
  return svg("g", { class: `mark ${kind}`, transform: place }, marks);
}

/** @type {(kind: Kind, found: boolean | undefined, x: number, y: number) => SVGElement} */
function smallMark(kind, found, x, y) {
  const d = MARKS[found ? KINDS[kind].mark : OUTLINES[kind]];
  return svg("path", { class: found ? "small" : "small absent", d, transform: `translate(${x},${y}) scale(0.62)` });
}

// What is shown where there is one system.
/** @type {Shown} */
export const ONE = { mode: "one", system: 0, other: 0 };

// The links to draw of a pair, by their place.
//
// pair: {gold: [[source, target, sure]] or null, systems: [[[source, target, probability or null]]]}
// shown: {mode: "one", system}, {mode: "all"}, or {mode: "difference", system, other}
/** @type {(pair: Judged, shown: Shown) => Link[]} */
export function judge(pair, shown) {
  /** @type {Map<string, { source: number, target: number, gold: number, found: boolean[], probabilities: (number | null)[] }>} */
  const links = new Map();
  const at = (/** @type {number} */ source, /** @type {number} */ target) => {
    const place = `${source}-${target}`;
    if (!links.has(place)) links.set(place, { source, target, gold: 0, found: [], probabilities: [] });
    return /** @type {NonNullable<ReturnType<typeof links.get>>} */ (links.get(place));
  };
  for (const [source, target, sure] of pair.gold ?? []) at(source, target).gold = sure ? 2 : 1;
  pair.systems.forEach((those, n) => {
    for (const [source, target, probability] of those) {
      const link = at(source, target);
      link.found[n] = true;
      link.probabilities[n] = probability;
    }
  });
  /** @type {Link[]} */
  const drawn = [];
  const all = shown.mode === "all";
  const those = all ? pair.systems.map((_, n) => n) : [shown.system, ...(shown.mode === "one" ? [] : [shown.other])];
  for (const link of links.values()) {
    const found = pair.systems.map((_, n) => Boolean(link.found[n]));
    const kind = kindOf(link.gold, found, pair.gold !== null, shown);
    if (kind === null) continue;
    /** @type {number | null} */
    let probability = null;
    for (const n of those) {
      const p = link.probabilities[n] ?? null;
      if (p !== null && (probability === null || (all && p > probability))) probability = p;
    }
    drawn.push({ source: link.source, target: link.target, kind, probability, found });
  }
  return drawn.sort((a, b) => a.source - b.source || a.target - b.target);
}

/** @type {(gold: number, found: boolean[], judged: boolean, shown: Shown) => Kind | null} */
function kindOf(gold, found, judged, shown) {
  const one = shown.mode === "all" ? found.some(Boolean) : found[shown.system];
  if (shown.mode === "difference" && one !== found[shown.other]) {
    if (judged && gold === 0) return one ? "firstWrong" : "secondWrong";
    return one ? "first" : "second";
  }
  if (!judged) return one ? "link" : null;
  /** @type {(Kind | null)[]} */
  const kinds = one ? ["wrong", "allowed", "right"] : [null, "open", "missed"];
  return kinds[gold];
}

// What a kind is called where these systems are shown.
/** @type {(kind: Kind, options: Options) => string} */
export function labelOf(kind, { systems, shown }) {
  return KINDS[kind].label.replace(/the (first|second)/, (_, n) => systems[n === "first" ? shown.system : shown.other]);
}

// What each kind of link in a picture looks like, as lines with marks or as marks alone.  options: as of `draw`
/** @type {(links: Link[], options: Options) => HTMLElement} */
export function legendOf(links, options) {
  const several = options.shown.mode === "all" ? options.systems.length : 0;
  const lines = options.view === "lines";
  const [x, y] = [lines ? 17 : 9, 9];
  const sample = (/** @type {Kind} */ kind) => {
    const isFound = kind !== "missed" && kind !== "open";
    if (several) return svg("g", { class: `mark ${kind}` }, smallMark(kind, isFound, x, y));
    return lines && !("at" in KINDS[kind]) ? null : markOf({ kind }, x, y, 0);
  };
  const items = /** @type {Kind[]} */ (Object.keys(KINDS))
    .filter((kind) => links.some((link) => link.kind === kind))
    .map((kind) => {
      const line = lines ? svg("path", { class: `line ${kind}`, d: "M1 9H33" }) : null;
      const picture = svg("svg", { width: 2 * x, height: 18, "aria-hidden": "true" }, line, sample(kind));
      return html("li", { "data-kind": kind }, picture, labelOf(kind, options));
    });
  if (several)
    items.push(
      html("li", {}, `small marks: ${options.systems.join(", ")}; an outline where it does not have the link`),
    );
  return html("ul", { class: "legend", "aria-label": "Legend" }, items);
}
