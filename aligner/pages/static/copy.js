// A picture as a file of its own, and links as text for other programs.

import { SVG, html, svg, visible } from "./dom.js";

const INLINED =
  "fill stroke stroke-width stroke-dasharray stroke-opacity fill-opacity opacity font-size font-family visibility".split(
    " ",
  );

// A picture as the text of an SVG file, with the colours that it has now.
/** @type {(picture: Element) => string} */
export function svgText(picture) {
  const copy = /** @type {Element} */ (picture.cloneNode(true));
  const originals = [picture, ...picture.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, n) => {
    const style = getComputedStyle(originals[n]);
    for (const name of INLINED) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex", "role", "aria-label", "data-side", "data-index"])
      element.removeAttribute(name);
  });
  for (const element of copy.querySelectorAll("[visibility=hidden]")) element.remove();
  const paper = getComputedStyle(picture.closest(".picture") ?? picture).backgroundColor;
  copy.prepend(svg("rect", { width: "100%", height: "100%", fill: paper }));
  copy.setAttribute("xmlns", SVG);
  return `${new XMLSerializer().serializeToString(copy)}\n`;
}

// Links in Pharaoh format: i-j, and i?j of those that gold marks as possible.
/** @type {(links: number[][]) => string} */
export const pharaohText = (links) => `${links.map(([j, k, sure]) => `${j}${sure === 0 ? "?" : "-"}${k}`).join(" ")}\n`;

/** @type {Record<string, string>} */
const LATEX = { "\\": "\\textbackslash{}", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}" };

/** @type {Record<string, string>} */
const LATEX_LINES = {
  link: "",
  right: "",
  allowed: ", densely dashed",
  wrong: ", red, dashed",
  missed: ", orange, loosely dashed",
  open: ", gray, dotted",
  first: ", teal",
  firstWrong: ", teal, dashed",
  second: ", violet",
  secondWrong: ", violet, dashed",
};

// Two lines of words and the links between them, for LaTeX with TikZ.
/** @type {(pair: Pair) => string} */
export function latexText(pair) {
  /** @type {(name: string, y: number) => (word: string, n: number) => string} */
  const node = (name, y) => (word, n) =>
    `  \\node[word] (${name}${n}) at (${n}*\\wordgap, ${y}) {\\strut ${latexEscaped(word)}};`;
  return [
    "% \\usepackage{tikz}",
    "\\begin{tikzpicture}[word/.style={inner sep=2pt}, every path/.style={semithick}]",
    "  \\def\\wordgap{1.6}",
    ...pair.source.map(node("s", 0)),
    ...pair.target.map(node("t", -2)),
    ...pair.links.map(({ source, target, kind }) => {
      const style = LATEX_LINES[kind].replace(/^, /, "");
      return `  \\draw${style ? `[${style}]` : ""} (s${source}.south) to[out=-90, in=90] (t${target}.north);`;
    }),
    "\\end{tikzpicture}",
    "",
  ].join("\n");
}

// A word with what LaTeX would obey escaped, each letter once.
/** @type {(word: string) => string} */
function latexEscaped(word) {
  return visible(word).replace(/[\\^~&%$#_{}]/g, (c) => LATEX[c] ?? `\\${c}`);
}

// Put a text on the clipboard; resolves to whether that was possible.
/** @type {(text: string) => Promise<boolean>} */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = /** @type {any} */ (html("textarea", { class: "unseen", "aria-hidden": "true" }));
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
