// Holds report pages against what they promise, in a real browser:
//
//     node report.mjs BROWSER [--shots FOLDER] PAGE.html …
//
// One line a check; the exit code is 1 where one fails. With --shots it leaves pictures of each page in
// both themes.

import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./chromium.mjs";
import { dead, unreachable } from "./keyboard.mjs";
import { coloursAlone, pale } from "./legible.mjs";

const WIDTH = 1440;
const HEIGHT = 1000;

let failed = 0;
const check = (page, what, problems) => {
  const bad = Array.isArray(problems) ? problems : problems ? [problems] : [];
  if (bad.length > 0) failed += 1;
  console.log(`${bad.length > 0 ? "FAIL" : "ok  "} ${page}: ${what}`);
  for (const problem of bad.slice(0, 8)) console.log(`       ${typeof problem === "string" ? problem : JSON.stringify(problem)}`);
  if (bad.length > 8) console.log(`       … and ${bad.length - 8} more`);
};

/* These run in the page. */

const links = () => {
  const seen = {};
  for (const { id } of document.querySelectorAll("[id]")) seen[id] = (seen[id] ?? 0) + 1;
  const doubled = Object.keys(seen).filter((id) => seen[id] > 1);
  const lost = [...document.querySelectorAll("a")].map((a) => a.getAttribute("href")).filter((href) => !href?.startsWith("#") || !seen[href.slice(1)]);
  const named = [...document.querySelectorAll("[aria-labelledby],[aria-describedby]")];
  const ids = named.flatMap((e) => [e.getAttribute("aria-labelledby"), e.getAttribute("aria-describedby")]).filter(Boolean);
  return { doubled, lost, unnamed: ids.flatMap((list) => list.split(" ")).filter((id) => !seen[id]) };
};

const numbers = () => {
  const json = JSON.parse(document.getElementById("report").textContent);
  const at = (path) => path.split("/").slice(1).reduce((value, key) => value?.[key], json);
  const wrong = [];
  let count = 0;
  const compare = (what, shown, given) => {
    count += 1;
    if (shown !== given) wrong.push(`${what}: the page says ${shown}, the document ${given}`);
  };
  for (const e of document.querySelectorAll("[data-json]")) compare(e.dataset.json, e.textContent, String(at(e.dataset.json)));
  for (const e of document.querySelectorAll("[data-extent]")) {
    const { from, to } = at(e.dataset.extent);
    compare(e.dataset.extent, e.textContent.replace(/^\D+/, ""), to <= from + 1 ? `${from}` : `${from}-${to - 1}`);
  }
  for (const e of document.querySelectorAll("[data-lines]")) {
    const ranges = at(e.dataset.lines).map((it) => (it && "range" in it ? it.range : it)).filter(Boolean);
    const lines = [...new Set(ranges.map((range) => range.start.line + 1))].sort((a, b) => a - b);
    compare(e.dataset.lines, [...e.querySelectorAll("a")].map((a) => a.textContent).join(), lines.join());
  }
  for (const [number, report] of (json.reports ?? []).entries()) {
    const own = document.getElementById(`k${number + 1}-report`);
    const count = (what) => own.querySelector(`[data-count="${what}"]`).textContent;
    const hints = report.findings.filter((finding) => finding.severity === "hint").length;
    compare(`${number} findings`, count("findings"), String(report.findings.length - hints));
    for (const what of ["partitions", "barriers", "edges", "buffers", "remarks", "unmodelled"]) {
      compare(`${number} ${what}`, count(what), String(report[what].length));
    }
    const missing = report.coverage.flatMap((block) => block.rows).filter((row) => row.order === "missing").length;
    compare(`${number} missing`, count("missing"), String(missing));
    compare(`${number} missing`, String(report.missing), String(missing));
    compare(`${number} rows missing`, String(own.querySelectorAll("tr.missing").length), String(missing));
    compare(`${number} edge rows`, String(own.querySelectorAll(`tr[id^="k${number + 1}-e"]`).length), String(report.edges.length));
    const boxes = own.querySelectorAll("a.box").length;
    compare(`${number} boxes`, String(boxes), String(report.partitions.length));
  }
  return { wrong, count };
};

