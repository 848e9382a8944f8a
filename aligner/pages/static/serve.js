// The page of a service: two sentences are sent to it, and its links are drawn. The address keeps them.

function startTrial({ languages }) {
  const one = (selector) => document.querySelector(selector);
  const [form, said, views] = [one("#sentences"), one("#said"), [...document.querySelectorAll("[data-view]")]];
  const shown = { mode: "one", system: 0 };
  let [view, found, asked] = ["lines", null, 0];

  function show() {
    for (const button of views) button.setAttribute("aria-pressed", button.dataset.view === view);
    one("#answer").hidden = found === null;
    if (found === null) return;
    const systems = [found.links.map(([j, k, score]) => [j, k, Math.min(score, 1)])];
    const pair = { source: found.source, target: found.target, languages, gold: null, systems };
    draw(one("#drawing"), { ...pair, links: judge(pair, shown) }, { view, shown });
  }

  // What came of it is told in any case; of several questions only the last one's answer counts.
  async function align() {
    const number = ++asked;
    const sentences = { source: form.source.value, target: form.target.value };
    const body = JSON.stringify(sentences);
    said.replaceChildren("…");
    let [answer, message] = [null, ""];
    try {
      const response = await fetch("align", { method: "POST", headers: { "content-type": "application/json" }, body });
      answer = await response.json();
      if (!response.ok) [answer, message] = [null, answer.error];
    } catch {
      message = "The service does not answer.";
    }
    if (number !== asked) return;
    found = answer;
    if (found) {
      const count = found.links.length;
      message = `${count} link${count === 1 ? "" : "s"}${count ? `, mean score ${found.score.toFixed(2)}` : ""}`;
      one("#asked").replaceChildren(body);
      one("#json").replaceChildren(JSON.stringify(found));
      history.replaceState(null, "", `#${new URLSearchParams({ ...sentences, view })}`);
    }
    said.replaceChildren(message);
    show();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    align();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.tagName !== "TEXTAREA" || event.isComposing) return;
    event.preventDefault();
    align();
  });
  for (const button of views)
    button.addEventListener("click", () => {
      view = button.dataset.view;
      show();
    });
  const kept = new URLSearchParams(location.hash.slice(1));
  if (kept.get("view") === "matrix") view = "matrix";
  for (const side of ["source", "target"]) form[side].value = kept.get(side) ?? "";
  show();
  if (form.source.value && form.target.value) align();
  document.body.dataset.ready = "yes";
}

startTrial(JSON.parse(document.getElementById("data").textContent));
