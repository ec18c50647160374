// The contrast of texts in a page, as WCAG 2 computes it.

/** Texts whose contrast with what is behind them is less than AA asks for; `frame` is a frame of the browser. */
export function lowContrast(frame) {
  return frame.evaluate(() => {
    const parse = (text) => {
      const [r, g, b, a = 1] = (/rgba?\(([^)]+)\)/.exec(text)?.[1] ?? '0,0,0,0').split(/[ ,/]+/).map(Number);
      return { r, g, b, a };
    };
    const over = (top, below) => {
      const mix = (name) => top[name] * top.a + below[name] * (1 - top.a);
      return { r: mix('r'), g: mix('g'), b: mix('b'), a: 1 };
    };
    const behind = (element) => {
      const layers = [];
      for (let at = element; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
      let ground = { ...parse(getComputedStyle(document.body).backgroundColor), a: 1 };
      for (const layer of layers.reverse()) ground = over(layer, ground);
      return ground;
    };
    const light = ({ r, g, b }) => {
      const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
      return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    };
    const low = new Map();
    for (const element of document.querySelectorAll('body *')) {
      const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
      if (!own || element.closest('svg, script, style, [hidden], :disabled') || element.getClientRects().length === 0) continue;
      const style = getComputedStyle(element);
      const ground = behind(element);
      const colour = over(parse(style.color), ground);
      const [a, b] = [light(colour), light(ground)].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratio < (large ? 3 : 4.5)) low.set(`${element.tagName}.${element.className}: ${ratio.toFixed(2)} ${style.color}`, element.textContent.slice(0, 30));
    }
    return [...low].map(([what, text]) => `${what} "${text}"`);
  });
}
