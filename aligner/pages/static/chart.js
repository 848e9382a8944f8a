// Charts: lines over categories or numbers, and bars; each a figure with its legend and the table of its values.

import { html, sum, svg, tableBehind } from "./dom.js";

const SHAPES = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-4-4h8v8h-8z", "M0-5L5 4H-5z", "M0-5L5 0L0 5L-5 0z"];

const FRAME = { width: 460, height: 250, left: 52, right: 16, top: 12, bottom: 44 };

// About five round numbers from 0, or from `low`, to `high`.
/** @type {(low: number, high: number) => number[]} */
function ticks(low, high) {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++)
    found.push(Number((n * step).toPrecision(12)));
  return found;
}

/** @type {(number: number) => string} */
const short = (number) =>
  Math.abs(number) >= 0.001 || number === 0 ? `${Number(number.toPrecision(4))}` : number.toExponential(0);

// Axes and scales: {body, x(value), y(value)}; x is of categories if they are given, else of numbers.
/** @type {(settings: Axes & { ys: number[] }) => Frame} */
function axes({ xTitle, yTitle, categories, xs = [], ys, fromZero = true }) {
  const { width, height, left, right, top, bottom } = FRAME;
  const inner = [width - left - right, height - top - bottom];
  const [lowest, highest] = [fromZero ? 0 : Math.min(...ys), Math.max(...ys)];
  const marks = ticks(lowest, highest > lowest ? highest : lowest + 1);
  const [low, high] = [Math.min(marks[0], lowest), Math.max(...marks, highest)];
  const y = (/** @type {number} */ value) => top + inner[1] * (1 - (value - low) / (high - low || 1));
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  const x = categories
    ? (/** @type {number} */ n) => left + (inner[0] * (n + 0.5)) / categories.length
    : (/** @type {number} */ value) => left + inner[0] * (most > least ? (value - least) / (most - least) : 0.5);
  /** @type {[number, string][]} */
  const labels = categories
    ? categories.map((name, n) => [x(n), name])
    : ticks(least, most).map((value) => [x(value), short(value)]);
  const body = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart" },
    marks.map((value) => [
      svg("path", { class: "grid", d: `M${left} ${y(value).toFixed(1)}H${width - right}` }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)),
    ]),
    labels.map(([place, name]) =>
      svg("text", { x: place.toFixed(1), y: height - bottom + 16, "text-anchor": "middle" }, name),
    ),
    svg("text", { x: left + inner[0] / 2, y: height - 8, "text-anchor": "middle", class: "title" }, xTitle),
    svg(
      "text",
      { transform: `translate(13,${top + inner[1] / 2}) rotate(-90)`, "text-anchor": "middle", class: "title" },
      yTitle,
    ),
  );
  return { body, x, y, step: categories ? inner[0] / categories.length : 0 };
}

/** @type {(title: string, note: string, body: Element, series: string[], behind: Element) => HTMLElement} */
function figure(title, note, body, series, behind) {
  body.setAttribute("aria-label", `${title}; its values are in the table below`);
  const legend =
    series.length < 2
      ? null
      : html(
          "ul",
          { class: "legend" },
          series.map((name, n) =>
            html(
              "li",
              {},
              svg(
                "svg",
                { width: 16, height: 16, "aria-hidden": "true" },
                svg("path", { class: `point s${n}`, d: SHAPES[n % 4], transform: "translate(8,8)" }),
              ),
              name,
            ),
          ),
        );
  const caption = html("figcaption", {}, html("h3", {}, title), note ? html("p", {}, note) : null);
  return html("figure", { class: "card" }, caption, body, legend, behind);
}

