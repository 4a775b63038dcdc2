// Widths of labels in drawings, measured in the page's own font: scripts differ too much for a width per letter.
const LABEL_SIZE = 0.8;
const TICK_SPACE = 6;
const SIGN_WIDTH = 6.9;
/** @type {CanvasRenderingContext2D | null} */
let ruler = null;

// Without a canvas, an estimate: East Asian signs are about twice as wide as Latin letters.
/** @param {string} text */
const estimatedWidth = (text) =>
  [...text].reduce((sum, sign) => sum + (sign > "\u2e7f" ? 2 : 1) * SIGN_WIDTH, 0);

/** @param {string} text @param {boolean} [strong] */
export function textWidth(text, strong = false) {
  ruler ??= globalThis.document?.createElement("canvas").getContext("2d") ?? null;
  if (!ruler) return estimatedWidth(text);
  const size = LABEL_SIZE * parseFloat(getComputedStyle(document.documentElement).fontSize);
  ruler.font = `${strong ? "600 " : ""}${size}px ${getComputedStyle(document.body).fontFamily}`;
  return ruler.measureText(text).width;
}

// A text cut to a width, by halving.
/** @param {string} text @param {number} width @param {(text: string) => number} [widthOf] */
export function fittedText(text, width, widthOf = textWidth) {
  if (widthOf(text) <= width) return text;
  const signs = [...text];
  let [low, high] = [0, signs.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(`${signs.slice(0, middle).join("")}…`) <= width) low = middle;
    else high = middle - 1;
  }
  return `${signs.slice(0, low).join("").trimEnd()}…`;
}

// The ticks that fit side by side, from the first on: those of a square-root scale are close to each other.
/** @param {number[]} ticks @param {(tick: number) => number} at @param {(tick: number) => string} text */
export function spacedTicks(ticks, at, text) {
  let end = -Infinity;
  return ticks.filter((tick) => {
    const half = textWidth(text(tick)) / 2;
    if (at(tick) - half < end + TICK_SPACE) return false;
    end = at(tick) + half;
    return true;
  });
}
