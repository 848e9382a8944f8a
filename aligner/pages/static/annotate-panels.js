// Panels of the annotator's page beside the pairs: word pairs to decide on at once, agreement with other annotators, training.

// ask(method, name, given): gives what the server answers.  inTurn(action): does what a click asks for after all before it.
// open(pair, other): shows a pair, of decisions with another.

class WordPanel {
  constructor(place, contexts, ask, inTurn) {
    Object.assign(this, { place, contexts, ask, inTurn });
  }

  async show() {
    const { words } = await this.ask("GET", "words", {});
    const button = (label, act) => html("button", { type: "button", click: () => this.inTurn(act) }, label);
    const rows = words.map(([source, target, times]) => [
      button(`${source} – ${target}`, () => this.showContexts(source, target)),
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

  async approve(source, target, kind) {
    await this.ask("POST", "approve", { source, target, kind });
    this.contexts.hidden = true;
    await this.show();
    this.place.querySelector("button")?.focus();
  }

  async showContexts(source, target) {
    const found = await this.ask("GET", "words", { source, target });
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

class AgreementPanel {
  constructor(place, ask, inTurn, open) {
    Object.assign(this, { place, ask, inTurn, open });
  }

  async show() {
    const { others } = await this.ask("GET", "agreements", {});
    const percent = (share) => `${(100 * share).toFixed(2)} %`;
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

  differences({ name, different, same, left }) {
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
    const take = () => this.ask("POST", "take-over", { with: name }).then(() => this.show());
    return html(
      "section",
      {},
      html("h3", {}, `${different.length} pairs to decide on, between ${name} and me`),
      html("ul", { class: "differences" }, different.map(item)),
      html(
        "p",
        {},
        `${same} pairs agree. `,
        left
          ? html("button", { type: "button", click: () => this.inTurn(take) }, `Take over the ${left} that agree`)
          : same
            ? "They are taken over."
            : "",
      ),
    );
  }
}

class TrainingPanel {
  constructor(button, place, ask, inTurn) {
    Object.assign(this, { button, place, ask, inTurn });
  }

  async begin() {
    await this.ask("POST", "train", {});
    await this.follow();
  }

  // Say how far the training is, until it has ended.
  async follow() {
    const found = await this.ask("GET", "training", {});
    const percent = (number) => number.toFixed(2);
    const texts = {
      none: () => `With ${found.fewest} accepted pairs or more; five parts of them are held out in turn.`,
      running: () => `Learning from ${found.pairs} pairs: ${found.detail} …`,
      failed: () => `Not done: ${found.error}`,
      done: () =>
        `${found.pairs} pairs: held-out AER ${percent(found.aer)} %, 95 % interval [${found.interval.map(percent).join(", ")}]` +
        (found.default === null ? "" : `; without labels ${percent(found.default)} %`) +
        `. ${found.keeps_default ? "The default weights are" : "What was learnt is"} kept` +
        (found.suggests ? ", and suggests links from now on." : "; links are still suggested by the model given."),
    };
    this.place.textContent = texts[found.state]();
    this.button.disabled = found.state === "running";
    if (found.state === "running") setTimeout(() => this.inTurn(() => this.follow()), 400);
  }
}
