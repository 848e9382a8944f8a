// draw(container, pair, options): the picture of one pair, with its legend and its table, in place of what is there.
//
// pair: {source: [word], target: [word], languages: [code or null] of both or nothing,
//     links: [{source, target, kind, probability, found}]}, see `judge` and KINDS
//     probability: of the link, or null; found: whether each of several systems has it
// options: {view: "lines" or "matrix", label: a name for the picture, systems: [name],
//     shown: as of `judge`; onword: called with (side, index) for a word that is clicked, or entered by the keyboard}
//
// Gives {svg, light(side, index), unlight(), focus()}; side 0 is the source; and of a matrix point(j, k), which lights a
// cell, cell(event), the [j, k] under the mouse or null, and place(j, k), its box in the picture. Needs dom.js, links.js,
// lines.js, matrix.js and drawing.css; knows nothing of the page. Hovering or focusing a word lights its links and the words at their
// ends; arrow keys move along a side, and between the sides along links.
function draw(container, pair, options) {
  container.replaceChildren();
  const scroller = html("div", { class: "picture", tabindex: 0, role: "group", "aria-label": "Picture, scrolls" });
  const said = html("p", { class: "said", "aria-hidden": "true" });
  const legend = legendOf(pair.links, options);
  container.append(scroller, said, legend, linksTable(pair, options));
  if (!pair.source.length && !pair.target.length) {
    scroller.append(html("p", { class: "nothing" }, "An empty pair."));
    return { svg: null, light() {}, unlight() {}, focus() {} };
  }
  const available = (scroller.clientWidth || 800) - 8;
  const drawing = options.view === "matrix" ? drawMatrix : drawLines;
  const drawn = drawing(pair, options, available, measureLike(container));
  const { picture, words, links } = drawn;
  picture.classList.add("drawing");
  fill(picture, { role: "group", "aria-label": options.label ?? "Links of a sentence pair" }, []);
  scroller.append(picture);
  scroller.removeAttribute("tabindex"); // its words can be focused
  drawn.stay?.(scroller);

  const ends = words.map((side) => side.map(() => []));
  pair.links.forEach((link, n) => {
    ends[0][link.source].push(n);
    ends[1][link.target].push(n);
  });

  let lit = [];
  const unlight = () => {
    for (const element of lit) element.classList.remove("lit", "here");
    lit = [];
    picture.classList.remove("dim");
    drawn.cross?.(null, null);
    said.replaceChildren();
  };
  const shine = (element, name = "lit") => {
    element.classList.add("lit", name);
    lit.push(element);
  };
  const light = (side, index) => {
    unlight();
    picture.classList.add("dim");
    shine(words[side][index], "here");
    for (const n of ends[side][index]) {
      shine(links[n]);
      shine(words[1 - side][side ? pair.links[n].source : pair.links[n].target]);
    }
    drawn.cross?.(side ? null : index, side ? index : null);
    said.append(...describeWord(pair, side, index, ends[side][index], options));
  };

  let current = words[words[0].length ? 0 : 1][0];
  const focus = (element = current) => {
    current.setAttribute("tabindex", -1);
    current = element;
    current.setAttribute("tabindex", 0);
    current.focus();
  };
  words.forEach((those, side) =>
    those.forEach((element, index) => {
      const enter = () => options.onword?.(side, index);
      fill(
        element,
        {
          role: "button",
          tabindex: -1,
          "aria-label": spokenWord(pair, side, index, ends[side][index], options),
          "data-side": side ? "target" : "source",
          "data-index": index,
          mouseenter: () => light(side, index),
          mouseleave: unlight,
          focus: () => light(side, index),
          blur: unlight,
          click: enter,
          keydown: (event) => {
            const next = neighbour(event.key, side, index);
            if (next) focus(next);
            else if (event.key === "Enter" || event.key === " ") enter();
            else return;
            event.preventDefault();
            event.stopPropagation();
          },
        },
        [],
      );
    }),
  );
  current.setAttribute("tabindex", 0);

  // Along a side by the keys of its direction, across by the others.
  function neighbour(key, side, index) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!(key in steps)) return { Home: words[side][0], End: words[side].at(-1) }[key];
    let [x, y] = steps[key];
    const layout = picture.dataset.layout;
    if (layout === "down" || (layout === "matrix" && side === 0)) [x, y] = [y, x];
    if (layout === "across" && runsLeftwards(side ? pair.target : pair.source)) x = -x;
    if (x) return words[side][index + x] ?? words[side][index];
    if (layout === "matrix" ? y > 0 === Boolean(side) : y < 0 === (side === 0)) return words[side][index];
    const link = ends[side][index][0];
    const other = link === undefined ? index : side ? pair.links[link].source : pair.links[link].target;
    return words[1 - side][Math.min(other, words[1 - side].length - 1)] ?? words[side][index];
  }

  const point = (j, k) => {
    unlight();
    for (const element of [words[0][j], words[1][k]]) shine(element, "here");
    drawn.cross(j, k);
    const link = pair.links.find((those) => those.source === j && those.target === k);
    said.append(...wordsOf(pair, 0, j), " – ", ...wordsOf(pair, 1, k), link ? `: ${describeKind(link, options)}` : "");
  };
  if (drawn.cell) {
    picture.addEventListener("mousemove", (event) => {
      if (event.target.closest(".word")) return;
      const cell = drawn.cell(event);
      if (cell) point(...cell);
      else unlight();
    });
    picture.addEventListener("mouseleave", unlight);
  }
  return { svg: picture, light, unlight, focus: () => focus(), point, cell: drawn.cell, place: drawn.place };
}

// A word with its number among the equal ones: "the (2)".
function nameOf(words, index) {
  const word = visible(words[index]);
  if (words.indexOf(words[index]) === words.lastIndexOf(words[index])) return word;
  return `${word} (${words.slice(0, index + 1).filter((other) => other === words[index]).length})`;
}

const wordsOf = (pair, side, index) => [
  html("bdi", { lang: pair.languages?.[side] }, nameOf(side ? pair.target : pair.source, index)),
];

function describeKind(link, options) {
  return labelOf(link.kind, options) + (link.probability === null ? "" : `, ${(100 * link.probability).toFixed(0)} %`);
}

function describeWord(pair, side, index, numbers, options) {
  const found = numbers.map((n) => {
    const link = pair.links[n];
    return [...wordsOf(pair, 1 - side, side ? link.source : link.target), ` (${describeKind(link, options)})`];
  });
  const rest = found.length ? found.flatMap((parts, n) => (n ? [", ", ...parts] : parts)) : ["no link"];
  return [...wordsOf(pair, side, index), " – ", ...rest];
}

function spokenWord(pair, side, index, numbers, options) {
  return describeWord(pair, side, index, numbers, options)
    .map((part) => part.textContent ?? part)
    .join("");
}

function linksTable(pair, options) {
  const systems = (options.shown?.mode ?? "one") === "one" ? [] : (options.systems ?? []);
  const head = ["Source", "Target", "Link", "Probability", ...systems];
  const rows = () =>
    pair.links.map((link) => [
      `${link.source + 1} ${visible(pair.source[link.source])}`,
      `${link.target + 1} ${visible(pair.target[link.target])}`,
      labelOf(link.kind, options),
      link.probability === null ? "–" : link.probability.toFixed(4),
      ...systems.map((_, n) => (link.found[n] ? "yes" : "no")),
    ]);
  return tableBehind("Links, by the numbers of their words", head, rows);
}
