// Words over all pairs: the pairs of words that are most often wrong or missed, and the concordance of two words.

import { counted, html, svg, table, visible } from "./dom.js";
import { KINDS, ONE, judge, markOf } from "./links.js";

const MOST_ROWS = 50;

// The pairs of words of wrong and of missed links, the most frequent first: {wrong: [[source, target, times]], missed}.
/** @type {(report: ReportData, system: number) => Record<string, Frequent[]>} */
function errorsByWords(report, system) {
  /** @type {Record<string, Map<string, number>>} */
  const tables = { wrong: new Map(), missed: new Map() };
  forEachLink(report, system, (_pair, words, link) => {
    if (!(link.kind in tables)) return;
    const key = `${words[0][link.source]} ${words[1][link.target]}`; // words have no blanks
    tables[link.kind].set(key, (tables[link.kind].get(key) ?? 0) + 1);
  });
  /** @type {(counts: Map<string, number>) => Frequent[]} */
  const rows = (counts) => {
    const sorted = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_ROWS);
    return sorted.map(([key, times]) => [key.split(" ")[0], key.split(" ")[1], times]);
  };
  return { wrong: rows(tables.wrong), missed: rows(tables.missed) };
}

// Call visit(pair, [source words, target words], link) for the links of a system and of gold, judged.
/** @type {(report: ReportData, system: number, visit: (pair: number, words: string[][], link: Link) => void, pairs?: number[]) => void} */
export function forEachLink(report, system, visit, pairs) {
  for (const i of pairs ?? Array.from({ length: report.pairs }, (_, n) => n)) {
    const words = [report.words(0, i), report.words(1, i)];
    for (const link of judge({ gold: report.goldOf(i), systems: [report.linksOf(system, i)] }, ONE))
      visit(i, words, link);
  }
}

// The links of a source word, of a target word, or between both: {links: [{pair, words, ...link}], pairs: both occur in}.
/** @type {(report: ReportData, system: number, source: string, target: string) => { links: Occurrence[], pairs: number }} */
function concordance(report, system, source, target) {
  const wanted = [source, target];
  const holds = (/** @type {number} */ i) =>
    wanted.every(
      (word, side) => !word || (report.lines[side][i].includes(word) && report.words(side, i).includes(word)),
    );
  const pairs = Array.from({ length: report.pairs }, (_, n) => n).filter(holds);
  /** @type {Occurrence[]} */
  const links = [];
  forEachLink(
    report,
    system,
    (pair, words, link) => {
      const ends = [words[0][link.source], words[1][link.target]];
      if (wanted.every((word, side) => !word || word === ends[side])) links.push({ pair, words, ...link });
    },
    pairs,
  );
  return { links, pairs: pairs.length };
}

// A word amid those around it.
/** @type {(words: string[], index: number, lang: string | null, around?: number) => HTMLElement} */
function inContext(words, index, lang, around = 6) {
  const from = Math.max(index - around, 0);
  const before = words.slice(from, index).map(visible).join(" ");
  const after = words
    .slice(index + 1, index + 1 + around)
    .map(visible)
    .join(" ");
  const dots = [from > 0 ? "… " : "", index + 1 + around < words.length ? " …" : ""];
  return html(
    "bdi",
    { dir: "auto", lang },
    `${dots[0]}${before} `,
    html("mark", {}, visible(words[index])),
    ` ${after}${dots[1]}`,
  );
}

// The part of the page about words.  goto: called with a pair to show.
export class Words {
  /** @param {HTMLElement} panel @param {ReportData} report @param {(pair: number) => void} goto */
  constructor(panel, report, goto) {
    this.report = report;
    this.goto = goto;
    this.system = 0;
    /** @type {(selector: string) => any} */
    this.one = (selector) => panel.querySelector(selector);
    /** @type {HTMLInputElement[]} */
    this.inputs = ["source", "target"].map((side) => this.one(`[name=${side}-word]`));
    this.one("form").addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.search();
    });
  }

  /** @type {(system: number) => void} */
  show(system) {
    this.system = system;
    const frequent = this.one(".frequent");
    frequent.replaceChildren();
    if (this.report.gold) {
      const found = errorsByWords(this.report, system);
      const name = this.report.names[system];
      frequent.append(
        this.frequent(`Most often wrong in ${name}`, found.wrong),
        this.frequent(`Most often missed in ${name}`, found.missed),
      );
    }
    if (this.inputs.some((input) => input.value)) this.search();
  }

  /** @type {(caption: string, rows: Frequent[]) => HTMLElement} */
  frequent(caption, rows) {
    /** @type {(source: string, target: string) => HTMLElement} */
    const button = (source, target) =>
      html(
        "button",
        { type: "button", class: "words", click: () => this.find(source, target) },
        html("bdi", {}, visible(source)),
        " – ",
        html("bdi", {}, visible(target)),
      );
    const cells = rows.map(([source, target, times]) => [button(source, target), `${times}`]);
    return html(
      "div",
      { class: "card" },
      table(caption, ["Words", "Times"], cells),
      rows.length ? null : html("p", {}, "None."),
    );
  }

  // Search for these words.
  /** @type {(source: string, target: string) => void} */
  find(source, target) {
    [source, target].forEach((word, side) => (this.inputs[side].value = word));
    this.search();
  }

  search() {
    const place = this.one(".concordance");
    const [source, target] = this.inputs.map((input) => input.value.trim());
    place.replaceChildren();
    if (!source && !target) return;
    const found = concordance(this.report, this.system, source, target);
    const counts = Object.entries(KINDS).flatMap(([kind, { label }]) => {
      const times = found.links.filter((link) => link.kind === kind).length;
      return times ? [`${times} ${label}`] : [];
    });
    const which = source && target ? "both words" : "the word";
    place.append(
      html(
        "p",
        { class: "counts", role: "status" },
        `${counted(found.pairs, "pair")} with ${which}; links: ${counts.join(", ") || "none"}`,
      ),
    );
    const list = html("ol", { class: "occurrences" });
    const more = html("button", { type: "button", click: () => add() }, "More");
    const add = () => {
      const shown = list.childElementCount;
      list.append(...found.links.slice(shown, shown + MOST_ROWS).map((link) => this.occurrence(link)));
      more.hidden = list.childElementCount >= found.links.length;
    };
    add();
    place.append(list, more);
  }

  /** @type {(link: Occurrence) => HTMLElement} */
  occurrence(link) {
    const picture = svg(
      "svg",
      { width: 16, height: 16, role: "img", "aria-label": KINDS[link.kind].label },
      markOf(link, 8, 8, 0),
    );
    return html(
      "li",
      { "data-kind": link.kind },
      html("a", { href: `#pair=${link.pair + 1}`, click: () => this.goto(link.pair) }, `${link.pair + 1}`),
      picture,
      inContext(link.words[0], link.source, this.report.languages[0]),
      inContext(link.words[1], link.target, this.report.languages[1]),
    );
  }
}
