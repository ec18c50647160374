"use strict";
// What all panels do: the editor's theme, what is remembered over a reload, links to lines, scrolling.
(() => {
  const vscode = acquireVsCodeApi();
  const known = JSON.parse(document.getElementById("state").textContent);
  const before = vscode.getState() ?? {};
  const same = JSON.stringify(before.known?.target) === JSON.stringify(known.target);
  const remembered = same ? before : {};
  const remember = (more) => vscode.setState({ ...vscode.getState(), ...more });
  vscode.setState({ ...remembered, known });

  const theme = () => {
    const dark = /vscode-(dark|high-contrast)(?!-light)/.test(document.body.className);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  };
  new MutationObserver(theme).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  theme();

  // A page that is made anew stands where the last one stood.
  const folds = () => [...document.querySelectorAll("details")];
  for (const [at, fold] of folds().entries()) {
    if (remembered.folds && at in remembered.folds) fold.open = remembered.folds[at];
  }
  if (remembered.scroll) window.scrollTo(0, remembered.scroll);
  window.addEventListener("scroll", () => remember({ scroll: window.scrollY }), { passive: true });
  document.addEventListener("toggle", () => remember({ folds: folds().map((fold) => fold.open) }), true);

  // A link to a line leads into the editor, any other one to its place in the page.
  document.addEventListener(
    "click",
    (event) => {
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      const to = link?.getAttribute("href") ?? "";
      if (!to.startsWith("#")) return;
      event.preventDefault();
      event.stopPropagation();
      const line = /^#L(\d+)$/.exec(to);
      if (line) {
        vscode.postMessage({ line: Number(line[1]), step: link.dataset.step && Number(link.dataset.step) });
        return;
      }
      const target = document.getElementById(decodeURIComponent(to.slice(1)));
      for (let fold = target?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
      target?.scrollIntoView();
      if (target && target.tabIndex < 0 && !target.hasAttribute("tabindex")) target.tabIndex = -1;
      target?.focus({ preventScroll: true });
    },
    true,
  );
  window.fencepost = { vscode, known, remembered, remember };
})();
