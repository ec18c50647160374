"use strict";
// Adds what a page cannot do by itself: highlights, arrow keys, and the choice of a theme.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const themes = [["", "as the system"], ["light", "light"], ["dark", "dark"]];
  let theme = 0;
  // A page that is shown by an editor has its theme.
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => {
      theme = (theme + 1) % themes.length;
      const [name, words] = themes[theme];
      if (name) root.dataset.theme = name;
      else delete root.dataset.theme;
      button.textContent = `Theme: ${words}`;
    });
  }

  for (const box of document.querySelectorAll("[data-least]")) box.style.minWidth = `${box.dataset.least}px`;

  const byKey = new Map();
  for (const element of document.querySelectorAll("[data-k]")) {
    for (const key of element.dataset.k.split(" ")) {
      if (!byKey.has(key)) byKey.set(key, []);
      byKey.get(key).push(element);
    }
  }
  let hot = [];
  const light = (target) => {
    const source = target instanceof Element ? target.closest("[data-hot]") : null;
    for (const element of hot) element.classList.remove("hot");
    hot = source ? source.dataset.hot.split(" ").flatMap((key) => byKey.get(key) ?? []) : [];
    for (const element of hot) element.classList.add("hot");
  };
  document.addEventListener("mouseover", (event) => light(event.target));
  document.addEventListener("focusin", (event) => light(event.target));
  document.addEventListener("focusout", () => light(null));

  // What a link leads to is unfolded first.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    let fold = target?.closest("details:not([open])");
    if (!fold) return;
    while (fold) {
      fold.open = true;
      fold = fold.parentElement?.closest("details:not([open])");
    }
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", unfold);
  if (location.hash) unfold();
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const fold of folded) fold.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const fold of folded) fold.open = false;
  });

  const middle = (element) => {
    const box = element.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const ways = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  for (const net of document.querySelectorAll("[data-net]")) {
    const stops = [...net.querySelectorAll("a.box, a.bundle")];
    net.addEventListener("keydown", (event) => {
      const way = ways[event.key];
      const from = event.target.closest("a.box, a.bundle");
      if (!way || !from || event.altKey || event.ctrlKey || event.metaKey) return;
      const [x, y] = middle(from);
      let best = null;
      let least = Infinity;
      for (const stop of stops) {
        const [dx, dy] = middle(stop).map((at, axis) => at - [x, y][axis]);
        const along = dx * way[0] + dy * way[1];
        const across = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
        if (stop === from || along < 4) continue;
        if (along + 2 * across < least) [best, least] = [stop, along + 2 * across];
      }
      event.preventDefault();
      best?.focus();
    });
  }

  // Of a run's steps, of the bars of memory and of the lines one is a stop of the tab key, the arrow keys go on from there.
  for (const group of document.querySelectorAll(".run-picture, .narrow, .memory, .source")) {
    const links = [...group.querySelectorAll("a")];
    if (links.length === 0) continue;
    const ways = { ArrowUp: -1, ArrowDown: 1, ...(group.matches(".memory") && { ArrowLeft: -1, ArrowRight: 1 }) };
    // Links of a closed fold cannot have the focus.
    const hidden = (link) => link.closest("details:not([open])");
    let stop;
    const stopAt = (link) => {
      (stop ?? links[0]).setAttribute("tabindex", "-1");
      stop = link;
      stop?.setAttribute("tabindex", "0");
    };
    const first = () => stopAt(links.find((link) => !hidden(link)));
    first();
    group.addEventListener("toggle", () => (!stop || hidden(stop)) && first(), true);
    group.addEventListener("focusin", ({ target }) => links.includes(target) && stopAt(target));
    group.addEventListener("keydown", (event) => {
      const by = ways[event.key];
      const at = links.indexOf(event.target.closest("a"));
      if (!by || at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      let next = at + by;
      while (links[next] && hidden(links[next])) next += by;
      links[next]?.focus();
    });
  }
})();
