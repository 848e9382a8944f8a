// Words over all pairs: the pairs of words that are most often wrong or missed, and the concordance of two words.

const MOST_ROWS = 50;

// The pairs of words of wrong and of missed links, the most frequent first: {wrong: [[source, target, times]], missed}.
function errorsByWords(report, system) {
  const tables = { wrong: new Map(), missed: new Map() };
  forEachLink(report, system, (pair, words, link) => {
    if (!(link.kind in tables)) return;
    const key = `${words[0][link.source]} ${words[1][link.target]}`; // words have no blanks
    tables[link.kind].set(key, (tables[link.kind].get(key) ?? 0) + 1);
  });
  const sorted = (counts) => [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_ROWS);
  const rows = (counts) => sorted(counts).map(([key, times]) => [...key.split(" "), times]);
  return { wrong: rows(tables.wrong), missed: rows(tables.missed) };
}

// Call visit(pair, [source words, target words], link) for the links of a system and of gold, judged.
function forEachLink(report, system, visit, pairs = null) {
  const shown = { mode: "one", system: 0 };
  for (const i of pairs ?? Array.from({ length: report.pairs }, (_, n) => n)) {
    const words = [report.words(0, i), report.words(1, i)];
    for (const link of judge({ gold: report.goldOf(i), systems: [report.linksOf(system, i)] }, shown))
      visit(i, words, link);
  }
}

// The links of a source word, of a target word, or between both: {links: [{pair, words, ...link}], pairs: both occur in}.
function concordance(report, system, source, target) {
  const wanted = [source, target];
  const holds = (i) =>
    wanted.every(
      (word, side) => !word || (report.lines[side][i].includes(word) && report.words(side, i).includes(word)),
    );
  const pairs = Array.from({ length: report.pairs }, (_, n) => n).filter(holds);
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
class Words {
  constructor(panel, report, goto) {
    Object.assign(this, { panel, report, goto, system: 0 });
    this.inputs = ["source", "target"].map((side) => panel.querySelector(`[name=${side}-word]`));
    panel.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.search();
    });
  }

  show(system) {
    this.system = system;
    const frequent = this.panel.querySelector(".frequent");
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

  frequent(caption, rows) {
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
  find(source, target) {
    [source, target].forEach((word, side) => (this.inputs[side].value = word));
    this.search();
  }

  search() {
    const place = this.panel.querySelector(".concordance");
    const [source, target] = this.inputs.map((input) => input.value.trim());
    place.replaceChildren();
    if (!source && !target) return;
    const found = concordance(this.report, this.system, source, target);
    const kinds = Object.keys(KINDS).map((kind) => [kind, found.links.filter((link) => link.kind === kind).length]);
    const counts = kinds.filter(([, times]) => times).map(([kind, times]) => `${times} ${KINDS[kind].label}`);
    const which = source && target ? "both words" : "the word";
    place.append(
      html(
        "p",
        { class: "counts", role: "status" },
        `${found.pairs} pairs with ${which}; links: ${counts.join(", ") || "none"}`,
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
