// What has been made of a pair, how it changes, and how a mouse chooses cells; knows nothing of the page.

import { fill, svg } from "./dom.js";

/** @type {Made[]} */
const LINK_KINDS = ["sure", "possible", "suggested"];

// What a link becomes when it is changed: a suggestion is taken away first.
/** @type {Record<LinkKind, LinkKind>} */
export const NEXT_KIND = { none: "sure", sure: "possible", possible: "none", suggested: "none" };

export class Annotation {
  // given: as the server has it, see `Annotation` in aligner/pages/annotate/annotation.py
  /** @param {GivenAnnotation} given */
  constructor(given) {
    /** @type {Map<string, Made>} */
    this.kinds = new Map();
    for (const kind of LINK_KINDS) for (const [j, k] of given[kind]) this.kinds.set(`${j}-${k}`, kind);
    /** @type {Set<number>[]} */
    this.null = given.null.map((side) => new Set(side));
    this.status = given.status;
    this.flagged = given.flagged;
    this.comment = given.comment;
  }

  /** @type {() => GivenAnnotation} */
  toJSON() {
    const links = this.links();
    /** @type {(kind: Made) => Cell[]} */
    const of = (kind) => links.filter((link) => link.kind === kind).map(({ source, target }) => [source, target]);
    const { status, flagged, comment } = this;
    const kinds = { sure: of("sure"), possible: of("possible"), suggested: of("suggested") };
    return { ...kinds, null: this.null.map((side) => [...side]), status, flagged, comment };
  }

  /** @type {() => Placed[]} */
  links() {
    return [...this.kinds].map(([place, kind]) => {
      const [source, target] = place.split("-").map(Number);
      return { source, target, kind };
    });
  }

  /** @type {(j: number, k: number) => LinkKind} */
  kind(j, k) {
    return this.kinds.get(`${j}-${k}`) ?? "none";
  }

  /** @type {(j: number, k: number, kind: LinkKind) => void} */
  set(j, k, kind) {
    if (kind === "none") this.kinds.delete(`${j}-${k}`);
    else {
      this.kinds.set(`${j}-${k}`, kind);
      this.null[0].delete(j);
      this.null[1].delete(k);
    }
  }

  /** @type {(side: number, index: number) => void} */
  clearWord(side, index) {
    for (const { source, target } of this.links())
      if ((side ? target : source) === index) this.set(source, target, "none");
  }

  clear() {
    this.kinds.clear();
    for (const side of this.null) side.clear();
  }

  // A word translates nothing, or may again.
  /** @type {(side: number, index: number) => void} */
  turnNull(side, index) {
    if (this.null[side].delete(index)) return;
    this.clearWord(side, index);
    this.null[side].add(index);
  }

  // Suggestions of at least this probability are sure, the others go.
  /** @type {(least: number, scores: Map<string, number>) => void} */
  keepAbove(least, scores) {
    for (const { source, target, kind } of this.links())
      if (kind === "suggested")
        this.set(source, target, (scores.get(`${source}-${target}`) ?? 0) >= least ? "sure" : "none");
  }
}

// The links to draw of a work, with the probabilities of what is suggested; and of two annotators, between whom it
// decides, those that only one has.
/** @type {(work: Annotation, sides: GivenAnnotation[], scores: Map<string, number>) => Link[]} */
export function drawnLinks(work, sides, scores) {
  const others = sides.map((side) => new Annotation(side));
  const found = (/** @type {number} */ j, /** @type {number} */ k) => others.map((side) => side.kind(j, k) !== "none");
  /** @type {Link[]} */
  const links = work.links().map((link) => {
    const score = link.kind === "suggested" ? scores.get(`${link.source}-${link.target}`) : undefined;
    return { ...link, probability: score ?? null, found: found(link.source, link.target) };
  });
  others.forEach((side, n) => {
    for (const { source, target } of side.links()) {
      const has = found(source, target);
      if (work.kind(source, target) === "none" && !has[1 - n])
        links.push({ source, target, kind: n ? "second" : "first", probability: null, found: has });
    }
  });
  return links.sort((a, b) => a.source - b.source || a.target - b.target);
}

// A drag over a block of cells of a drawn matrix, or a click on one: done(first, last).
/** @type {(picture: SVGElement, matrix: Matrix, focused: HTMLElement, done: (first: Cell, last: Cell) => void) => void} */
export function listenToDrags(picture, matrix, focused, done) {
  /** @type {{ first: Cell, last: Cell } | null} */
  let block = null;
  const mark = svg("rect", { class: "block", visibility: "hidden" });
  fill(
    picture,
    {
      pointerdown: (event) => {
        const cell = event.button || event.target.closest(".word, .paper") ? null : matrix.cell(event);
        block = cell && { first: cell, last: cell };
        if (!cell) return;
        event.preventDefault();
        focused.focus({ preventScroll: true });
      },
      pointermove: (event) => {
        if (!block) return;
        block.last = matrix.cell(event) ?? block.last;
        const [a, b] = [matrix.place(...block.first), matrix.place(...block.last)];
        const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)];
        const size = { width: Math.abs(b.x - a.x) + a.width, height: Math.abs(b.y - a.y) + a.height };
        fill(mark, { visibility: "visible", x, y, ...size });
      },
      pointerup: () => {
        if (block) done(block.first, block.last);
        block = null;
      },
      pointerleave: () => {
        block = null;
        mark.setAttribute("visibility", "hidden");
      },
    },
    [mark],
  );
}