/** Coverage tables whose verdicts are out of sight. */
const verdicts = () =>
  [...document.querySelectorAll(".coverage")].flatMap((table) => {
    const cell = table.querySelector("th:last-child").getBoundingClientRect();
    const room = table.parentElement.getBoundingClientRect();
    return cell.right > room.right + 1 || cell.width < 100 ? [`${table.parentElement.ariaLabel}: ${cell.right} in ${room.right}`] : [];
  });

/** Folds of runs that do not show steps when they are opened, and barriers that a run does not show. */
const runs = () => {
  const wrong = [];
  for (const fold of document.querySelectorAll(".steps")) {
    const before = fold.getBoundingClientRect().height;
    fold.open = true;
    const steps = fold.querySelectorAll("svg a").length;
    if (fold.getBoundingClientRect().height <= before || steps === 0) wrong.push(fold.textContent.slice(0, 40));
    fold.open = false;
  }
  const json = JSON.parse(document.getElementById("report").textContent);
  for (const [number, report] of (json.reports ?? []).entries()) {
    const head = document.querySelector(`#k${number + 1}-run .scroll.run-picture svg`);
    if (!head) continue;
    const names = [...head.querySelectorAll("text")].map((text) => text.textContent);
    for (const { role, label } of report.partitions) {
      const first = role.split(/[ ,(]/)[0];
      if (!names.includes(label) || !names.some((name) => name.startsWith(first))) wrong.push(`${label}: ${role}`);
    }
  }
  return wrong;
};

/** Boxes and labels that meet, and texts that do not fit into theirs. */
const overlaps = () => {
  const wrong = [];
  for (const net of document.querySelectorAll("[data-net]")) {
    const all = [...net.querySelectorAll("a.box > rect, a.bundle > rect")].map((rect) => [rect.parentElement.id, rect.getBoundingClientRect()]);
    for (const [at, [id, a]] of all.entries()) {
      for (const [other, b] of all.slice(0, at)) {
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) wrong.push(`${id} lies on ${other}`);
      }
    }
    for (const text of net.querySelectorAll("a.box > text, a.bundle > text, a.jump > text")) {
      if (!text.textContent) continue;
      if (text.textContent.includes("…")) wrong.push(`“${text.textContent}” is cut`);
      const outer = text.parentElement.querySelector("rect").getBoundingClientRect();
      const inner = text.getBoundingClientRect();
      if (inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.bottom > outer.bottom + 1) {
        wrong.push(`“${text.textContent}” does not fit: ${inner.width} in ${outer.width}`);
      }
    }
  }
  return wrong;
};

/** What has the focus, and whether one sees it. */
const focus = () => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const outline = getComputedStyle(e);
  const rect = e.closest("svg") && e.querySelector("rect");
  const ring = (outline.outlineStyle !== "none" && parseFloat(outline.outlineWidth) >= 2) || (rect && parseFloat(getComputedStyle(rect).strokeWidth) >= 3);
  const box = e.getBoundingClientRect();
  const inside = box.bottom > 0 && box.top < innerHeight;
  return { id: e.id, tag: e.tagName, class: e.getAttribute("class") ?? "", ring: Boolean(ring), inside };
};

const unfold = () => [...document.querySelectorAll("details")].flatMap((it, at) => (it.open ? [] : ((it.open = true), [at])));
const fold = (those) => [...document.querySelectorAll("details")].forEach((it, at) => (it.open = it.open && !those.includes(at)));
const background = () => getComputedStyle(document.body).backgroundColor;
const wide = () => {
  const root = document.documentElement;
  return root.scrollWidth > root.clientWidth ? `${root.scrollWidth} pixels in ${root.clientWidth}` : null;
};

