// Panels of the annotator's page beside the pairs: word pairs to decide on at once, agreement with other annotators, training.

import { counted, html, shortened, table } from "./dom.js";
import { $, ask } from "./page.js";

// inTurn(action): does what a click asks for after all before it.
// open(pair, other): shows a pair, of decisions with another.

export class WordPanel {
  /** @param {HTMLElement} place @param {HTMLElement} contexts @param {InTurn} inTurn */
  constructor(place, contexts, inTurn) {
    this.place = place;
    this.contexts = contexts;
    this.inTurn = inTurn;
  }

  async show() {
    /** @type {{ words: [string, string, number][] }} */
    const { words } = await ask("GET", "words", {});
    const rows = words.map(([source, target, times]) => [
      html(
        "button",
        { type: "button", class: "words", click: () => this.inTurn(() => this.showContexts(source, target)) },
        `${source} – ${target}`,
      ),
      `${times}`,
      [
        ["Sure", "sure"],
        ["Possible", "possible"],
        ["Drop", "none"],
      ].map(([label, kind]) =>
        html(
          "button",
          {
            type: "button",
            "aria-label": `${label}: ${source} – ${target}, everywhere`,
            click: () => this.inTurn(() => this.approve(source, target, kind)),
          },
          label,
        ),
      ),
    ]);
    this.place.replaceChildren(
      html("h2", {}, "Suggested word pairs"),
      html(
        "p",
        { class: "about" },
        "A decision is taken for all suggestions of the word pair, in all pairs that are open.",
      ),
      rows.length ? table("The most frequent first", ["Words", "Links", "In all pairs"], rows) : "There are none.",
    );
  }

  /** @type {(source: string, target: string, kind: string) => Promise<void>} */
  async approve(source, target, kind) {
    await ask("POST", "approve", { source, target, kind });
    this.contexts.hidden = true;
    await this.show();
    this.place.querySelector("button")?.focus();
  }

  /** @type {(source: string, target: string) => Promise<void>} */
  async showContexts(source, target) {
    /** @type {{ links: number, contexts: { pair: number, words: string[][], link: Cell }[] }} */
    const found = await ask("GET", "words", { source, target });
    /** @type {(words: string[], at: number) => HTMLElement} */
    const line = (words, at) =>
      html(
        "p",
        { dir: "auto" },
        words.map((word, n) => [n ? " " : "", n === at ? html("mark", {}, word) : word]),
      );
    this.contexts.hidden = false;
    this.contexts.replaceChildren(
      html("h2", {}, `${source} – ${target}`),
      html("p", { class: "about" }, `${found.links} links, the first of them:`),
      html(
        "ul",
        { class: "contexts" },
        found.contexts.map(({ pair, words, link }) =>
          html(
            "li",
            {},
            html("span", { class: "about" }, `Pair ${pair + 1}`),
            words.map((side, n) => line(side, link[n])),
          ),
        ),
      ),
    );
  }
}

export class ListPanel {
  /** @param {InTurn} inTurn @param {(pair: number) => unknown} open */
  constructor(inTurn, open) {
    this.inTurn = inTurn;
    this.open = open;
    for (const id of ["which", "searched"]) $(id).addEventListener("input", () => inTurn(() => this.show()));
    $("which").form?.addEventListener("submit", (event) => event.preventDefault());
  }

  async show() {
    /** @type {{ number: number, pairs: Listed[] }} */
    const { number, pairs } = await ask("GET", "list", { which: $("which").value, text: $("searched").value });
    const first = pairs.length < number ? `; the first ${pairs.length}` : "";
    $("listed").textContent = `${counted(number, "pair")}${first}`;
    $("pairs").replaceChildren(
      ...pairs.map(({ pair, words, status, flagged, comment }) =>
        html(
          "li",
          {},
          html("button", { type: "button", click: () => this.inTurn(() => this.open(pair)) }, `Pair ${pair + 1}`),
          " ",
          html("span", { class: `badge ${status}` }, status),
          flagged ? " flagged" : null,
          words.map((side) => html("p", { dir: "auto" }, shortened(side, 200))),
          comment && html("p", { class: "about", dir: "auto" }, comment),
        ),
      ),
    );
  }
}

