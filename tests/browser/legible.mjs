// What WCAG 2 asks of a page that is looked at, of its words and of its signs. Functions that are handed to a page know
// nothing of what stands around them here, so that any driver of a browser can run them.

/**
 * What is not seen well enough: words of less than 4.5 to 1 to what is behind them (large ones: 3 to 1), and signs, edges
 * that mean something and frames of buttons of less than 3 to 1.
 */
export const pale = () => {
  /** Shapes that mean something. Grid lines and grounds are none. */
  const SIGNS =
    ".wait, .arrive, .mem, .stuck, .tick, .full, .bad, .over, .k, .kw, .ka, .g, .write, .read, .miss, .end, .site, .wire, .head, .box > rect, .bundle > rect, .open, line.missing, .bar .own";
  const EDGES = [
    [".verdict, .finding, tr.missing td:first-child, tr.unknown td:first-child, .now-box, .steps-list [aria-current]", "Left"],
    [".l.used > a, .l.bad > a", "Right"],
    ["button:not(.steps-list *), .key, .site-number, .stale", "Top"],
  ];
  const parse = (colour) => {
    const [r, g, b, a = 1] = (/rgba?\(([^)]+)\)/.exec(colour)?.[1] ?? "0,0,0,0").split(/[ ,/]+/).map(Number);
    return { r, g, b, a };
  };
  const over = (top, under, by = 1) => {
    const mix = (part) => top[part] * top.a * by + under[part] * (1 - top.a * by);
    return { r: mix("r"), g: mix("g"), b: mix("b"), a: 1 };
  };
  const light = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const style = (element) => getComputedStyle(element);
  const drawn = (element) => {
    const { fill, fillOpacity } = style(element);
    if (fill.startsWith("rgb")) return [{ ...parse(fill), a: parse(fill).a * Number(fillOpacity) }];
    // A pattern is as hard to read on as the worst of its colours.
    const pattern = /url\("?#([^")]+)/.exec(fill);
    const parts = pattern ? [...(document.getElementById(pattern[1])?.children ?? [])] : [];
    return parts.map((part) => (style(part).stroke === "none" ? { ...parse(style(part).fill), a: Number(style(part).fillOpacity) } : parse(style(part).stroke)));
  };
  const chain = (element) => (element ? [...chain(element.parentElement), element] : []);
  /** Shapes of each picture in the order in which they are painted, with where they are. */
  const painted = new Map();
  const shapes = (svg) => {
    if (!painted.has(svg)) {
      const all = [...svg.querySelectorAll("rect, circle, path, line, text")].filter((it) => !it.closest("defs")).slice(0, 2000);
      painted.set(svg, all.map((it) => [it, it.getBoundingClientRect()]));
    }
    return painted.get(svg);
  };
  /** What may be behind an element at a point: one colour, or those of a pattern. Gives how a colour on it is seen, too. */
  const behind = (element, x, y) => {
    const around = chain(element.matches("svg *") ? element.parentElement : element);
    const faint = around.find((it) => style(it).opacity !== "1");
    const by = faint ? Number(style(faint).opacity) : 1;
    let [under, here] = [[{ r: 255, g: 255, b: 255, a: 1 }], null];
    const paint = (colours, inside) => {
      if (inside && !here) here = under;
      const stack = inside ? here : under;
      const next = stack.flatMap((ground) => colours.map((colour) => over(colour, ground)));
      if (inside) here = next;
      else under = next;
    };
    for (const it of around) if (!it.matches("svg *")) paint([parse(style(it).backgroundColor)], faint?.contains(it));
    const svg = element.closest("svg");
    for (const [shape, box] of svg && svg !== element ? shapes(svg) : []) {
      if (shape === element) break;
      if (!["rect", "circle"].includes(shape.tagName) || x < box.left || x > box.right || y < box.top || y > box.bottom) continue;
      const colours = drawn(shape);
      if (colours.length > 0) paint(colours, faint?.contains(shape));
    }
    const [stack, ground] = [here ?? under, under.at(-1)];
    const seen = (colour) => ({ ...over(colour, ground, by) });
    return stack.map((it) => ({ ground: seen(it), on: (colour) => seen(over(colour, it)) }));
  };
  const worst = (colour, grounds) => Math.min(...grounds.map(({ ground, on }) => ratio(on(colour), ground)));
  const wrong = new Map();
  const note = (element, found, least, words = "") => {
    const name = `${element.tagName}.${element.getAttribute("class") ?? ""}`;
    if (found < least) wrong.set(`${name} ${found.toFixed(2)}`, `${name} ${found.toFixed(2)} of ${least}${words}`);
  };
  const shown = (element) => element.checkVisibility() && element.getClientRects().length > 0 && !element.closest("script, style, title, desc, defs, option");

  const seenBefore = new Set();
  for (const element of document.querySelectorAll("body, body *")) {
    const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (own.length === 0 || !shown(element)) continue;
    const its = style(element);
    // Of lines that look alike one is enough.
    const [svg, box] = [element.closest("svg"), element.getBoundingClientRect()];
    const like = chain(element).map((it) => it.getAttribute("class")).join("/");
    if (!svg && seenBefore.has(like)) continue;
    seenBefore.add(like);
    const large = parseFloat(its.fontSize) >= 24 || (parseFloat(its.fontSize) >= 18.66 && Number(its.fontWeight) >= 700);
    const haloed = svg && its.stroke !== "none" && parseFloat(its.strokeWidth) >= 2 && its.paintOrder.startsWith("stroke");
    const halo = haloed && [{ ground: parse(its.stroke), on: (colour) => colour }];
    const grounds = halo || behind(element, box.x + box.width / 2, box.y + box.height / 2);
    note(element, worst(parse(svg ? its.fill : its.color), grounds), large ? 3 : 4.5, `: ${element.textContent.trim().slice(0, 24)}`);
  }
  for (const element of [...document.querySelectorAll("svg *")].filter((it) => it.matches(SIGNS)).slice(0, 4000)) {
    const box = element.getBoundingClientRect();
    if (!shown(element) || element.tagName === "text" || box.width + box.height === 0) continue;
    const its = style(element);
    // A line crosses others; it is seen where it begins, or ends.
    const places = element.tagName === "line" ? [0, 0.5, 1] : [0.5];
    const found = places.map((part) => {
      const grounds = behind(element, box.x + box.width * part, box.y + box.height * part);
      // A sign of two tones is seen by the one, or the other, or by what stands out within it.
      const tones = [its.stroke, its.fill].filter((tone) => tone.startsWith("rgb")).map(parse);
      if (tones.length === 2 && ratio(...tones.map((tone) => over(tone, { r: 255, g: 255, b: 255 }))) >= 3 && parseFloat(its.strokeWidth) >= 2) return 3;
      return Math.min(...grounds.map((ground) => Math.max(0, ...tones.map((tone) => worst(tone, [ground])))));
    });
    note(element, Math.max(...found), 3);
  }
  for (const [selector, side] of EDGES) {
    for (const element of [...document.querySelectorAll(selector)].filter(shown).slice(0, 50)) {
      const box = element.getBoundingClientRect();
      note(element, worst(parse(style(element)[`border${side}Color`]), behind(element.parentElement, box.x, box.y)), 3, ` at its edge`);
    }
  }
  return [...wrong.values()];
};