async function examine(browser, path, shots) {
  const name = basename(path, ".html");
  const url = pathToFileURL(path).href;
  const tab = await browser.tab(WIDTH, HEIGHT);
  await tab.prefer("light");
  await tab.open(url);

  const { doubled, lost, unnamed } = await tab.run(links);
  check(name, "each link leads to an element of the page, each id is one", [...doubled, ...lost, ...unnamed]);
  const { wrong, count } = await tab.run(numbers);
  check(name, `${count} numbers, extents and lists of lines are those of the document`, wrong);
  check(name, "no label of the graph meets another or is cut", await tab.run(overlaps));
  for (const width of [WIDTH, 420]) {
    await tab.resize(width, HEIGHT);
    check(name, `at ${width} pixels only tables and pictures scroll sideways`, await tab.run(wide));
  }
  for (const width of [WIDTH, 800]) {
    await tab.resize(width, HEIGHT);
    check(name, `at ${width} pixels the verdicts of the coverage tables are in sight`, await tab.run(verdicts));
  }
  await tab.resize(WIDTH, HEIGHT);
  check(name, "folds of the run open, and its lanes say who is what", await tab.run(runs));
  await themes(tab, name);
  // The page of a list or of a difference has neither a graph nor a text.
  const reports = await tab.run(() => JSON.parse(document.getElementById("report").textContent).reports?.length ?? 0);
  if (reports > 0) {
    await keys(tab, name);
    await highlights(tab, name);
  }
  check(name, "keys reach all that can be clicked, and one sees where one is", await unreachable((...it) => tab.run(...it), (key) => tab.press(key)));
  check(name, "folds hear Enter and the space bar", await dead((...it) => tab.run(...it), (key) => tab.press(key)));
  check(name, "nothing is loaded, nothing is complained about", [...tab.requests.filter((it) => it !== url), ...tab.complaints]);
  if (shots) await pictures(tab, url, join(shots, name));
  if (reports > 0) await withoutScript(browser, name, url);
}

async function themes(tab, name) {
  const light = await tab.run(background);
  // All of it, also what is folded at first.
  const folded = await tab.run(unfold);
  check(name, "words and signs stand out in light", await tab.run(pale));
  check(name, "nothing is told by a colour alone", await tab.run(coloursAlone));
  await tab.prefer("dark");
  const dark = await tab.run(background);
  check(name, "words and signs stand out in dark", await tab.run(pale));
  await tab.run(fold, folded);
  const seen = [];
  for (let press = 0; press < 3; press += 1) {
    await tab.run(() => document.getElementById("theme").click());
    seen.push(await tab.run(background));
  }
  await tab.prefer("light");
  const right = light !== dark && JSON.stringify(seen) === JSON.stringify([light, dark, dark]);
  check(name, "the theme follows the system and the button", right ? null : `${light}, ${dark}; pressed: ${seen.join(" ")}`);
}

/** The tab key comes by all there is to reach, and the arrow keys move in the graph. */
async function keys(tab, name) {
  const stops = await tab.run(() => [...document.querySelectorAll("[data-net] a.box, [data-net] a.bundle")].map((e) => e.id));
  await tab.run(() => document.activeElement?.blur());
  const seen = [];
  const hidden = [];
  const first = [];
  const limit = await tab.run(() => document.querySelectorAll("a, button, summary, [tabindex='0']").length + 5);
  for (let press = 0; press < limit; press += 1) {
    await tab.press("Tab");
    const at = await tab.run(focus);
    if (!at) break;
    if (press < 3) first.push(at.class);
    if (!at.ring || !at.inside) hidden.push(at);
    if (stops.includes(at.id)) seen.push(at.id);
    if (seen.length === stops.length && press > 20) break;
  }
  check(name, `the tab key reaches the ${stops.length} boxes and lines in reading order`, seen.join() === stops.join() ? null : `${seen.join()} is not ${stops.join()}`);
  check(name, "the first stops skip to a section", first.every((it) => it === "skip") ? null : first);
  check(name, "one sees what has the focus", hidden);
  if (stops.length > 1) {
    const reached = new Set();
    for (const stop of stops) {
      for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]) {
        await tab.run((id) => document.getElementById(id).focus(), stop);
        await tab.press(key);
        const at = await tab.run(focus);
        if (at && at.id !== stop) reached.add(at.id);
      }
    }
    const missed = stops.filter((stop) => !reached.has(stop));
    check(name, "the arrow keys reach every box and line", missed);
  }
}