export class AgreementPanel {
  /** @param {HTMLElement} place @param {InTurn} inTurn @param {(pair: number, other: string) => unknown} open */
  constructor(place, inTurn, open) {
    this.place = place;
    this.inTurn = inTurn;
    this.open = open;
  }

  async show() {
    /** @type {{ others: Other[] }} */
    const { others } = await ask("GET", "agreements", {});
    const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(2)} %`;
    const head = [
      "Annotator",
      "Pairs",
      "AER, theirs by mine",
      "AER, mine by theirs",
      "F1, theirs",
      "F1, mine",
      "Cohen's κ",
    ];
    const rows = others.map(({ name, pairs, aer, f1, kappa }) => [
      name,
      `${pairs}`,
      ...[...aer, ...f1].map(percent),
      kappa.toFixed(3),
    ]);
    this.place.replaceChildren(
      html("h2", {}, "Agreement"),
      others.length
        ? html(
            "div",
            { class: "scrolls", tabindex: 0, role: "region", "aria-label": "Agreement" },
            table("Of the pairs that both have accepted", head, rows),
          )
        : html("p", {}, "Nobody else has annotated this text: start the command again with --annotator NAME."),
      ...others.filter(({ pairs }) => pairs).map((other) => this.differences(other)),
    );
  }

  /** @type {(other: Other) => HTMLElement} */
  differences({ name, different, same, left }) {
    /** @type {(difference: Other["different"][0]) => HTMLElement} */
    const item = ({ pair, words, decided }) =>
      html(
        "li",
        {},
        html(
          "button",
          { type: "button", click: () => this.inTurn(() => this.open(pair, name)) },
          `Pair ${pair + 1}: ${shortened(words[0], 60)}`,
        ),
        decided ? " (decided)" : "",
      );
    const take = () => ask("POST", "take-over", { with: name }).then(() => this.show());
    return html(
      "section",
      {},
      html("h3", {}, `${counted(different.length, "pair")} to decide on, between ${name} and me`),
      html("ul", { class: "differences" }, different.map(item)),
      html(
        "p",
        {},
        `The same: ${counted(same, "pair")}. `,
        left
          ? html("button", { type: "button", click: () => this.inTurn(take) }, `Take over the ${left} that agree`)
          : same
            ? "They are taken over."
            : "",
      ),
    );
  }
}

export class TrainingPanel {
  /** @param {AnyElement} button @param {HTMLElement} place @param {InTurn} inTurn */
  constructor(button, place, inTurn) {
    this.button = button;
    this.place = place;
    this.inTurn = inTurn;
  }

  async begin() {
    await ask("POST", "train", {});
    await this.follow();
  }

  // Say how far the training is, until it has ended.
  async follow() {
    const found = await ask("GET", "training", {});
    const percent = (/** @type {number} */ number) => number.toFixed(2);
    /** @type {Record<string, () => string>} */
    const texts = {
      none: () => `With ${found.fewest} accepted pairs or more; five parts of them are held out in turn.`,
      running: () => `Learning from ${found.pairs} pairs: ${found.detail} …`,
      failed: () => `Not done: ${found.error}`,
      done: () =>
        `${counted(found.pairs, "pair")}: ` +
        (found.aer === null
          ? "none held out"
          : `held-out AER ${percent(found.aer)} %, 95 % interval [${found.interval.map(percent).join(", ")}]`) +
        (found.default === null ? "" : `; of the default weights ${percent(found.default)} %`) +
        (found.keeps_default
          ? ". The default weights are kept, as they make no more errors" +
            " (aligner train with --set weights=learnt keeps what was learnt). "
          : `. The learnt weights are kept${found.default === null ? "" : ", as they make fewer errors"}. `) +
        (found.suggests ? "They suggest links from now on." : "Links are still suggested by the model given.") +
        (found.early && ` ${found.early}`),
    };
    this.place.textContent = texts[found.state]();
    const saved = `Save the model (${found.keeps_default ? "default" : "learnt"} weights)`;
    if (found.state === "done")
      this.place.append(" ", html("a", { href: "trained.model", download: true }, saved));
    this.button.disabled = found.state === "running";
    if (found.state === "running") setTimeout(() => this.inTurn(() => this.follow()), 400);
  }
}
