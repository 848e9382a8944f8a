// The page of a report: what is shown of it, by its controls, its keys and its address.

import { copyText, latexText, pharaohText, svgText } from "./copy.js";
import { ReportData } from "./data.js";
import { html, sum, visible } from "./dom.js";
import { draw } from "./draw.js";
import { METRICS, intervalText, percent, scoresOf } from "./figures.js";
import { KINDS_OF_ERRORS, ORDERS, PairList, choosePairs, has } from "./list.js";
import { ONE } from "./links.js";
import { $, given, tabs } from "./page.js";
import { allPlots } from "./plots.js";
import { Words } from "./words.js";

const data = given();
const report = new ReportData(data);
/** @type {{ pair: number | null, view: "lines" | "matrix", shown: Shown, tab: string }} */
const state = { pair: null, view: "lines", shown: { ...ONE, other: 1 }, tab: "pairs" };
const VIEWS = /** @type {const} */ (["lines", "matrix"]);
const TABS = ["pairs", "words", "plots"];
const several = report.names.length > 1;
/** @type {Picture | null} */
let drawn = null;

/** @type {(selector: string) => HTMLElement[]} */
const elements = (selector) => [...document.querySelectorAll(selector)].map((one) => /** @type {HTMLElement} */ (one));

const list = new PairList($("list"), report, (pair) => {
  show({ pair });
  $("title").scrollIntoView({ block: "nearest" }); // below the list on a telephone
});
const words = new Words($("panel-words"), report, (pair) => show({ pair, tab: "pairs" }));

// Choices of what is drawn, as buttons of which one is pressed.
/** @type {(mode: Shown["mode"], system?: number) => Shown} */
const shownAs = (mode, system = 0) => ({ mode, system, other: system ? 0 : 1 });
const choices = report.names.map((label, n) => ({ id: `${n + 1}`, label, shown: shownAs("one", n) }));
if (several) {
  choices.push({ id: "all", label: "All", shown: shownAs("all") });
  choices.push({ id: "difference", label: "Difference", shown: shownAs("difference") });
}
const buttons = choices.map(({ id, label }) =>
  html("button", { type: "button", "data-shown": id, click: () => choose(id) }, label),
);
$("shown").append(...buttons);
$("shown").hidden = !several;
for (const [first, id] of ["first", "second"].entries()) {
  $(id).append(...report.names.map((name, n) => html("option", { value: n, selected: n === first }, name)));
  $(id).addEventListener("change", () => choose("difference"));
}

$("words-system").append(...report.names.map((name, n) => html("option", { value: n }, name)));
$("words-system").addEventListener("change", () => choose(`${Number($("words-system").value) + 1}`));

/** @type {(id: string) => void} */
function choose(id) {
  const { shown } = choices.find((choice) => choice.id === id) ?? choices[0];
  const pairOf = { system: Number($("first").value), other: Number($("second").value) };
  show({ shown: shown.mode === "difference" ? { ...shown, ...pairOf } : shown });
}

const idOfShown = () => (state.shown.mode === "one" ? `${state.shown.system + 1}` : state.shown.mode);

// Take over what is given of the state, and bring all that depends on it up to date.
/** @type {(changes: Partial<typeof state>, how?: { quietly?: boolean }) => void} */
function show(changes, { quietly = false } = {}) {
  const before = { ...state };
  Object.assign(state, changes);
  const rejudged = before.shown !== state.shown;
  if (rejudged) filter();
  if (state.tab !== before.tab || rejudged) showTab();
  for (const button of buttons) button.setAttribute("aria-pressed", `${button.dataset.shown === idOfShown()}`);
  for (const view of VIEWS) $(view).setAttribute("aria-pressed", `${state.view === view}`);
  $("words-system").value = `${state.shown.system}`;
  $("compared").hidden = state.shown.mode !== "difference";
  drawPair();
  list.choose(state.pair);
  if (!quietly) history.replaceState(null, "", address());
}

