// The picture of one pair, with its legend and its table. Hovering or focusing a word lights its links and the words at
// their ends; arrow keys move along a side, and between the sides along links. Knows nothing of the page; needs drawing.css.

import { fill, html, tableBehind, visible } from "./dom.js";
import { drawLines, measureLike, runsLeftwards } from "./lines.js";
import { labelOf, legendOf } from "./links.js";
import { drawMatrix } from "./matrix.js";

// Draw a pair into an element, in place of what is there.
//
// pair: the words of both sides, their languages as codes, and the links, see `judge` and KINDS
// options: view; label: a name for the picture; systems: their names; shown: as of `judge`;
//     onword: called with (side, index) for a word that is clicked, or entered by the keyboard; side 0 is the source
// Gives the picture, what lights a word or a cell of a matrix, and what focuses a word.
/** @type {(container: Element, pair: Pair, options: Options) => Picture} */
export function draw(container, pair, options) {
  container.replaceChildren();
  const scroller = html("div", { class: "picture", tabindex: 0, role: "group", "aria-label": "Picture, scrolls" });
  const said = html("p", { class: "said", "aria-hidden": "true" });
  const legend = legendOf(pair.links, options);
  container.append(scroller, said, legend, linksTable(pair, options));
  if (!pair.source.length && !pair.target.length) {
    scroller.append(html("p", { class: "nothing" }, "An empty pair."));
    return { svg: null, light() {}, unlight() {}, focus() {}, point() {} };
  }
  const available = scroller.clientWidth || 800;
  const drawing = options.view === "matrix" ? drawMatrix : drawLines;
  const drawn = drawing(pair, options, available, measureLike(container));
  const { picture, words, links } = drawn;
  picture.classList.add("drawing");
  fill(picture, { role: "group", "aria-label": options.label ?? "Links of a sentence pair" }, []);
  scroller.append(picture);
  scroller.removeAttribute("tabindex"); // its words can be focused
  drawn.matrix?.stay(scroller);

  /** @type {number[][][]} */
  const ends = words.map((side) => side.map(() => []));
  pair.links.forEach((link, n) => {
    ends[0][link.source].push(n);
    ends[1][link.target].push(n);
  });

  /** @type {Element[]} */
  let lit = [];
  const unlight = () => {
    for (const element of lit) element.classList.remove("lit", "here");
    lit = [];
    picture.classList.remove("dim");
    drawn.matrix?.cross(null, null);
    said.replaceChildren();
  };
  const shine = (/** @type {Element} */ element, name = "lit") => {
    element.classList.add("lit", name);
    lit.push(element);
  };
  /** @type {Picture["light"]} */
  const light = (side, index) => {
    unlight();
    picture.classList.add("dim");
    shine(words[side][index], "here");
    for (const n of ends[side][index]) {
      shine(links[n]);
      shine(words[1 - side][side ? pair.links[n].source : pair.links[n].target]);
    }
    drawn.matrix?.cross(side ? null : index, side ? index : null);
    said.append(...describeWord(pair, side, index, ends[side][index], options));
  };

  let current = words[words[0].length ? 0 : 1][0];
  const focus = (element = current) => {
    current.setAttribute("tabindex", "-1");
    current = element;
    current.setAttribute("tabindex", "0");
    current.focus();
  };
  words.forEach((those, side) =>
    those.forEach((element, index) => {
      const enter = () => options.onword?.(side, index);
      fill(
        element,
        {
          role: "button",
          tabindex: -1,
          "aria-label": spokenWord(pair, side, index, ends[side][index], options),
          "data-side": side ? "target" : "source",
          "data-index": index,
          mouseenter: () => light(side, index),
          mouseleave: unlight,
          focus: () => light(side, index),
          blur: unlight,
          click: enter,
          keydown: (event) => {
            const next = neighbour(event.key, side, index);
            if (next) focus(next);
            else if (event.key === "Enter" || event.key === " ") enter();
            else return;
            event.preventDefault();
            event.stopPropagation();
          },
        },
        [],
      );
    }),
  );
  current.setAttribute("tabindex", "0");

  // Along a side by the keys of its direction, across by the others.
  /** @type {(key: string, side: number, index: number) => SVGElement | undefined} */
  function neighbour(key, side, index) {
    /** @type {Record<string, Cell>} */
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (key === "Home" || key === "End") return words[side].at(key === "Home" ? 0 : -1);
    if (!(key in steps)) return undefined;
    let [x, y] = steps[key];
    const layout = picture.dataset.layout;
    if (layout === "down" || (layout === "matrix" && side === 0)) [x, y] = [y, x];
    if (layout === "across" && runsLeftwards(side ? pair.target : pair.source)) x = -x;
    if (x) return words[side][index + x] ?? words[side][index];
    if (layout === "matrix" ? y > 0 === Boolean(side) : y < 0 === (side === 0)) return words[side][index];
    const link = ends[side][index][0];
    const other = link === undefined ? index : side ? pair.links[link].source : pair.links[link].target;
    return words[1 - side][Math.min(other, words[1 - side].length - 1)] ?? words[side][index];
  }

  /** @type {Picture["point"]} */
  const point = (j, k) => {
    unlight();
    for (const element of [words[0][j], words[1][k]]) shine(element, "here");
    drawn.matrix?.cross(j, k);
    const link = pair.links.find((those) => those.source === j && those.target === k);
    said.append(...wordsOf(pair, 0, j), " – ", ...wordsOf(pair, 1, k), link ? `: ${describeKind(link, options)}` : "");
  };
  const { matrix } = drawn;
  if (matrix) {
    const mousemove = (/** @type {any} */ event) => {
      if (event.target.closest(".word")) return;
      const cell = matrix.cell(event);
      if (cell) point(...cell);
      else unlight();
    };
    fill(picture, { mousemove, mouseleave: unlight });
  }
  return { svg: picture, light, unlight, focus: () => focus(), point, matrix };
}

