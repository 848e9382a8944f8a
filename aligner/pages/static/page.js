// The page of a report: what is shown of it, by its controls, its keys and its address.

function startPage(given) {
  const $ = (id) => document.getElementById(id);
  const report = new Report(given);
  const state = { pair: null, view: "lines", shown: { mode: "one", system: 0, other: 1 }, tab: "pairs" };
  const several = report.names.length > 1;
  let drawn = null;

  const list = new PairList($("list"), report, (pair) => show({ pair }));
  const words = new Words($("panel-words"), report, (pair) => show({ pair, tab: "pairs" }));

  // Choices of what is drawn, as buttons of which one is pressed.
  const choices = [
    ...report.names.map((name, system) => ({
      id: `${system + 1}`,
      label: name,
      shown: { mode: "one", system, other: system ? 0 : 1 },
    })),
    ...(several ? [{ id: "all", label: "All", shown: { mode: "all", system: 0, other: 1 } }] : []),
    ...(several ? [{ id: "difference", label: "Difference", shown: { mode: "difference", system: 0, other: 1 } }] : []),
  ];
  const buttons = choices.map(({ id, label }) =>
    html("button", { type: "button", "data-shown": id, click: () => choose(id) }, label),
  );
  $("shown").append(...buttons);
  $("shown").hidden = !several;
  for (const [id, first] of [
    ["first", 0],
    ["second", 1],
  ]) {
    $(id).append(...report.names.map((name, n) => html("option", { value: n, selected: n === first }, name)));
    $(id).addEventListener("change", () => choose("difference"));
  }

  $("words-system").append(...report.names.map((name, n) => html("option", { value: n }, name)));
  $("words-system").addEventListener("change", () => choose(`${Number($("words-system").value) + 1}`));

  function choose(id) {
    const { shown } = choices.find((choice) => choice.id === id) ?? choices[0];
    const pairOf = { system: Number($("first").value), other: Number($("second").value) };
    show({ shown: shown.mode === "difference" ? { ...shown, ...pairOf } : shown });
  }

  const idOfShown = () => (state.shown.mode === "one" ? `${state.shown.system + 1}` : state.shown.mode);

  // Take over what is given of the state, and bring all that depends on it up to date.
  function show(changes, { quietly = false } = {}) {
    const before = { ...state };
    Object.assign(state, changes);
    const rejudged = before.shown !== state.shown;
    if (rejudged) filter();
    if (state.tab !== before.tab || rejudged) showTab();
    for (const button of buttons) button.setAttribute("aria-pressed", `${button.dataset.shown === idOfShown()}`);
    for (const view of ["lines", "matrix"]) $(view).setAttribute("aria-pressed", `${state.view === view}`);
    $("words-system").value = state.shown.system;
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
    const number = (name, most) => (Number(parts.get(name)) >= 1 ? Math.min(Number(parts.get(name)), most) - 1 : null);
    for (const id of ["first", "second"])
      if (several && number(id, report.names.length) !== null) $(id).value = number(id, report.names.length);
    const shown = choices.find((choice) => choice.id === parts.get("show"));
    const changes = {};
    if (number("pair", report.pairs) !== null) changes.pair = Math.floor(number("pair", report.pairs));
    if (["lines", "matrix"].includes(parts.get("view"))) changes.view = parts.get("view");
    if (["pairs", "words", "plots"].includes(parts.get("tab"))) changes.tab = parts.get("tab");
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
  }

  function figuresOfPair(pair) {
    const system = state.shown.system;
    const { found, mean } = report.counts[system];
    const parts = [`${report.lengths[0][pair]} and ${report.lengths[1][pair]} words`];
    if (state.shown.mode === "one" || !several) {
      parts.push(`${found[pair]} links`);
      if (report.gold) parts.push(`AER ${percent(report.errorRate(system, pair))} %`);
      if (!Number.isNaN(mean[pair])) parts.push(`mean probability ${mean[pair].toFixed(2)}`);
    } else if (report.gold) {
      parts.push(...report.names.map((name, s) => `AER of ${name} ${percent(report.errorRate(s, pair))} %`));
    }
    return parts.join(" · ");
  }

  // Filters
  const form = $("filters");
  const range = (name) =>
    ["least", "most"].map((end) => {
      const { value } = form.elements[`${end}-${name}`];
      return value === "" ? NaN : Number(value);
    });
  for (const [id, options] of [
    ["errors", KINDS_OF_ERRORS],
    ["order", ORDERS],
  ]) {
    const usable = Object.entries(options).filter(([, option]) => has(report, option.needs));
    $(id).append(...usable.map(([value, { label }]) => html("option", { value }, label)));
  }
  if (!report.gold) $("order").value = report.scored ? "unsure" : "given";

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
    $("chosen").textContent = `${pairs.length} of ${report.pairs} pairs${rate}`;
    if (!pairs.includes(state.pair)) state.pair = pairs[0] ?? null;
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
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(refilter));

  // Threshold and figures; their intervals, which the command has computed, are of all links.
  function figures() {
    const total = (values) => values.reduce((a, b) => a + b, 0);
    const [sure, possible] = [total(report.sure), total(report.possible)];
    const body = report.names.map((name, s) => {
      const { found, sure: right, possible: allowed } = report.counts[s];
      const scores = scoresOf({ found: total(found), sure, possible, right: total(right), allowed: total(allowed) });
      const cells = Object.keys(report.gold ? METRICS : {}).map((metric) =>
        html(
          "td",
          { "data-metric": metric },
          html("b", {}, percent(scores[metric])),
          report.threshold
            ? null
            : [" ", html("span", { class: "interval" }, intervalText(given.evaluations[s].intervals[metric]))],
        ),
      );
      return html(
        "tr",
        {},
        html("th", { scope: "row" }, name),
        html("td", { "data-metric": "links" }, `${total(found)}`),
        cells,
      );
    });
    $("figures").replaceChildren(...body);
  }
  let waiting = null;

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
  $("threshold").closest("label").hidden = !report.scored;

  // Tabs
  const tabs = ["pairs", "words", "plots"];
  function showTab() {
    for (const tab of tabs) {
      const selected = tab === state.tab;
      fill($(`tab-${tab}`), { "aria-selected": `${selected}`, tabindex: selected ? 0 : -1 }, []);
      $(`panel-${tab}`).hidden = !selected;
    }
    if (state.tab === "words") words.show(state.shown.system);
    if (state.tab === "plots") $("plots").replaceChildren(...allPlots(report));
  }
  tabs.forEach((tab, n) => {
    $(`tab-${tab}`).addEventListener("click", () => show({ tab }));
    $(`tab-${tab}`).addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(n + step + tabs.length) % tabs.length];
      show({ tab: next });
      $(`tab-${next}`).focus();
    });
  });

  // Copies
  async function copy(what) {
    const pair = report.pair(state.pair, state.shown);
    const kept = pair.links
      .filter((link) => !["missed", "open"].includes(link.kind))
      .map((link) => [link.source, link.target]);
    const texts = {
      svg: () => (drawn?.svg ? svgText(drawn.svg) : ""),
      pharaoh: () => pharaohText(kept),
      latex: () => latexText(pair),
      gold: () => pharaohText(report.goldOf(state.pair) ?? []),
      link: () => location.href.split("#")[0] + address(),
    };
    $("copied").textContent = (await copyText(texts[what]()))
      ? `Copied: ${what}`
      : "The browser does not allow copying.";
  }
  for (const button of document.querySelectorAll("[data-copy]"))
    button.addEventListener("click", () => state.pair !== null && copy(button.dataset.copy));
  document.querySelector("[data-copy=gold]").hidden = !report.gold;

  // Keys
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
      event.target.closest("input, select, textarea, dialog") ||
      !(event.key in keys)
    )
      return;
    event.preventDefault();
    keys[event.key]();
  });
  for (const view of ["lines", "matrix"]) $(view).addEventListener("click", () => show({ view }));
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

  for (const hidden of document.querySelectorAll("[data-needs]")) hidden.hidden = !has(report, hidden.dataset.needs);
  figures();
  filter();
  showTab();
  readAddress();
  document.body.dataset.ready = "yes";
}

startPage(JSON.parse(document.getElementById("data").textContent));