function address() {
  const parts = {
    pair: state.pair === null ? null : state.pair + 1,
    view: state.view,
    show: several ? idOfShown() : null,
    tab: state.tab === "pairs" ? null : state.tab,
  };
  if (state.shown.mode === "difference")
    Object.assign(parts, { first: state.shown.system + 1, second: state.shown.other + 1 });
  return `#${Object.entries(parts)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${value}`)
    .join("&")}`;
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  /** @type {(name: string, most: number) => number | null} */
  const number = (name, most) => (Number(parts.get(name)) >= 1 ? Math.min(Number(parts.get(name)), most) - 1 : null);
  for (const id of ["first", "second"]) if (several) $(id).value = `${number(id, report.names.length) ?? $(id).value}`;
  const shown = choices.find((choice) => choice.id === parts.get("show"));
  /** @type {Partial<typeof state>} */
  const changes = {};
  const pair = number("pair", report.pairs);
  if (pair !== null) changes.pair = Math.floor(pair);
  changes.view = VIEWS.find((view) => view === parts.get("view")) ?? state.view;
  changes.tab = TABS.find((tab) => tab === parts.get("tab")) ?? state.tab;
  show(changes, { quietly: true });
  if (shown) choose(shown.id);
}

function drawPair() {
  const { pair } = state;
  $("title").textContent = pair === null ? "No pair" : `Pair ${pair + 1}`;
  $("figures-of-pair").textContent = pair === null ? "" : figuresOfPair(pair);
  $("drawing").replaceChildren();
  drawn = null;
  if (pair === null || state.tab !== "pairs") return;
  /** @type {Options["onword"]} */
  const onword = (side, index) => {
    const word = report.words(side, pair)[index];
    show({ tab: "words" });
    words.find(side ? "" : word, side ? word : "");
  };
  drawn = draw($("drawing"), report.pair(pair, state.shown), {
    view: state.view,
    label: `Links of pair ${pair + 1}`,
    systems: report.names,
    shown: state.shown,
    onword,
  });
  // Where the picture's words do not stand in lines, they are read here.
  $("sentences").hidden = drawn.svg?.dataset.layout === "across";
  $("sentences").replaceChildren(
    ...[0, 1].map((side) =>
      html("p", { class: "sentence", dir: "auto", lang: report.languages[side] }, visible(report.lines[side][pair])),
    ),
  );
}

/** @type {(pair: number) => string} */
function figuresOfPair(pair) {
  const system = state.shown.system;
  const { found, mean } = report.counts[system];
  const parts = [`${report.lengths[0][pair]} and ${report.lengths[1][pair]} words`];
  if (state.shown.mode === "one" || !several) {
    parts.push(`${found[pair]} links`);
    if (report.gold) parts.push(`AER ${percent(report.errorRate(system, pair))} %`);
    parts.push(`support ${(report.systems[system].support?.[pair] ?? 0).toFixed(2)}`);
    if (!Number.isNaN(mean[pair])) parts.push(`mean probability ${mean[pair].toFixed(2)}`);
  } else if (report.gold) {
    parts.push(...report.names.map((name, s) => `AER of ${name} ${percent(report.errorRate(s, pair))} %`));
  }
  if (report.faults[pair]) parts.push(report.faults[pair]);
  return parts.join(" · ");
}

// Filters
const form = /** @type {any} */ ($("filters"));
const range = (/** @type {string} */ name) =>
  ["least", "most"].map((end) => {
    const { value } = form.elements[`${end}-${name}`];
    return value === "" ? NaN : Number(value);
  });
for (const [id, options] of Object.entries({ errors: KINDS_OF_ERRORS, order: ORDERS })) {
  const usable = Object.entries(options).filter(([, option]) => has(report, option.needs));
  $(id).append(...usable.map(([value, { label }]) => html("option", { value }, label)));
}
if (!report.gold) $("order").value = "suspect";

function filter() {
  const filters = {
    text: $("search").value,
    word: form.elements.word.value.trim(),
    errors: $("errors").value,
    order: $("order").value,
    length: range("length"),
    error: range("error"),
    confidence: range("confidence"),
  };
  const pairs = choosePairs(report, filters, state.shown);
  list.show(pairs, state.shown.system);
  const total = { found: 0, sure: 0, possible: 0, right: 0, allowed: 0 };
  const counts = report.counts[state.shown.system];
  for (const i of pairs) {
    total.found += counts.found[i];
    total.right += counts.sure[i];
    total.allowed += counts.possible[i];
    total.sure += report.sure[i];
  }
  const whose = several ? ` of ${report.names[state.shown.system]}` : "";
  const rate = report.gold && pairs.length ? `, AER${whose} ${percent(scoresOf(total).aer)} %` : "";
  const [shown, all] = [pairs.length, report.pairs].map((number) => number.toLocaleString("en"));
  $("chosen").textContent = `${shown} of ${all} pairs${rate}`;
  if (state.pair === null || !pairs.includes(state.pair)) state.pair = pairs[0] ?? null;
}
const refilter = () => {
  filter();
  show({});
};
for (const control of [form, $("search")]) control.addEventListener("input", refilter);
$("order").addEventListener("input", () => {
  state.pair = null; // the first one in the new order
  refilter();
});
form.addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(refilter));

// Threshold and figures; their intervals, which the command has computed, are of all links.
function figures() {
  const [sure, possible] = [sum(report.sure), sum(report.possible)];
  const body = report.names.map((name, s) => {
    const { found, sure: right, possible: allowed } = report.counts[s];
    const scores = scoresOf({ found: sum(found), sure, possible, right: sum(right), allowed: sum(allowed) });
    const cells = /** @type {Metric[]} */ (Object.keys(report.gold ? METRICS : {})).map((metric) =>
      html(
        "td",
        { "data-metric": metric, "data-label": METRICS[metric] },
        html("b", {}, percent(scores[metric])),
        report.threshold
          ? null
          : [" ", html("span", { class: "interval" }, intervalText(data.evaluations[s].intervals[metric]))],
      ),
    );
    return html(
      "tr",
      {},
      html("th", { scope: "row" }, name),
      html("td", { "data-metric": "links", "data-label": "Links" }, sum(found).toLocaleString("en")),
      cells,
    );
  });
  $("figures").replaceChildren(...body);
}
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

/** @type {(value: number) => void} */
function threshold(value) {
  report.setThreshold(value);
  $("threshold-value").textContent = value ? `${value.toFixed(2)}: links that are as probable, or more` : "all links";
  figures();
  filter();
  show({});
  clearTimeout(waiting);
  waiting = setTimeout(showTab, 120); // what takes its time, once the slider stands still
}
$("threshold").addEventListener("input", () => threshold(Number($("threshold").value)));
/** @type {HTMLElement} */ ($("threshold").closest("label")).hidden = !report.scored;

// Tabs
const mark = tabs(TABS, (tab) => show({ tab }));
function showTab() {
  mark(state.tab);
  if (state.tab === "words") words.show(state.shown.system);
  if (state.tab === "plots") $("plots").replaceChildren(...allPlots(report));
}

// Copies
/** @type {(what: string, index: number) => Promise<void>} */
async function copy(what, index) {
  const pair = report.pair(index, state.shown);
  const kept = pair.links
    .filter((link) => !["missed", "open"].includes(link.kind))
    .map((link) => [link.source, link.target]);
  /** @type {Record<string, () => string>} */
  const texts = {
    svg: () => (drawn?.svg ? svgText(drawn.svg) : ""),
    pharaoh: () => pharaohText(kept),
    latex: () => latexText(pair),
    gold: () => pharaohText(report.goldOf(index) ?? []),
    link: () => location.href.split("#")[0] + address(),
  };
  $("copied").textContent = (await copyText(texts[what]())) ? `Copied: ${what}` : "The browser does not allow copying.";
}
for (const button of elements("[data-copy]")) {
  button.addEventListener("click", () => state.pair !== null && copy(button.dataset.copy ?? "", state.pair));
  button.hidden = button.dataset.copy === "gold" && !report.gold;
}

// Keys
/** @type {Record<string, () => unknown>} */
const keys = {
  j: () => list.step(1),
  k: () => list.step(-1),
  m: () => show({ view: state.view === "lines" ? "matrix" : "lines" }),
  a: () => several && choose("all"),
  d: () => several && choose("difference"),
  w: () => {
    show({ tab: "pairs" });
    drawn?.focus();
  },
  "/": () => {
    show({ tab: "pairs" });
    $("search").focus();
  },
  "?": () => $("help").showModal(),
  ...Object.fromEntries(report.names.map((_, n) => [`${n + 1}`, () => choose(`${n + 1}`)])),
};
document.addEventListener("keydown", (event) => {
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    /** @type {Element} */ (event.target).closest("input, select, textarea, dialog") ||
    !(event.key in keys)
  )
    return;
  event.preventDefault();
  keys[event.key]();
});
for (const view of VIEWS) $(view).addEventListener("click", () => show({ view }));
$("next").addEventListener("click", () => list.step(1));
$("previous").addEventListener("click", () => list.step(-1));
$("keys").addEventListener("click", () => $("help").showModal());
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth !== width) {
    width = innerWidth;
    drawPair();
  }
});
addEventListener("hashchange", readAddress);

for (const one of elements("[data-needs]")) one.hidden = !has(report, /** @type {any} */ (one.dataset.needs));
figures();
filter();
showTab();
readAddress();
document.body.dataset.ready = "yes";
