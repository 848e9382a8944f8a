// What all pages need: their elements, the data inside them, tabs, and answers of the server.

import { fill } from "./dom.js";

// An element by its id; all that are asked for are there.
/** @type {(id: string) => AnyElement} */
export const $ = (id) => /** @type {any} */ (document.getElementById(id));

// What the program has put into the page.
/** @type {() => any} */
export const given = () => JSON.parse($("data").textContent ?? "");

// Tabs, chosen by clicks and arrow keys.  Gives what marks one as chosen, and shows its panel.
/** @type {(names: string[], choose: (name: string) => unknown) => (chosen: string) => void} */
export function tabs(names, choose) {
  /** @type {Record<string, number>} */
  const steps = { ArrowRight: 1, ArrowLeft: -1 };
  names.forEach((name, n) => {
    const keydown = async (/** @type {KeyboardEvent} */ event) => {
      if (!(event.key in steps)) return;
      const next = names[(n + steps[event.key] + names.length) % names.length];
      await choose(next);
      $(`tab-${next}`).focus();
    };
    fill($(`tab-${name}`), { click: () => choose(name), keydown });
  });
  return (chosen) => {
    for (const name of names) {
      fill($(`tab-${name}`), { "aria-selected": `${name === chosen}`, tabindex: name === chosen ? 0 : -1 });
      $(`panel-${name}`).hidden = name !== chosen;
    }
  };
}

// What the server answers.  Throws an error that says what is wrong, with the status of the answer.
/** @type {Ask} */
export async function ask(method, name, given) {
  const headers = { "Content-Type": "application/json" };
  const request = method === "GET" ? {} : { method, headers, body: JSON.stringify(given) };
  const query = method === "GET" ? `?${new URLSearchParams(given)}` : "";
  const response = await fetch(`${name}${query}`, request).catch(() => {
    throw new Error("the command does not answer (has it ended? start it again)");
  });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}
