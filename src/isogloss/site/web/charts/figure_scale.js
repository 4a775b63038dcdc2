// @ts-check
// Numbers of a chart on an axis: pure functions, without a document.

/**
 * A field along an axis: words in their order, or numbers.
 * @typedef {{ field: string, title?: string, order?: string[] | null, scale?: "linear" | "log" | "sqrt", zero?: boolean, whole?: boolean }} FigureAxis
 * @typedef {{ field: string, names: string[], colours: string[], shapes?: string[], legend?: boolean }} FigureSeries
 * @typedef {{ low: number, high: number, field?: string, scheme?: "viridis" | "difference", reverse?: boolean, title?: string }} FigureColours
 * @typedef {Record<string, any>} FigureRecord
 * @typedef {"" | "tenths" | "digits" | "percent"} HintFormat
 * @typedef {{
 *   name: string, kind: string, title: string, description: string, records: FigureRecord[], x: FigureAxis, y: FigureAxis,
 *   hints?: [string, string, HintFormat][], series?: FigureSeries | null, scale?: FigureColours | null, text?: string,
 *   digits?: number | null, panel?: string, detail?: string, interval?: [string, string] | null, strong?: number,
 *   marks?: [string, number][], fit?: boolean, fitted?: string, hollow?: string, footnotes?: string[], follows_filter?: boolean
 * }} Figure
 * @typedef {{ at: (value: number) => number, ticks: number[], text: (value: number) => string }} FigureScale
 */

/**
 * Return records from columns of distinct values and the index of each record's value; null values are left out.
 * @param {Record<string, [any[], number[] | number]>} columns
 * @returns {FigureRecord[]}
 */
export function unpackedRecords(columns) {
  /** @type {FigureRecord[]} */
  const records = [];
  for (const [field, [values, indices]] of Object.entries(columns)) {
    const all = typeof indices === "number" ? Array(indices).fill(0) : indices;
    all.forEach((at, row) => {
      records[row] ??= {};
      if (values[at] !== null) records[row][field] = values[at];
    });
  }
  return records;
}

/** @type {Record<string, { to: (value: number) => number, from: (value: number) => number }>} */
const TURNS = {
  linear: { to: (value) => value, from: (value) => value },
  log: { to: (value) => Math.log10(value), from: (value) => 10 ** value },
  sqrt: { to: (value) => Math.sqrt(Math.max(0, value)), from: (value) => value * value },
};

/**
 * Return round numbers between two ends.
 * @param {number} from
 * @param {number} to
 * @param {number} most
 * @param {boolean} [whole]
 * @returns {number[]}
 */
export function roundTicks(from, to, most, whole = false) {
  const rough = Math.max((to - from || 1) / Math.max(1, most), whole ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((times) => times * power >= rough) ?? 10) * power;
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step * 1e-9; at += step)
    ticks.push(Number(at.toPrecision(12)));
  return ticks;
}

/**
 * Return powers of ten between two ends of a logarithmic scale, with steps between them if it is short.
 * @param {number} from
 * @param {number} to
 * @returns {number[]}
 */
export function powerTicks(from, to) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++)
    for (const times of Math.log10(to / from) > 2.5 ? [1] : [1, 3]) ticks.push(Number((times * 10 ** power).toPrecision(6)));
  return ticks.filter((tick) => tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9));
}

/**
 * Return a number in at most four significant digits, without trailing zeros.
 * @param {number} value
 */
const shortNumber = (value) =>
  Math.abs(value) >= 1e4 ? value.toLocaleString("en") : String(Number(value.toPrecision(4))).replace("-", "−");

/**
 * Return a scale of numbers between two pixels that holds all values, with some room at its ends.
 * @param {FigureAxis} axis
 * @param {number[]} values
 * @param {[number, number]} pixels
 * @param {number} [most] number of ticks
 * @returns {FigureScale}
 */
export function numberScale(axis, values, [start, end], most = 6) {
  const { to, from } = TURNS[axis.scale ?? "linear"] ?? TURNS.linear;
  const usable = values.filter((value) => Number.isFinite(value) && (axis.scale !== "log" || value > 0));
  const known = axis.zero && axis.scale !== "log" ? [...usable, 0] : usable;
  const [least, largest] = known.length ? [to(Math.min(...known)), to(Math.max(...known))] : [0, 1];
  const room = (largest - least || Math.abs(largest) || 1) * 0.05;
  const low = axis.zero && least === 0 ? 0 : axis.scale === "sqrt" ? Math.max(0, least - room) : least - room;
  const high = axis.zero && largest === 0 ? 0 : largest + room;
  const at = (/** @type {number} */ value) => start + ((to(value) - low) / (high - low || 1)) * (end - start);
  const ticks =
    axis.scale === "log"
      ? powerTicks(from(low), from(high))
      : roundTicks(from(low), from(high), most, axis.whole).filter((tick) => to(tick) <= high + 1e-9);
  return { at, ticks, text: shortNumber };
}

/**
 * Return the words of an axis that records have, in the axis's order.
 * @param {FigureAxis} axis
 * @param {FigureRecord[]} records
 * @returns {string[]}
 */
export function presentWords(axis, records) {
  const present = new Set(records.map((record) => String(record[axis.field])));
  return (axis.order ?? []).filter((word) => present.has(word));
}

/**
 * Return a scale that gives every word a band of equal width between two pixels.
 * @param {string[]} words
 * @param {[number, number]} pixels
 * @returns {{ at: (word: string) => number, step: number }}
 */
export function wordScale(words, [start, end]) {
  const step = (end - start) / Math.max(1, words.length);
  const index = new Map(words.map((word, position) => [word, position]));
  return { at: (word) => start + step * ((index.get(word) ?? 0) + 0.5), step };
}

/**
 * Return the least-squares line of y over x as a function, or null if x is constant.
 * @param {[number, number][]} points
 * @returns {((x: number) => number) | null}
 */
export function leastSquares(points) {
  const n = points.length;
  const [meanX, meanY] = [0, 1].map((side) => points.reduce((sum, point) => sum + point[side], 0) / n);
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  if (n < 2 || spread === 0) return null;
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  return (x) => meanY + slope * (x - meanX);
}

/**
 * Split records by a field, in order of appearance.
 * @param {FigureRecord[]} records
 * @param {string | undefined} field
 * @returns {Map<string, FigureRecord[]>}
 */
export function splitBy(records, field) {
  const groups = new Map();
  for (const record of records) {
    const key = field ? String(record[field]) : "";
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(record);
  }
  return groups;
}

/** @type {Record<HintFormat, (value: any) => string>} */
const HINT_TEXTS = {
  "": (value) => (typeof value === "boolean" ? (value ? "yes" : "no") : String(value)),
  tenths: (value) => (typeof value === "number" ? value.toFixed(1) : String(value)),
  digits: (value) => (typeof value === "number" ? String(Number(value.toPrecision(3))) : String(value)),
  percent: (value) => (typeof value === "number" ? `${(100 * value).toFixed(1)} %` : String(value)),
};

/**
 * Return the lines of a record's tooltip.
 * @param {Figure} figure
 * @param {FigureRecord} record
 * @returns {string[]}
 */
export const hintLines = (figure, record) =>
  (figure.hints ?? [])
    .filter(([field]) => record[field] !== undefined && record[field] !== null && record[field] !== "")
    .map(([field, title, format]) => `${title}: ${HINT_TEXTS[format](record[field])}`);

/**
 * Return a text cut to a number of characters.
 * @param {string} text
 * @param {number} most
 */
export const cutText = (text, most) => (text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`);
