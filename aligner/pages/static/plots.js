// The plots of a report: where the errors are, what the probabilities are worth, and how the model was learnt.

import { barChart, lineChart } from "./chart.js";
import { clamp } from "./dom.js";
import { scoresOf } from "./figures.js";
import { forEachLink } from "./words.js";

/** @type {Bin[]} */
const LENGTHS = [
  [0, 10, "0–10"],
  [11, 20, "11–20"],
  [21, 30, "21–30"],
  [31, 40, "31–40"],
  [41, Infinity, "41+"],
];
/** @type {Bin[]} */
const FREQUENCIES = [
  [1, 1, "1"],
  [2, 3, "2–3"],
  [4, 7, "4–7"],
  [8, 15, "8–15"],
  [16, 31, "16–31"],
  [32, Infinity, "32+"],
];
/** @type {Bin[]} */
const DISTANCES = [
  [0, 0.02, "≤ 0.02"],
  [0.02, 0.05, "≤ 0.05"],
  [0.05, 0.1, "≤ 0.1"],
  [0.1, 0.2, "≤ 0.2"],
  [0.2, 1, "≤ 1"],
];

/** @type {(bins: Bin[], value: number) => number} */
const binOf = (bins, value) => bins.findIndex(([low, high]) => value >= low && value <= high);

/** @type {() => Counts} */
const noCounts = () => ({ found: 0, sure: 0, possible: 0, right: 0, allowed: 0 });

// A link of gold or of a system, added to counts.
/** @type {(counts: Counts, link: Link) => void} */
function addLink(counts, { kind }) {
  counts.found += Number(["right", "allowed", "wrong"].includes(kind));
  counts.right += Number(kind === "right");
  counts.allowed += Number(kind === "right" || kind === "allowed");
  counts.sure += Number(kind === "right" || kind === "missed");
  counts.possible += Number(kind !== "wrong");
}

/** @type {(bins: Bin[], counts: Counts[]) => Point[]} */
const aerPoints = (bins, counts) =>
  bins.map((_, n) => ({
    x: n,
    y: counts[n].found + counts[n].sure ? 100 * scoresOf(counts[n]).aer : null,
    detail: counts[n].found,
  }));

const aerTitles = { yTitle: "AER, %" };

/** @type {(report: ReportData) => HTMLElement} */
function byLength(report) {
  const bins = LENGTHS.filter(([low, high]) => report.lengths[0].some((length) => low <= length && length <= high));
  const series = report.names.map((name, s) => {
    const counts = bins.map(noCounts);
    const { found, sure, possible } = report.counts[s];
    for (let i = 0; i < report.pairs; i++) {
      const bin = counts[binOf(bins, report.lengths[0][i])];
      bin.found += found[i];
      bin.right += sure[i];
      bin.allowed += possible[i];
      bin.sure += report.sure[i];
    }
    return { name, points: aerPoints(bins, counts) };
  });
  return lineChart({
    title: "AER by sentence length",
    xTitle: "Source words",
    ...aerTitles,
    categories: bins.map((bin) => bin[2]),
    series,
  });
}

// Two charts from one walk over all links: by the frequency of the rarer word, and by the distance from the diagonal.
/** @type {(report: ReportData) => HTMLElement[]} */
function byFrequencyAndDistance(report) {
  const frequencies = [0, 1].map((side) => {
    const counts = new Map();
    for (let i = 0; i < report.pairs; i++)
      for (const word of report.words(side, i)) counts.set(word, (counts.get(word) ?? 0) + 1);
    return counts;
  });
  const tables = report.names.map((_, s) => {
    const counts = [FREQUENCIES, DISTANCES].map((bins) => bins.map(noCounts));
    forEachLink(report, s, (_pair, words, link) => {
      const rarer = Math.min(
        ...[link.source, link.target].map((index, side) => frequencies[side].get(words[side][index])),
      );
      const distance = Math.abs((link.source + 0.5) / words[0].length - (link.target + 0.5) / words[1].length);
      addLink(counts[0][binOf(FREQUENCIES, rarer)], link);
      addLink(counts[1][binOf(DISTANCES, distance)], link);
    });
    return counts;
  });
  /** @type {(n: number, bins: Bin[], rest: { title: string, note: string, xTitle: string }) => HTMLElement} */
  const chart = (n, bins, rest) =>
    lineChart({
      ...rest,
      ...aerTitles,
      categories: bins.map((bin) => bin[2]),
      series: report.names.map((name, s) => ({ name, points: aerPoints(bins, tables[s][n]) })),
    });
  return [
    chart(0, FREQUENCIES, {
      title: "AER by word frequency",
      note: "Of links, by how often the rarer of their words occurs in this text.",
      xTitle: "Times in the text",
    }),
    chart(1, DISTANCES, {
      title: "AER by distance from the diagonal",
      note: "Of links, by the difference of their words' places, as shares of the sentences.",
      xTitle: "Distance",
    }),
  ];
}

