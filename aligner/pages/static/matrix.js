// A pair as a matrix: a row for each source word, a column for each target word; words stay in view while it is scrolled.

import { fill, svg } from "./dom.js";
import { labelled, linkElement, opacityOf, pictureOf, wordElement } from "./lines.js";
import { markOf } from "./links.js";

const CELL = 26; // pixels

/** @type {(pair: Pair, options: Options, available: number, measure: Measure) => Drawn} */
export function drawMatrix(pair, options, available, measure) {
  const most = Math.min(0.4 * available, 260); // pixels of a word, so that cells are in sight
  const [rows, columns] = [pair.source, pair.target].map((words) => labelled(words, measure, most));
  const widest = (/** @type {Label[]} */ side) => Math.max(...side.map((word) => word.width), 0);
  const slope = columns.every((word) => word.width <= CELL - 4) ? 0 : 60; // degrees; what is narrow stands upright
  const lean = (Math.PI * slope) / 180;
  const left = widest(rows) + 22;
  const top = slope ? widest(columns) * Math.sin(lean) + 24 : 34;
  const width = left + CELL * columns.length + widest(columns) * Math.cos(lean) * (slope ? 1 : 0) + 12;
  const height = top + CELL * rows.length + 8;
  const ends = [left + CELL * columns.length, top + CELL * rows.length];

  const grid = [];
  for (let j = 0; j <= rows.length; j++) grid.push(`M${left} ${top + CELL * j}H${ends[0]}`);
  for (let k = 0; k <= columns.length; k++) grid.push(`M${left + CELL * k} ${top}V${ends[1]}`);
  const several = options.shown.mode === "all" ? options.systems.length : 0;
  const links = pair.links.map((link) => {
    const [x, y] = [left + CELL * (link.target + 0.5), top + CELL * (link.source + 0.5)];
    const box = { x: x - CELL / 2 + 1, y: y - CELL / 2 + 1, width: CELL - 2, height: CELL - 2 };
    const cell = svg("rect", { class: `cell ${link.kind}`, ...box });
    return linkElement(link, { opacity: opacityOf(link) }, cell, markOf(link, x, y, several));
  });
  const rowWords = rows.map((word, j) => wordElement({ ...word, x: left - 12, y: top + CELL * j + 18 }, "end"));
  const columnWords = columns.map((word, k) => {
    const x = left + CELL * (k + 0.5);
    if (!slope) return wordElement({ ...word, x, y: top - 10 }, "middle");
    const group = wordElement({ ...word, x: 0, y: 0 }, "start");
    group.setAttribute("transform", `translate(${x + 5},${top - 10}) rotate(${-slope})`);
    return group;
  });
  const band = () => svg("rect", { class: "band", visibility: "hidden" });
  const bands = [band(), band()];
  const paper = (/** @type {Attributes} */ size) => svg("rect", { class: "paper", ...size });
  const rowHead = svg(
    "g",
    { class: "side source", lang: pair.languages?.[0] },
    paper({ width: left - 2, height }),
    rowWords,
  );
  const columnHead = svg(
    "g",
    { class: "side target", lang: pair.languages?.[1] },
    paper({ width, height: top - 2 }),
    columnWords,
  );
  const corner = paper({ width: left - 2, height: top - 2 });
  const lines = svg("path", { class: "grid", d: grid.join("") });
  const parts = [bands, lines, svg("g", {}, links), rowHead, columnHead, corner];
  const picture = pictureOf(width, height, "matrix", ...parts);

  // The words follow the part of the picture that a scroller shows.
  /** @type {Matrix["stay"]} */
  const stay = (scroller) => {
    scroller.addEventListener("scroll", () => {
      const [x, y] = [scroller.scrollLeft, scroller.scrollTop];
      rowHead.setAttribute("transform", `translate(${x},0)`);
      columnHead.setAttribute("transform", `translate(0,${y})`);
      corner.setAttribute("transform", `translate(${x},${y})`);
    });
  };
  /** @type {Matrix["cell"]} */
  const cell = (event) => {
    const box = picture.getBoundingClientRect();
    const [j, k] = [(event.clientY - box.top - top) / CELL, (event.clientX - box.left - left) / CELL].map(Math.floor);
    return j >= 0 && j < rows.length && k >= 0 && k < columns.length ? [j, k] : null;
  };
  /** @type {Matrix["place"]} */
  const place = (j, k) => ({ x: left + CELL * k, y: top + CELL * j, width: CELL, height: CELL });
  // Null hides a bar.
  /** @type {Matrix["cross"]} */
  const cross = (j, k) => {
    const places = [
      { x: left, y: top + CELL * (j ?? 0), width: ends[0] - left, height: CELL },
      { x: left + CELL * (k ?? 0), y: top, width: CELL, height: ends[1] - top },
    ];
    [j, k].forEach((index, n) => {
      bands[n].setAttribute("visibility", index === null ? "hidden" : "visible");
      if (index !== null) fill(bands[n], places[n]);
    });
  };
  return { picture, words: [rowWords, columnWords], links, matrix: { stay, cell, place, cross } };
}
