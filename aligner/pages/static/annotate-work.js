// What has been made of a pair, how it changes, and how a mouse chooses cells; knows nothing of the page.

const LINK_KINDS = ["sure", "possible", "suggested"];

// What a link becomes when it is changed: a suggestion is taken away first.
const NEXT_KIND = { none: "sure", sure: "possible", possible: "none", suggested: "none" };

class Work {
  // given: as the server has it, see `Work` in aligner/pages/annotate/book.py
  constructor(given) {
    this.kinds = new Map();
    for (const kind of LINK_KINDS) for (const [j, k] of given[kind]) this.kinds.set(`${j}-${k}`, kind);
    this.null = given.null.map((side) => new Set(side));
    ({ status: this.status, flagged: this.flagged, comment: this.comment } = given);
  }

  toJSON() {
    const links = this.links();
    const of = (kind) => links.filter((link) => link.kind === kind).map(({ source, target }) => [source, target]);
    const { status, flagged, comment } = this;
    const kinds = Object.fromEntries(LINK_KINDS.map((kind) => [kind, of(kind)]));
    return { ...kinds, null: this.null.map((side) => [...side]), status, flagged, comment };
  }

  links() {
    return [...this.kinds].map(([place, kind]) => {
      const [source, target] = place.split("-").map(Number);
      return { source, target, kind };
    });
  }

  kind(j, k) {
    return this.kinds.get(`${j}-${k}`) ?? "none";
  }

  set(j, k, kind) {
    if (kind === "none") this.kinds.delete(`${j}-${k}`);
    else {
      this.kinds.set(`${j}-${k}`, kind);
      this.null[0].delete(j);
      this.null[1].delete(k);
    }
  }

  clearWord(side, index) {
    for (const { source, target } of this.links())
      if ((side ? target : source) === index) this.set(source, target, "none");
  }

  clear() {
    this.kinds.clear();
    for (const side of this.null) side.clear();
  }

  // A word translates nothing, or may again.
  turnNull(side, index) {
    if (this.null[side].delete(index)) return;
    this.clearWord(side, index);
    this.null[side].add(index);
  }

  // Suggestions of at least this probability are sure, the others go.
  keepAbove(least, scores) {
    for (const { source, target, kind } of this.links())
      if (kind === "suggested") this.set(source, target, scores.get(`${source}-${target}`) >= least ? "sure" : "none");
  }
}

// The links to draw of a work, with the probabilities of what is suggested; and of two annotators, between whom it
// decides, those that only one has.
function drawnLinks(work, sides, scores) {
  const others = sides.map((side) => new Work(side));
  const found = (j, k) => others.map((side) => side.kind(j, k) !== "none");
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

// A drag over a block of cells of a drawn matrix, or a click on one: done(first, last), each [j, k].
function listenToDrags(drawn, focused, done) {
  let start = null;
  let end = null;
  const mark = svg("rect", { class: "block", visibility: "hidden" });
  const showMark = () => {
    const corners = [0, 1].map((n) => [start[n], end[n]].sort((a, b) => a - b));
    const [a, b] = [0, 1].map((n) => drawn.place(corners[0][n], corners[1][n]));
    const size = { width: b.x + b.width - a.x, height: b.y + b.height - a.y };
    fill(mark, { visibility: "visible", x: a.x, y: a.y, ...size }, []);
  };
  const listeners = {
    pointerdown: (event) => {
      start = end = event.button || event.target.closest(".word, .paper") ? null : drawn.cell(event);
      if (!start) return;
      event.preventDefault();
      focused.focus({ preventScroll: true });
    },
    pointermove: (event) => {
      if (!start) return;
      end = drawn.cell(event) ?? end;
      showMark();
    },
    pointerup: () => {
      if (start) done(start, end);
      start = null;
    },
    pointerleave: () => {
      start = null;
      mark.setAttribute("visibility", "hidden");
    },
  };
  fill(drawn.svg, listeners, [mark]);
}
