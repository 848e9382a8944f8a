// The page of terms: a list to search and sort; an open term shows its forms and some of its sentences.

import { html, visible } from "./dom.js";
import { $, given } from "./page.js";

const MOST_ROWS = 200;

/** @type {{ terms: Term[], sentences: Record<number, string[][]>, languages: (string | null)[] }} */
const { terms, sentences, languages } = given();
/** @type {Record<string, (one: Term, other: Term) => number>} */
const ORDERS = {
  "best first": () => 0,
  "most frequent first": (one, other) => other[2] - one[2],
  "by source": (one, other) => one[0].localeCompare(other[0], languages[0] ?? undefined),
  "by target": (one, other) => one[1].localeCompare(other[1], languages[1] ?? undefined),
};
/** @type {(text: string, side: number, name?: string) => HTMLElement} */
const inLanguage = (text, side, name = "bdi") => html(name, { lang: languages[side], dir: "auto" }, visible(text));
/** @type {Term[]} */
let chosen = terms;

/** @type {(place: [number, number[]]) => HTMLElement} */
function sentence([number, span]) {
  const sides = sentences[number].map((words, side) => {
    const [start, end] = span.slice(2 * side);
    const part = (/** @type {number} */ from, /** @type {number} */ to) => visible(words.slice(from, to).join(" "));
    const term = html("mark", {}, part(start, end));
    return html("p", { lang: languages[side], dir: "auto" }, part(0, start), " ", term, " ", part(end, words.length));
  });
  return html("li", {}, html("span", { class: "number" }, `${number}`), sides);
}

/** @type {(term: Term) => HTMLElement} */
function entry([source, target, count, givenSource, givenTarget, , forms, places]) {
  const shares = [givenSource, givenTarget].map((share) => `${Math.round(100 * share)} %`);
  const figures = `${count.toLocaleString("en")} times · ${shares[0]} of the source, ${shares[1]} of the target`;
  const details = html(
    "details",
    { class: "term" },
    html("summary", {}, inLanguage(source, 0), inLanguage(target, 1), html("span", {}, figures)),
  );
  const open = () => {
    if (details.childElementCount > 1) return;
    const others = forms.map((form) => html("li", {}, inLanguage(form[0], 0), " – ", inLanguage(form[1], 1)));
    details.append(html("ul", { class: "forms" }, others), html("ol", {}, places.map(sentence)));
  };
  details.addEventListener("toggle", open);
  return details;
}

function add() {
  const shown = $("terms").childElementCount;
  $("terms").append(...chosen.slice(shown, shown + MOST_ROWS).map(entry));
  $("more").hidden = $("terms").childElementCount >= chosen.length;
}

function show() {
  const text = $("search").value.trim().toLowerCase();
  const has = (/** @type {string} */ one) => one.toLowerCase().includes(text);
  chosen = terms.filter(([source, target, , , , , forms]) => [source, target, ...forms.flat()].some(has));
  chosen.sort(ORDERS[$("order").value]);
  $("chosen").textContent = `${chosen.length.toLocaleString("en")} of ${terms.length.toLocaleString("en")}`;
  $("terms").replaceChildren();
  add();
}

$("order").append(...Object.keys(ORDERS).map((name) => html("option", {}, name)));
for (const control of [$("search"), $("order")]) control.addEventListener("input", show);
$("more").addEventListener("click", add);
show();
document.body.dataset.ready = "yes";
