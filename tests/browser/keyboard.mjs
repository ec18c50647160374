// Whether all that can be clicked in a page can be had by keys, and whether one sees where one is.

const MOST = 600;
const FEW = 60;

/** What can be clicked, numbered in `data-stop`; one that only the arrow keys reach is `inGroup`. */
const clickable = () => {
  const all = [...document.querySelectorAll("a[href], button, summary, input, select, [role=button], [tabindex='0']")];
  const pointed = [...document.querySelectorAll("body *")].filter((it) => getComputedStyle(it).cursor === "pointer" && getComputedStyle(it.parentElement).cursor !== "pointer");
  // What is hidden from readers is said a second time elsewhere; it must not take the focus.
  const found = [...new Set([...all, ...pointed])].filter((it) => it.checkVisibility() && !(it.closest("[aria-hidden=true]") && it.tabIndex < 0));
  return found.map((it, at) => {
    it.dataset.stop = String(at);
    const inGroup = it.tabIndex < 0 && Boolean(it.closest(".run-picture, .narrow, .memory, .source, [data-net]"));
    return { at, inGroup, name: `${it.tagName}.${it.getAttribute("class") ?? ""} ${it.textContent.trim().slice(0, 24)}` };
  });
};

/** What has the focus, and whether one sees it: in sight, with a ring that stands out. */
const focused = () => {
  const it = document.activeElement;
  if (!it || it === document.body) return null;
  const part = it.closest("svg") ? it.querySelector("rect.c, rect:not(.hit)") : null;
  const [own, shape] = [getComputedStyle(it), part && getComputedStyle(part)];
  const light = (colour) => {
    const of = colour.match(/[\d.]+/g).slice(0, 3).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * of[0] + 0.7152 * of[1] + 0.0722 * of[2];
  };
  const page = light(getComputedStyle(document.body).backgroundColor);
  const plain = (colour) => (Math.max(light(colour), page) + 0.05) / (Math.min(light(colour), page) + 0.05) >= 3;
  const ring = own.outlineStyle !== "none" && parseFloat(own.outlineWidth) >= 1 && plain(own.outlineColor);
  const stroke = shape && shape.stroke !== "none" && parseFloat(shape.strokeWidth) >= 3 && plain(shape.stroke);
  const box = it.getBoundingClientRect();
  const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  return { at: Number(it.dataset.stop ?? -1), seen: Boolean(ring || stroke) && inside, name: `${it.tagName}.${it.getAttribute("class") ?? ""} ${it.textContent.trim().slice(0, 24)}` };
};

/** Whether something comes to hold in so many milliseconds: keys come to a page when a busy machine brings them. */
const within = async (patience, holds) => {
  for (const end = Date.now() + patience; ; ) {
    const now = await holds();
    if (now || Date.now() > end) return Boolean(now);
    await new Promise((done) => setTimeout(done, 10));
  }
};

/** What has the focus once a key has moved it from `before` into sight. */
const moved = async (run, before, patience) => {
  let now;
  await within(patience, async () => {
    now = await run(focused);
    return now?.seen && now.at !== before;
  });
  return now;
};

/**
 * What is wrong with the keys of a page: `run` runs a function in it, `press` presses a key. Of pages with more than `MOST`
 * stops a few are gone through.
 */
export async function unreachable(run, press) {
  const all = await run(clickable);
  const most = all.length > MOST ? FEW : MOST;
  const reached = new Set();
  const wrong = new Set();
  const note = (it) => {
    reached.add(it.at);
    if (it.at < 0) wrong.add(`the focus stops where there is nothing to do: ${it.name}`);
    if (!it.seen) wrong.add(`the focus is not seen at ${it.name}`);
  };
  await run(() => {
    document.activeElement?.blur();
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute("tabindex");
    scrollTo(0, 0);
  });
  let last;
  for (let count = 0; count < Math.min(all.length + 3, most); count += 1) {
    await press("Tab");
    const at = await moved(run, last, 1000);
    if (!at || (at.at >= 0 && reached.has(at.at))) break;
    note(at);
    last = at.at;
  }
  // From a stop in a picture, or in a text, the arrow keys go on.
  for (const [kind, ways] of [
    [".run-picture, .narrow, .memory, .source", ["ArrowDown"]],
    ["[data-net]", ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]],
  ]) {
    const firsts = await run((kind) => [...document.querySelectorAll(kind)].map((it) => it.querySelector("a[data-stop]:not([tabindex='-1'])")?.dataset.stop).filter(Boolean), kind);
    const open = firsts.map(Number);
    const tried = new Set(open);
    for (let from = open.shift(); from !== undefined && tried.size < most; from = open.shift()) {
      for (const way of ways) {
        await run((stop) => document.querySelector(`[data-stop="${stop}"]`).focus(), from);
        await press(way);
        const at = await moved(run, from, 50);
        if (!at || at.at < 0 || tried.has(at.at)) continue;
        note(at);
        tried.add(at.at);
        open.push(at.at);
      }
    }
  }
  for (const it of all) if (!reached.has(it.at) && all.length <= most) wrong.add(`no key reaches ${it.name}`);
  return [...wrong];
}

/** Folds and buttons that do nothing when Enter or the space bar is pressed on them. */
export async function dead(run, press) {
  const wrong = [];
  for (const key of ["Enter", " "]) {
    const before = await run(() => {
      // One of a form of the page that is not shown hears nothing.
      const fold = [...document.querySelectorAll("summary")].find((it) => it.checkVisibility());
      fold?.focus();
      return fold ? fold.parentElement.open : null;
    });
    if (before === null) break;
    await press(key);
    const heard = async () => (await run(() => document.activeElement.parentElement.open)) !== before;
    if (!(await within(2000, heard))) wrong.push(`a fold does not hear ${JSON.stringify(key)}`);
  }
  return wrong;
}
