// A cell of a notebook: the picture of one pair, or the figures of an evaluation with the chart of its lengths.

function startCell({ pair, view, evaluation }) {
  const place = document.getElementById("drawing");
  const shown = { mode: "one", system: 0 };
  if (pair) return draw(place, { ...pair, links: judge(pair, shown) }, { view, shown });
  const metrics = Object.entries(METRICS);
  const cell = (metric) =>
    `${percent(evaluation[metric] / 100)} ${intervalText(evaluation.intervals[metric])}`;
  const rows = [[evaluation.name, `${evaluation.links}`, ...metrics.map(([metric]) => cell(metric))]];
  const title = `${evaluation.gold}: ${evaluation.pairs} pairs`;
  const points = evaluation.by_length.map((row, x) => ({ x, y: row.aer, detail: row.links }));
  place.append(
    table(title, ["System", "Links", ...metrics.map(([, name]) => `${name}, %`)], rows),
    lineChart({
      title: "AER by sentence length",
      xTitle: "Source words",
      yTitle: "AER, %",
      categories: evaluation.by_length.map((row) => row.lengths),
      series: [{ name: evaluation.name, points }],
    }),
    html("p", { class: "signature" }, evaluation.signature),
  );
  return place;
}

startCell(JSON.parse(document.getElementById("data").textContent));