/** What belongs together lights up, and a line that is linked to is marked. */
async function highlights(tab, name) {
  const bundles = await tab.run(() => [...document.querySelectorAll("a.bundle")].map((e) => e.id));
  const dull = [];
  for (const id of bundles) {
    const [x, y] = await tab.run((id) => {
      const e = document.getElementById(id);
      e.scrollIntoView({ block: "center", inline: "center" });
      const box = e.querySelector("text").getBoundingClientRect();
      return [box.left + 4, box.top + box.height / 2];
    }, id);
    await tab.point(x, y);
    const lit = await tab.run((id) => {
      const e = document.getElementById(id);
      const keys = e.dataset.hot.split(" ");
      const rows = keys.map((key) => document.getElementById(key)?.classList.contains("hot"));
      const panel = getComputedStyle(document.getElementById(`${id}-p`)).display;
      return { rows: rows.every(Boolean), lines: document.querySelectorAll(".l.hot").length, panel };
    }, id);
    if (!lit.rows || lit.lines === 0 || lit.panel !== "block") dull.push({ id, ...lit });
  }
  check(name, `pointing at each of ${bundles.length} lines lights its rows and lines and shows its panel`, dull);
  const marked = await tab.run(() => {
    const link = document.querySelector("main a.at, main a.box");
    location.hash = link.getAttribute("href");
    const target = document.querySelector(".l:target");
    return target && getComputedStyle(target).outlineStyle;
  });
  check(name, "a line that is linked to is marked", marked === "solid" ? null : String(marked));
}

async function withoutScript(browser, name, url) {
  const tab = await browser.tab(WIDTH, HEIGHT);
  await tab.send("Emulation.setScriptExecutionDisabled", { value: true });
  await tab.open(url);
  const seen = await tab.run(() => ({
    button: document.getElementById("theme").hidden,
    rows: document.querySelectorAll("tr").length,
    lines: document.querySelectorAll(".l").length,
    panels: [...document.querySelectorAll("a.bundle")].filter((e) => {
      e.focus({ focusVisible: true });
      return getComputedStyle(document.getElementById(`${e.id}-p`)).display !== "block";
    }).length,
  }));
  const fine = seen.button && seen.rows > 0 && seen.lines > 0 && seen.panels === 0;
  check(name, "all of it is there without a script", fine ? null : seen);
  check(name, "nothing is complained about without a script", tab.complaints);
}

async function pictures(tab, url, stem) {
  for (const scheme of ["light", "dark"]) {
    await tab.prefer(scheme);
    await tab.open(`${url}?${scheme}`);
    // In a picture of the whole page nothing sticks to the window, and nothing is left for later.
    await tab.run(() => document.head.append(Object.assign(document.createElement("style"), { textContent: ".panels{position:static!important}.chunk{content-visibility:visible!important}" })));
    const [width, height] = await tab.run(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]);
    const page = await tab.picture({ x: 0, y: 0, width, height: Math.min(height, 12_000) });
    writeFileSync(`${stem}-${scheme}.png`, Buffer.from(page, "base64"));
  }
}

const args = process.argv.slice(2);
const program = args.shift();
let shots = null;
if (args[0] === "--shots") {
  args.shift();
  shots = resolve(args.shift());
  mkdirSync(shots, { recursive: true });
}
if (!program || args.length === 0) {
  console.error("usage: node report.mjs BROWSER [--shots FOLDER] PAGE.html …");
  process.exit(2);
}
const browser = new Browser(program);
try {
  for (const page of args) await examine(browser, resolve(page), shots);
} finally {
  await browser.close();
}
console.log(failed > 0 ? `FAILED: ${failed}` : "PASS");
process.exit(failed > 0 ? 1 : 0);
