// Viridis for scores (darker means lower), blue and orange for differences, Okabe and Ito's palette for systems.
const VIRIDIS = [
  [68, 1, 84],
  [72, 36, 117],
  [64, 67, 135],
  [52, 94, 141],
  [41, 120, 142],
  [32, 144, 140],
  [34, 167, 132],
  [68, 190, 112],
  [121, 209, 81],
  [189, 222, 38],
  [253, 231, 36],
];
const AHEAD = [
  [247, 247, 247],
  [146, 197, 222],
  [5, 90, 160],
];
const BEHIND = [
  [247, 247, 247],
  [253, 184, 99],
  [166, 84, 0],
];
const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"];
/** @type {Record<string, [string, string]>} */
export const KIND_MARKS = {
  encoder: ["#0072B2", "circle"],
  "encoder-decoder": ["#E69F00", "down"],
  llm: ["#D55E00", "square"],
  retrieval: ["#009E73", "triangle"],
  floor: ["#7A7A7A", "cross"],
  other: ["#CC79A7", "diamond"],
};

/** @param {number[][]} stops @param {number} share */
function along(stops, share) {
  const at = Math.min(0.9999, Math.max(0, share)) * (stops.length - 1);
  const from = Math.floor(at);
  return stops[from].map((low, part) => Math.round(low + (at - from) * (stops[from + 1][part] - low)));
}

// Black or white ink, by WCAG relative luminance.
/** @param {number[]} rgb */
function inkOn(rgb) {
  const [r, g, b] = rgb.map((part) =>
    part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

/** @param {number[]} rgb */
const paint = (rgb) => ({ fill: `rgb(${rgb.join(" ")})`, ink: inkOn(rgb) });
/** @param {number} at */
export const systemPaint = (at) => paint((PALETTE[at].match(/\w\w/g) ?? []).map((part) => parseInt(part, 16)));
/** @param {number} value @param {number} [from] @param {number} [to] */
export const scorePaint = (value, from = 0, to = 100) => paint(along(VIRIDIS, (value - from) / (to - from || 1)));
// A score's position from worst (0) to best (1) in a range.
/** @param {number} value @param {Interval} options1 @param {boolean | undefined} lower */
export function betterShare(value, [from, to], lower) {
  const share = Math.min(1, Math.max(0, (value - from) / (to - from || 1)));
  return lower ? 1 - share : share;
}

// Score colours with the best brightest, also if lower is better.
/** @param {boolean} lower @param {Interval} options1 */
export const directedPaint =
  (lower, [from, to]) =>
  (/** @type {number} */ value) =>
    scorePaint(lower ? from + to - value : value, from, to);
/** @param {number} value @param {number} limit */
export const differencePaint = (value, limit) =>
  paint(along(value < 0 ? BEHIND : AHEAD, Math.abs(value) / (limit || 1)));
