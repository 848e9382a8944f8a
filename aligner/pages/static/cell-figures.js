// A cell of a notebook: the figures of an evaluation, with the chart of its lengths.

import { lineChart } from "./chart.js";
import { html, table } from "./dom.js";
import { METRICS, intervalText, percent } from "./figures.js";
import { $, given } from "./page.js";

const evaluation = given();
const cells = Object.keys(METRICS).map(
  (metric) => `${percent(evaluation[metric] / 100)} ${intervalText(evaluation.intervals[metric])}`,
);
const head = ["System", "Links", ...Object.values(METRICS).map((name) => `${name}, %`)];
/** @type {{ lengths: string, aer: number, links: number }[]} */
const lengths = evaluation.by_length;
$("drawing").append(
  table(`${evaluation.gold}: ${evaluation.pairs} pairs`, head, [[evaluation.name, `${evaluation.links}`, ...cells]]),
  lineChart({
    title: "AER by sentence length",
    xTitle: "Source words",
    yTitle: "AER, %",
    categories: lengths.map((row) => row.lengths),
    series: [{ name: evaluation.name, points: lengths.map((row, x) => ({ x, y: row.aer, detail: row.links })) }],
  }),
  html("p", { class: "signature" }, evaluation.signature),
);