// How many links, how many of them right, and the sum of their probabilities, by tenths or twentieths of probability, of
// which those of 32 bits may be a little below.
/** @type {(report: ReportData, system: number, bins: number) => { links: number, right: number, total: number }[]} */
function byProbability(report, system, bins) {
  const counts = Array.from({ length: bins }, () => ({ links: 0, right: 0, total: 0 }));
  const { scores } = report.systems[system];
  for (let n = 0; scores && n < scores.length; n++) {
    const bin = counts[clamp(Math.floor(bins * scores[n] + 1e-6), 0, bins - 1)];
    bin.links += 1;
    bin.total += scores[n];
    if (report.judged) bin.right += Number(report.judged[system][n] > 0);
  }
  return counts;
}

/** @type {(report: ReportData) => HTMLElement} */
function reliability(report) {
  const series = report.names.flatMap((name, s) => {
    if (!report.systems[s].scores) return [];
    const bins = byProbability(report, s, 10).filter((bin) => bin.links);
    return [
      { name, points: bins.map(({ links, right, total }) => ({ x: total / links, y: right / links, detail: links })) },
    ];
  });
  return lineChart({
    title: "Reliability",
    note: "Of links by tenths of probability: those on the diagonal are right as often as they say.",
    xTitle: "Mean probability",
    yTitle: "Share that is right",
    xs: [0, 1],
    diagonal: true,
    series,
  });
}

/** @type {(report: ReportData) => HTMLElement[]} */
function histograms(report) {
  const names = Array.from({ length: 20 }, (_, n) => `${Number((n / 20).toFixed(2))}`);
  return report.names.flatMap((name, s) => {
    if (!report.systems[s].scores) return [];
    const bins = byProbability(report, s, 20);
    const right = {
      name: report.gold ? "right" : "links",
      className: "right",
      values: bins.map((bin) => (report.gold ? bin.right : bin.links)),
    };
    const wrong = { name: "wrong", className: "wrong", values: bins.map((bin) => bin.links - bin.right) };
    const title = `Probabilities${report.names.length > 1 ? ` of ${name}` : ""}`;
    return [
      barChart({
        title,
        categories: names,
        xTitle: "Probability, from",
        yTitle: "Links",
        series: report.gold ? [right, wrong] : [right],
      }),
    ];
  });
}

// What the record of a model has of its training.
/** @type {(model: Learnt) => HTMLElement[]} */
function training(model) {
  const charts = [];
  const trace = model.trace ?? [];
  if (trace.length > 1) {
    const series = /** @type {const} */ (["primal", "dual"]).map((name) => ({
      name,
      points: trace.map((point) => ({ x: point.passes, y: point[name] })),
    }));
    charts.push(
      lineChart({
        title: "Learning: the solver",
        note: "The objective lies between the two; they meet at the optimum.",
        xTitle: "Passes over the labelled pairs",
        yTitle: "Objective",
        fromZero: false,
        series,
      }),
    );
  }
  return charts;
}

// All plots for which there is what they need.
/** @type {(report: ReportData) => HTMLElement[]} */
export function allPlots(report) {
  const charts = report.gold ? [byLength(report), ...byFrequencyAndDistance(report)] : [];
  if (report.scored) charts.push(...(report.gold ? [reliability(report)] : []), ...histograms(report));
  if (report.given.model) charts.push(...training(report.given.model));
  return charts;
}
