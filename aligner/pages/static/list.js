// The list of pairs: which are in it and in what order, and a view that makes elements only of those in sight.

import { clamp, counted, html, shortened, visible } from "./dom.js";
import { percent } from "./figures.js";

const ROW = 64; // pixels; as in page.css

/** @type {Record<string, { label: string, needs?: Needs, key: (report: ReportData, shown: Compared, pair: number) => number }>} */
export const ORDERS = {
  worst: {
    label: "worst first",
    needs: "gold",
    key: (report, { system }, i) => -report.errorRate(system, i),
  },
  errors: {
    label: "most errors first",
    needs: "gold",
    key: (report, { system }, i) => -errorsIn(report, system, i),
  },
  suspect: {
    label: "worst translations first",
    key: (report, { system }, i) => report.systems[system].support?.[i] ?? 0,
  },
  unsure: {
    label: "least confident first",
    needs: "scores",
    key: (report, { system }, i) => report.counts[system].mean[i],
  },
  differ: {
    label: "most different first",
    needs: "systems",
    key: (report, { system, other }, i) => -report.difference(system, other, i),
  },
  given: { label: "as given", key: (_report, _shown, i) => i },
  longest: { label: "longest first", key: (report, _shown, i) => -report.lengths[0][i] },
};

const FAULTS = {
  "no translation": "with an empty side",
  "no links": "without links",
  "same text": "of the same text",
  numbers: "with other numbers",
  length: "of odd lengths",
};

/** @type {Record<string, { label: string, needs?: Needs, keeps?: (report: ReportData, shown: Compared, pair: number) => boolean }>} */
export const KINDS_OF_ERRORS = {
  any: { label: "any" },
  wrong: {
    label: "with wrong links",
    needs: "gold",
    keeps: (report, { system }, i) => report.counts[system].found[i] > report.counts[system].possible[i],
  },
  missed: {
    label: "with missed links",
    needs: "gold",
    keeps: (report, { system }, i) => report.sure[i] > report.counts[system].sure[i],
  },
  none: { label: "without errors", needs: "gold", keeps: (report, { system }, i) => errorsIn(report, system, i) === 0 },
  differ: {
    label: "where systems differ",
    needs: "systems",
    keeps: (report, { system, other }, i) => report.difference(system, other, i) > 0,
  },
  ...Object.fromEntries(
    Object.entries(FAULTS).map(([fault, label]) => [
      fault,
      { label, keeps: (/** @type {ReportData} */ report, _shown, i) => report.faults[i].includes(fault) },
    ]),
  ),
};

// Wrong and missed links of a pair.
/** @type {(report: ReportData, system: number, pair: number) => number} */
function errorsIn(report, system, pair) {
  const { found, sure, possible } = report.counts[system];
  return found[pair] - possible[pair] + report.sure[pair] - sure[pair];
}

// Whether a report has what an order or a filter needs.
/** @type {(report: ReportData, needs?: Needs) => boolean} */
export const has = (report, needs) =>
  !needs || { gold: report.gold !== null, scores: report.scored, systems: report.names.length > 1 }[needs];

// The pairs that pass, in order.
//
// filters: {text, word, errors, order, length, error, confidence}, the last three [least, most] or with NaN for none
// shown: {system, other} to be judged by
/** @type {(report: ReportData, filters: Filters, shown: Compared) => number[]} */
export function choosePairs(report, filters, shown) {
  const within = (/** @type {number} */ value, /** @type {number[]} */ [least, most]) =>
    !(value < least) && !(value > most);
  const open = (/** @type {number[]} */ range) => range.every(Number.isNaN);
  const text = filters.text.toLowerCase();
  const keeps = KINDS_OF_ERRORS[filters.errors].keeps;
  const chosen = [];
  for (let i = 0; i < report.pairs; i++) {
    if (text && !report.lines.some((lines) => lines[i].toLowerCase().includes(text))) continue;
    if (
      filters.word &&
      ![0, 1].some(
        (side) => report.lines[side][i].includes(filters.word) && report.words(side, i).includes(filters.word),
      )
    )
      continue;
    if (!within(report.lengths[0][i], filters.length)) continue;
    if (report.gold && !within(100 * report.errorRate(shown.system, i), filters.error)) continue;
    const mean = 100 * report.counts[shown.system].mean[i];
    if (!open(filters.confidence) && !(mean >= 0 && within(mean, filters.confidence))) continue;
    if (keeps && !keeps(report, shown, i)) continue;
    chosen.push(i);
  }
  const key = ORDERS[filters.order].key;
  const last = (/** @type {number} */ value) => (Number.isNaN(value) ? Infinity : value); // of what is not known
  const keyed = chosen.map((i) => ({ i, key: last(key(report, shown, i)) }));
  return keyed.sort((a, b) => (a.key === b.key ? a.i - b.i : a.key - b.key)).map(({ i }) => i);
}

