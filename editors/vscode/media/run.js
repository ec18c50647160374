"use strict";
// Going through a run: the steps, what barriers count after each, and the same step in the picture.
(() => {
  const { vscode, known } = window.fencepost;
  const { steps } = known;
  const at = (id) => document.getElementById(id);
  let now = -1;
  let stale = false;

  const cell = (row, text, tag = "td") => {
    const made = document.createElement(tag);
    made.textContent = text;
    row.append(made);
    return made;
  };

  /** Shows a step; who asked for it is told where it is by the extension alone. */
  const show = (number) => {
    const step = steps[number];
    if (!step) return;
    now = number;
    at("count").textContent = `Step ${number + 1} of ${steps.length}`;
    // Not `disabled`: a button that loses the focus takes the keys with it.
    at("previous").setAttribute("aria-disabled", String(number === 0));
    at("next").setAttribute("aria-disabled", String(number === steps.length - 1));
    at("now").textContent = step.said;
    for (const button of document.querySelectorAll(".steps-list button")) {
      const own = Number(button.dataset.at) === number;
      if (own) {
        button.setAttribute("aria-current", "step");
        button.scrollIntoView({ block: "nearest" });
      } else button.removeAttribute("aria-current");
    }
    const body = at("barriers");
    body.replaceChildren();
    // A column in which nothing stands is left out.
    const marked = step.barriers.some((barrier) => barrier.changed || barrier.concerned);
    at("remarks").hidden = !marked;
    for (const barrier of step.barriers) {
      const row = document.createElement("tr");
      if (barrier.changed) row.className = "changed";
      cell(row, barrier.name, "th").scope = "row";
      cell(row, barrier.words);
      const marks = [barrier.changed && "changed here", barrier.concerned && "the finding is about it"].filter(Boolean);
      if (marked) cell(row, marks.join(", "));
      body.append(row);
    }
    at("no-barriers").hidden = step.barriers.length > 0;
    for (const old of document.querySelectorAll("a.now")) old.classList.remove("now");
    // In the picture, and in the rows that are there where it does not fit.
    for (const drawn of step.number ? document.querySelectorAll(`a[data-step="${step.number}"]`) : []) {
      drawn.classList.add("now");
      drawn.closest("details:not([open])")?.setAttribute("open", "");
    }
  };

  const ask = (number) => {
    const wanted = Math.max(0, Math.min(steps.length - 1, number));
    if (wanted === now) return;
    // The lines of an earlier text lead nowhere: the run is gone through here alone.
    if (stale) show(wanted);
    else vscode.postMessage({ go: wanted });
  };
  at("previous").addEventListener("click", () => ask(now - 1));
  at("next").addEventListener("click", () => ask(now + 1));
  at("again").addEventListener("click", () => vscode.postMessage({ again: true }));
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[data-at]");
    if (button) ask(Number(button.dataset.at));
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.("a[data-step]")) return;
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: steps.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    ask(to);
  });
  window.addEventListener("message", ({ data }) => {
    if (typeof data.step === "number") show(data.step);
    if (typeof data.stale === "boolean") {
      stale = data.stale;
      at("stale").hidden = !data.stale;
      document.body.classList.toggle("is-stale", data.stale);
    }
  });
  show(known.step);
  vscode.postMessage({ ready: true });
})();
