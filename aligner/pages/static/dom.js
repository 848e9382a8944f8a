// Elements of HTML and SVG, made without markup: what a text says is never parsed.

export const SVG = "http://www.w3.org/2000/svg";

/** @type {<T extends Element>(node: T, attributes: Attributes, children?: Child[]) => T} */
export function fill(node, attributes, children = []) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, `${value}`);
  }
  node.append(
    .../** @type {any[]} */ (children).flat(Infinity).filter((child) => child !== null && child !== undefined),
  );
  return node;
}

// An element of HTML; an attribute that is a function listens to the event of its name.
/** @type {(name: string, attributes?: Attributes, ...children: Child[]) => HTMLElement} */
export const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);

// The same of SVG.
/** @type {(name: string, attributes?: Attributes, ...children: Child[]) => SVGElement} */
export const svg = (name, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

// A number of things: 1 pair, 2 pairs.
/** @type {(number: number, noun: string) => string} */
export const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

// A text with pictures in place of control characters, which would not be seen.
/** @type {(text: string) => string} */
export const visible = (text) =>
  text.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))).replaceAll("\u007f", "\u2421");

// At most so many letters of a text.
/** @type {(text: string, most?: number) => string} */
export function shortened(text, most = 40) {
  if (text.length <= most) return text;
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

// A table whose first column heads its rows.
/** @type {(caption: string, head: string[], rows: Child[][]) => HTMLElement} */
export function table(caption, head, rows) {
  const titles = head.map((title) => html("th", { scope: "col" }, title));
  const cells = rows.map(([first, ...rest]) => [
    html("th", { scope: "row", dir: "auto" }, first),
    ...rest.map((cell) => html("td", { dir: "auto" }, cell)),
  ]);
  const body = cells.map((row) => html("tr", {}, row));
  return html(
    "table",
    {},
    html("caption", {}, caption),
    html("thead", {}, html("tr", {}, titles)),
    html("tbody", {}, body),
  );
}

// What a picture shows as a table, folded away: for screen readers, and to copy from.
/** @type {(caption: string, head: string[], rows: () => Child[][]) => HTMLElement} */
export function tableBehind(caption, head, rows) {
  const details = /** @type {HTMLDetailsElement} */ (
    html("details", { class: "behind" }, html("summary", {}, "Table of this picture"))
  );
  const open = () => details.open && details.childElementCount === 1 && details.append(table(caption, head, rows()));
  details.addEventListener("toggle", open);
  return details;
}

/** @type {(numbers: ArrayLike<number>) => number} */
export const sum = (numbers) => Array.from(numbers).reduce((total, number) => total + number, 0);

/** @type {(number: number, low: number, high: number) => number} */
export const clamp = (number, low, high) => Math.min(Math.max(number, low), high);