// A list box of pairs.  onchoose: called with a pair that the user goes to.
export class PairList {
  /** @param {HTMLElement} element @param {ReportData} report @param {(pair: number) => void} onchoose */
  constructor(element, report, onchoose) {
    this.element = element;
    this.report = report;
    this.onchoose = onchoose;
    /** @type {number[]} */
    this.pairs = [];
    /** @type {number | null} */
    this.current = null;
    this.system = 0;
    this.all = html("div", { role: "presentation", class: "all" });
    element.append(this.all);
    element.addEventListener("scroll", () => this.render());
    element.addEventListener("keydown", (event) => {
      const page = Math.max(Math.floor(element.clientHeight / ROW) - 1, 1);
      /** @type {Record<string, number>} */
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
      if (!(event.key in steps)) return;
      event.preventDefault();
      this.step(steps[event.key]);
    });
    new ResizeObserver(() => this.render()).observe(element);
  }

  // Go some pairs on in the order of the list.
  /** @type {(by: number) => void} */
  step(by) {
    if (!this.pairs.length) return;
    const place = this.pairs.indexOf(this.current ?? -1) + by;
    this.onchoose(this.pairs[clamp(place, 0, this.pairs.length - 1)]);
  }

  /** @type {(pairs: number[], system: number) => void} */
  show(pairs, system) {
    this.pairs = pairs;
    this.system = system;
    this.all.style.height = `${ROW * pairs.length}px`;
    this.element.setAttribute("aria-label", counted(pairs.length, "pair"));
    this.render();
  }

  // Mark a pair as the current one, and bring it into sight.
  /** @type {(pair: number | null) => void} */
  choose(pair) {
    this.current = pair;
    const top = ROW * this.pairs.indexOf(pair ?? -1);
    const { scrollTop, clientHeight } = this.element;
    if (top >= 0 && (top < scrollTop || top + ROW > scrollTop + clientHeight)) {
      this.element.scrollTop = top - Math.max((clientHeight - ROW) / 2, 0);
    }
    this.render();
  }

  render() {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(Math.floor(scrollTop / ROW) - 5, 0);
    const last = Math.min(Math.ceil((scrollTop + clientHeight) / ROW) + 5, this.pairs.length);
    const rows = [];
    for (let n = first; n < last; n++) rows.push(this.row(n));
    this.all.replaceChildren(...rows);
    const active = rows.find((row) => row.getAttribute("aria-selected") === "true");
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** @type {(n: number) => HTMLElement} */
  row(n) {
    const { report, system } = this;
    const pair = this.pairs[n];
    const rate = report.gold ? report.errorRate(system, pair) : null;
    const share = rate ?? report.systems[system].support?.[pair] ?? 0;
    const [title, badge] = [`${rate === null ? "support" : "AER"} ${percent(share)} %`, (100 * share).toFixed(0)];
    const row = html(
      "div",
      {
        role: "option",
        id: `pair-${pair + 1}`,
        class: "row",
        "aria-selected": `${pair === this.current}`,
        "aria-posinset": n + 1,
        "aria-setsize": this.pairs.length,
        click: () => this.onchoose(pair),
      },
      html("span", { class: "number" }, `${pair + 1}`),
      [0, 1].map((side) =>
        html(
          "bdi",
          { class: "text", dir: "auto", lang: report.languages[side] },
          shortened(visible(report.lines[side][pair]), 120),
        ),
      ),
      html(
        "span",
        { class: `badge ${rate === null ? "" : rate === 0 ? "good" : rate < 0.2 ? "fair" : "bad"}`, title },
        badge,
      ),
    );
    row.style.top = `${ROW * n}px`;
    return row;
  }
}
