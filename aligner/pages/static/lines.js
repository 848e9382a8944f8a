// A pair as two lines of words with curves between those that are linked: across the page where it fits and both run
// in one direction, else down.

import { shortened, sum, svg, visible } from "./dom.js";
import { KINDS, markOf } from "./links.js";

const LETTER = 16; // pixels
const NEAREST = 70; // pixels between the words of both sides, one above the other

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// Whether most words of a sentence that have letters are of a script that runs from right to left.
/** @type {(words: string[]) => boolean} */
export function runsLeftwards(words) {
  const letters = words.filter((word) => /\p{L}/u.test(word));
  return 2 * letters.filter((word) => RIGHT_TO_LEFT.test(word)).length > letters.length;
}

// What is shown of each word, the number of a word that occurs several times, and how wide both are.  most: of a word
/** @type {(words: string[], measure: Measure, most?: number) => Label[]} */
export function labelled(words, measure, most = Infinity) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const seen = new Map();
  return words.map((word, index) => {
    seen.set(word, (seen.get(word) ?? 0) + 1);
    const number = counts.get(word) > 1 ? seen.get(word) : null;
    const whole = shortened(visible(word));
    let text = whole;
    for (let n = Array.from(whole).length - 1; n > 1 && measure(text) > most; n--) text = shortened(whole, n);
    const width = measure(text) + (number === null ? 0 : 1 + 6 * `${number}`.length);
    return { index, word, text, number, width, x: 0, y: 0, near: [0, 0] };
  });
}

// A function that tells the width of a text in the font of an element.
/** @type {(element: Element) => Measure} */
export function measureLike(element) {
  const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  context.font = `${LETTER}px ${getComputedStyle(element).fontFamily}`;
  const known = new Map();
  return (text) => {
    if (!known.has(text)) known.set(text, context.measureText(text).width);
    return known.get(text);
  };
}

