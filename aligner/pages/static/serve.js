// The page of a service: two sentences are sent to it, and its links are drawn. The address keeps them.

import { draw } from "./draw.js";
import { ONE, judge } from "./links.js";
import { $, ask, given } from "./page.js";

/** @typedef {{ source: string[], target: string[], links: number[][], score: number }} Found */

const { languages } = given();
const form = /** @type {any} */ ($("sentences"));
const views = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-view]")]);
const kept = new URLSearchParams(location.hash.slice(1));
/** @type {"lines" | "matrix"} */
let view = kept.get("view") === "matrix" ? "matrix" : "lines";
/** @type {Found | null} */
let found = null;
let asked = 0;

function show() {
  for (const button of views) button.setAttribute("aria-pressed", `${button.dataset.view === view}`);
  $("answer").hidden = found === null;
  if (found === null) return;
  const { source, target } = found;
  /** @type {Scored[]} */
  const links = found.links.map(([j, k, score]) => [j, k, Math.min(score, 1)]);
  const drawn = { source, target, languages, links: judge({ gold: null, systems: [links] }, ONE) };
  draw($("drawing"), drawn, { view, systems: [], shown: ONE });
}

// What came of it is told in any case; of several questions only the last one's answer counts.
async function align() {
  const number = ++asked;
  const sentences = { source: form.source.value, target: form.target.value };
  $("said").replaceChildren("…");
  let [message, answer] = ["", /** @type {Found | null} */ (null)];
  try {
    answer = await ask("POST", "align", sentences);
  } catch (error) {
    message = error.message;
  }
  if (number !== asked) return;
  found = answer;
  if (found) {
    const count = found.links.length;
    message = `${count} link${count === 1 ? "" : "s"}${count ? `, mean score ${found.score.toFixed(2)}` : ""}`;
    const joined = [...found.source, ...found.target].find((word) => /^\p{L}{2,}[.,;:!?…。،؟।]$/u.test(word));
    if (joined) message += `. “${joined}” is one word: put a space before its last sign`;
    $("asked").replaceChildren(JSON.stringify(sentences));
    $("json").replaceChildren(JSON.stringify(found));
    history.replaceState(null, "", `#${new URLSearchParams({ ...sentences, view })}`);
  }
  $("said").replaceChildren(message);
  show();
}

form.addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  align();
});
form.addEventListener("keydown", (/** @type {any} */ event) => {
  if (event.key !== "Enter" || event.target.tagName !== "TEXTAREA" || event.isComposing) return;
  event.preventDefault();
  align();
});
for (const button of views)
  button.addEventListener("click", () => {
    view = button.dataset.view === "matrix" ? "matrix" : "lines";
    show();
  });
for (const side of ["source", "target"]) form[side].value = kept.get(side) ?? "";
show();
if (form.source.value && form.target.value) align();
document.body.dataset.ready = "yes";