/**
 * What is told by a colour alone: shapes of a picture that differ in nothing but the colour, where no letter or number
 * stands by them, and states of a page that have neither a sign nor a word.
 */
export const coloursAlone = () => {
  const style = (element) => getComputedStyle(element);
  const wrong = new Set();
  const page = style(document.body).backgroundColor;
  for (const svg of document.querySelectorAll("svg")) {
    const alike = new Map();
    for (const shape of [...svg.querySelectorAll("rect, circle, path, line, polygon")].slice(0, 4000)) {
      // Grounds, and what is drawn below a line to set it off.
      if (shape.closest("defs") || shape.matches(".bg, .s, .hit, .halo, .reach, .fold")) continue;
      const its = style(shape);
      const beside = shape.parentElement.matches("a, g") && shape.parentElement.querySelector("text, title")?.textContent.trim();
      const form = (shape.getAttribute("d") ?? "").replace(/[\d.,\s-]+/g, "");
      const kind = ["none", page].includes(its.fill) ? "open" : its.fill.startsWith("url") ? its.fill : "filled";
      const round = shape.getAttribute("rx") ?? shape.getAttribute("r") ?? "";
      const [width, height] = ["width", "height"].map((it) => shape.getAttribute(it) ?? "");
      const size = svg.closest(".rounds, .bar") ? height : beside ? "" : `${width}x${height}`;
      const how = [shape.tagName, form, kind, its.strokeDasharray, its.strokeWidth, round, size, beside ? "named" : ""].join(" ");
      const colour = beside ? "" : `${its.stroke === "none" ? "" : its.stroke} ${kind === "filled" ? its.fill : ""}`;
      if (!alike.has(how)) alike.set(how, new Map());
      alike.get(how).set(colour, shape.getAttribute("class"));
    }
    for (const [how, colours] of alike) {
      if (colours.size > 1) wrong.add(`${how}: ${[...colours].map(([colour, name]) => `.${name} ${colour}`).join(" or ")}`);
    }
  }
  const words = ".verdict, .finding h3, tr.missing td:last-child, tr.unknown td:last-child, .good, .bad:not(svg *, .l), .steps-list .site-number, tr.changed td:last-child";
  for (const element of document.querySelectorAll(words)) {
    if (!/[\p{L}\p{N}✓✗]/u.test(element.textContent)) wrong.add(`${element.tagName}.${element.className} says nothing`);
  }
  const links = [...document.querySelectorAll("p a, td a, li a")].filter((it) => !it.closest("svg, nav, .contents, .l"));
  for (const link of links.slice(0, 200)) {
    const [own, around] = [style(link), style(link.parentElement)];
    const plain = link.parentElement.textContent.trim() !== link.textContent.trim();
    if (plain && own.textDecorationLine === "none" && own.fontWeight === around.fontWeight && own.fontFamily === around.fontFamily) wrong.add(`link in a text: ${link.parentElement.textContent.trim().slice(0, 40)}`);
  }
  return [...wrong];
};