// Places of words and curves: {width, height, across, sides: [[{x, y, near, ...label}]], curve(link), point(link, t)}.
/** @type {(pair: Pair, available: number, measure: Measure) => Places & Curves} */
function placeLines(pair, available, measure) {
  const sides = [pair.source, pair.target].map((words) => labelled(words, measure));
  const rows = sides.map((side) => sum(side.map((word) => word.width)) + 18 * (side.length - 1));
  const longest = Math.max(...rows, 0);
  // Two lines that run against each other would have all their curves cross.
  const across = runsLeftwards(pair.source) === runsLeftwards(pair.target) && longest + 24 <= available;
  const placed = across ? placeAcross(pair, sides, rows, longest, available) : placeDown(pair, sides, available, measure);
  const ends = (/** @type {Link} */ link) => [placed.sides[0][link.source].near, placed.sides[1][link.target].near];
  const knots = (/** @type {Link} */ link) => {
    const [[x, y], [u, v]] = ends(link);
    const [dx, dy] = placed.across ? [0, 0.55 * (v - y)] : [0.5 * (u - x), 0];
    const at = (/** @type {number[]} */ ...place) => place;
    return [at(x, y), at(x + dx, y + dy), at(u - dx, v - dy), at(u, v)];
  };
  const curve = (/** @type {Link} */ link) => {
    const [start, ...others] = knots(link).map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`);
    return `M${start}C${others.join(" ")}`;
  };
  /** @type {Curves["point"]} */
  const point = (link, t) => {
    const s = 1 - t;
    const weights = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];
    const along = (/** @type {number} */ axis) => sum(knots(link).map((knot, n) => weights[n] * knot[axis])).toFixed(1);
    return [along(0), along(1)];
  };
  return { ...placed, curve, point };
}

// Both lines are made equally long by wider blanks, up to a point.
/** @type {(pair: Pair, sides: Label[][], rows: number[], longest: number, available: number) => Places} */
function placeAcross(pair, sides, rows, longest, available) {
  const most = Math.max(...sides.map((side) => side.length));
  const wide = Math.min(longest + 30 * most, available - 24);
  const height = 175 + Math.min(2.2 * most, 90);
  const width = wide + 24;
  sides.forEach((side, n) => {
    const leftwards = runsLeftwards(n ? pair.target : pair.source);
    const spread = side.length > 1 ? Math.min((wide - rows[n]) / (side.length - 1), 60) : 0;
    const rest = wide - rows[n] - spread * Math.max(side.length - 1, 0);
    let x = 12 + rest / 2;
    for (const word of side) {
      word.x = leftwards ? width - x - word.width / 2 : x + word.width / 2;
      word.y = n ? height - 14 : 26;
      word.near = [word.x, n ? height - 34 : 36];
      x += word.width + 18 + spread;
    }
  });
  return { width, height, across: true, sides };
}

// Where that is wider than what is available the sides come nearer, and then long words are shortened.
/** @type {(pair: Pair, sides: Label[][], available: number, measure: Measure) => Places} */
function placeDown(pair, sides, available, measure) {
  const width = (/** @type {Label[]} */ side) => Math.max(...side.map((word) => word.width), 0);
  const room = available - 24 - NEAREST;
  if (sum(sides.map(width)) > room) {
    const [one, other] = sides.map(width);
    const least = Math.min(one, other, room / 2);
    sides = [pair.source, pair.target].map((words, n) =>
      labelled(words, measure, (n ? other : one) > least ? Math.max(room - least, room / 2) - 14 : Infinity),
    );
  }
  const widest = sides.map(width);
  const most = Math.max(...sides.map((side) => side.length));
  const height = 26 * most + 12;
  const gap = Math.min(Math.max(available - 24 - sum(widest), NEAREST), 170);
  sides.forEach((side, n) => {
    const step = Math.min(side.length ? (height - 12) / side.length : 0, 52);
    side.forEach((word, index) => {
      const edge = n ? widest[0] + gap + 12 : widest[0] + 12;
      word.x = n ? edge + word.width / 2 : edge - word.width / 2;
      word.y = 6 + step * (index + 0.5) + 5;
      word.near = [n ? edge - 7 : edge + 7, word.y - 5];
    });
  });
  return { width: widest[0] + gap + widest[1] + 24, height, across: false, sides };
}

// The picture, with its words and links as in the pair.
/** @type {(pair: Pair, options: Options, available: number, measure: Measure) => Drawn} */
export function drawLines(pair, options, available, measure) {
  const places = placeLines(pair, available, measure);
  const { width, height } = places;
  const several = options.shown.mode === "all" ? options.systems.length : 0;
  const links = pair.links.map((link, n) => {
    // Several marks stand near the source word, one behind the other for its links, so that none hides others.
    const rank = () => n - pair.links.findIndex(({ source }) => source === link.source);
    const at = several ? Math.min(0.2 + 0.15 * rank(), 0.8) : KINDS[link.kind].at;
    const line = svg("path", { class: `line ${link.kind}`, d: places.curve(link), "stroke-opacity": opacityOf(link) });
    return linkElement(link, {}, line, at ? markOf(link, ...places.point(link, at), several) : null);
  });
  const words = places.sides.map((side) => side.map((word) => wordElement(word, "middle")));
  const sides = words.map((side, n) =>
    svg("g", { class: n ? "side target" : "side source", lang: pair.languages?.[n] }, side),
  );
  return {
    picture: pictureOf(width, height, places.across ? "across" : "down", svg("g", {}, links), sides),
    words,
    links,
  };
}

/** @type {(link: Link) => string} */
export const opacityOf = ({ probability }) => (probability === null ? 1 : 0.25 + 0.75 * probability).toFixed(2);

/** @type {(link: Link, attributes: Attributes, ...parts: Child[]) => SVGElement} */
export const linkElement = ({ source, target, kind }, attributes, ...parts) =>
  svg("g", { class: "edge", "data-link": `${source}-${target}`, "data-kind": kind, ...attributes }, parts);

/** @type {(width: number, height: number, layout: string, ...parts: Child[]) => SVGElement} */
export function pictureOf(width, height, layout, ...parts) {
  const [w, h] = [width.toFixed(0), height.toFixed(0)];
  return svg("svg", { viewBox: `0 0 ${w} ${h}`, width: w, height: h, "data-layout": layout }, parts);
}

// A word with its number, on a ground that is seen when it is lit.
/** @type {(word: Label, anchor: "start" | "middle" | "end") => SVGElement} */
export function wordElement(word, anchor) {
  const left = anchor === "middle" ? word.x - word.width / 2 : anchor === "end" ? word.x - word.width : word.x;
  const ground = svg("rect", {
    class: "ground",
    x: (left - 5).toFixed(1),
    y: (word.y - 18).toFixed(1),
    width: (word.width + 10).toFixed(1),
    height: 25,
    rx: 5,
  });
  // The blank is for who hears it: what is read aloud has the word, and then its number.
  const number = word.number === null ? null : svg("tspan", { class: "number", dy: 4, dx: -1.5 }, ` ${word.number}`);
  const text = svg("text", { x: word.x.toFixed(1), y: word.y.toFixed(1), "text-anchor": anchor }, word.text, number);
  return svg("g", { class: "word" }, ground, text);
}