// A word with its number among the equal ones, as they are seen: "the 2".
/** @type {(words: string[], index: number) => string} */
function nameOf(words, index) {
  const word = visible(words[index]);
  if (words.indexOf(words[index]) === words.lastIndexOf(words[index])) return word;
  return `${word} ${words.slice(0, index + 1).filter((other) => other === words[index]).length}`;
}

/** @type {(pair: Pair, side: number, index: number) => Node[]} */
const wordsOf = (pair, side, index) => [
  html("bdi", { lang: pair.languages?.[side] }, nameOf(side ? pair.target : pair.source, index)),
];

/** @type {(link: Link, options: Options) => string} */
function describeKind(link, options) {
  return labelOf(link.kind, options) + (link.probability === null ? "" : `, ${(100 * link.probability).toFixed(0)} %`);
}

/** @type {(pair: Pair, side: number, index: number, numbers: number[], options: Options) => (Node | string)[]} */
function describeWord(pair, side, index, numbers, options) {
  const found = numbers.map((n) => {
    const link = pair.links[n];
    return [...wordsOf(pair, 1 - side, side ? link.source : link.target), ` (${describeKind(link, options)})`];
  });
  const rest = found.length ? found.flatMap((parts, n) => (n ? [", ", ...parts] : parts)) : ["no link"];
  return [...wordsOf(pair, side, index), " – ", ...rest];
}

/** @type {(pair: Pair, side: number, index: number, numbers: number[], options: Options) => string} */
function spokenWord(pair, side, index, numbers, options) {
  return describeWord(pair, side, index, numbers, options)
    .map((part) => (typeof part === "string" ? part : part.textContent))
    .join("");
}

/** @type {(pair: Pair, options: Options) => HTMLElement} */
function linksTable(pair, options) {
  const systems = options.shown.mode === "one" ? [] : options.systems;
  const head = ["Source", "Target", "Link", "Probability", ...systems];
  const rows = () =>
    pair.links.map((link) => [
      `${link.source + 1} ${visible(pair.source[link.source])}`,
      `${link.target + 1} ${visible(pair.target[link.target])}`,
      labelOf(link.kind, options),
      link.probability === null ? "–" : link.probability.toFixed(4),
      ...systems.map((_, n) => (link.found[n] ? "yes" : "no")),
    ]);
  return tableBehind("Links, by the numbers of their words", head, rows);
}
