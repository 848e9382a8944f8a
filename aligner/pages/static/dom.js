// Elements of HTML and SVG, made without markup: what a text says is never parsed.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

// An element of HTML; an attribute that is a function listens to the event of its name.
const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);

// The same of SVG.
const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

// A text with pictures in place of control characters, which would not be seen.
const visible = (text) =>
  text.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))).replaceAll("\u007f", "\u2421");

// At most so many letters of a text.
function shortened(text, most = 40) {
  if (text.length <= most) return text;
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

// A table whose first column heads its rows.
function table(caption, head, rows) {
  return html(
    "table",
    {},
    html("caption", {}, caption),
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        head.map((title) => html("th", { scope: "col" }, title)),
      ),
    ),
    html(
      "tbody",
      {},
      rows.map(([first, ...rest]) =>
        html(
          "tr",
          {},
          html("th", { scope: "row", dir: "auto" }, first),
          rest.map((cell) => html("td", { dir: "auto" }, cell)),
        ),
      ),
    ),
  );
}

// What a picture shows as a table, folded away: for screen readers, and to copy from.
function tableBehind(caption, head, rows) {
  const details = html("details", { class: "behind" }, html("summary", {}, "Table of this picture"));
  const open = () => details.open && details.childElementCount === 1 && details.append(table(caption, head, rows()));
  details.addEventListener("toggle", open);
  return details;
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

const clamp = (number, low, high) => Math.min(Math.max(number, low), high);