// Lines with marks.  series: [{name, points: [{x, y, size, detail}]}], with y null where there is none; x are numbers of
// categories where these are given.  diagonal: also draw where x equals y.  Other fields: see `axes`.
/** @type {(settings: Axes & { title: string, note?: string, series: Series[], diagonal?: boolean, detailTitle?: string }) => HTMLElement} */
export function lineChart({ title, note = "", series, diagonal = false, detailTitle = "Links", ...rest }) {
  /** @type {(one: Series) => { x: number, y: number, detail?: number }[]} */
  const known = ({ points }) => points.flatMap(({ y, ...others }) => (y === null ? [] : [{ y, ...others }]));
  const points = series.flatMap(known);
  const frame = axes({
    ...rest,
    xs: rest.xs ?? points.map((point) => point.x),
    ys: diagonal ? [0, 1] : points.map((point) => point.y),
  });
  const place = (/** @type {{ x: number, y: number }} */ point) =>
    `${frame.x(point.x).toFixed(1)} ${frame.y(point.y).toFixed(1)}`;
  if (diagonal)
    frame.body.append(
      svg("path", { class: "diagonal", d: `M${frame.x(0)} ${frame.y(0)}L${frame.x(1)} ${frame.y(1)}` }),
    );
  series.forEach((one, n) => {
    const there = known(one);
    if (there.length) frame.body.append(svg("path", { class: `curve s${n}`, d: `M${there.map(place).join("L")}` }));
    frame.body.append(
      ...there.map((point) =>
        svg(
          "path",
          { class: `point s${n}`, d: SHAPES[n % 4], transform: `translate(${place(point)})` },
          svg(
            "title",
            {},
            `${one.name}: ${short(point.y)}${point.detail === undefined ? "" : ` (${detailTitle.toLowerCase()}: ${point.detail})`}`,
          ),
        ),
      ),
    );
  });
  const x = (/** @type {Point} */ point) => (rest.categories ? rest.categories[point.x] : short(point.x));
  const rows = () =>
    series.flatMap((one) =>
      one.points.map((point) => [
        one.name,
        x(point),
        point.y === null ? "–" : short(point.y),
        ...(point.detail === undefined ? [] : [`${point.detail}`]),
      ]),
    );
  const head = [
    "Series",
    rest.xTitle,
    rest.yTitle,
    ...(points.some((point) => point.detail !== undefined) ? [detailTitle] : []),
  ];
  return figure(
    title,
    note,
    frame.body,
    series.map((one) => one.name),
    tableBehind(title, head, rows),
  );
}

// Bars on bars.  series: [{name, values: [number]}] by category.
/** @type {(settings: Axes & { title: string, note?: string, categories: string[], series: Bars[] }) => HTMLElement} */
export function barChart({ title, note = "", categories, series, ...rest }) {
  const totals = categories.map((_, n) => sum(series.map((one) => one.values[n])));
  const every = Math.ceil(categories.length / 10);
  const frame = axes({ ...rest, categories: categories.map((name, n) => (n % every ? "" : name)), ys: totals });
  categories.forEach((name, n) => {
    let below = 0;
    series.forEach((one, s) => {
      if (!one.values[n]) return;
      const [from, to] = [frame.y(below), frame.y(below + one.values[n])];
      frame.body.append(
        svg(
          "rect",
          {
            class: `bar ${one.className ?? `s${s}`}`,
            x: (frame.x(n) - 0.42 * frame.step).toFixed(1),
            width: (0.84 * frame.step).toFixed(1),
            y: to.toFixed(1),
            height: (from - to).toFixed(1),
          },
          svg("title", {}, `${name}: ${one.values[n]} ${one.name}`),
        ),
      );
      below += one.values[n];
    });
  });
  const rows = () => categories.map((name, n) => [name, ...series.map((one) => `${one.values[n]}`)]);
  const built = figure(
    title,
    note,
    frame.body,
    [],
    tableBehind(title, [rest.xTitle, ...series.map((one) => one.name)], rows),
  );
  const keys = series.map((one, s) =>
    html(
      "li",
      {},
      svg(
        "svg",
        { width: 16, height: 16, "aria-hidden": "true" },
        svg("rect", { class: `bar ${one.className ?? `s${s}`}`, x: 2, y: 2, width: 12, height: 12 }),
      ),
      one.name,
    ),
  );
  if (series.length > 1) frame.body.after(html("ul", { class: "legend" }, keys));
  return built;
}
