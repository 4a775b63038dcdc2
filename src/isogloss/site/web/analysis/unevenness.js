// How much a distribution tells: pure functions, without a document.
import { digitsText, missing, percentText } from "../page/dom.js";

// Attributes below this are called balanced.
const BALANCED = 0.05;
// With more values no distribution is uniform, such as that of first words: only differences between languages count.
const FEW_VALUES = 8;
// Smaller differences between languages are not worth a sentence.
const WORTH_TELLING = 0.05;

// The distribution of an attribute in a language, as in bias.js, from single examples.
/** @param {ExampleAttribute} attribute @param {Float64Array} counts @returns {Pick<Distribution, "discrete" | "n" | "shares" | "quartiles">} */
export function summaryOf({ discrete, column }, counts) {
  const known = column.values
    .map((value, at) => ({ value, count: counts[at] }))
    .filter(({ value, count }) => count > 0 && !missing(value));
  const n = known.reduce((sum, { count }) => sum + count, 0);
  if (discrete) return { discrete, n, shares: Object.fromEntries(known.map(({ value, count }) => [value, count / n])), quartiles: [] };
  const sorted = known.sort((a, b) => a.value - b.value);
  const quartiles = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    let seen = 0;
    return sorted.find(({ count }) => (seen += count) >= share * n && seen > 0)?.value ?? NaN;
  });
  return { discrete, n, shares: {}, quartiles };
}

// Half the sum of the differences: 0 for equal distributions, 1 for disjoint ones.
/** @param {Record<string, number>} one @param {Record<string, number>} other @param {string[]} values */
const distance = (one, other, values) =>
  values.reduce((sum, value) => sum + Math.abs((one[value] ?? 0) - (other[value] ?? 0)), 0) / 2;

/** @param {Pick<Distribution, "shares">[]} parts */
const valuesOf = (parts) => [...new Set(parts.flatMap(({ shares }) => Object.keys(shares)))];

// How uneven an attribute is, 0 to 1: its largest distance from equal shares in a language, or between two languages. For
// numbers, the range of the medians relative to the range of the middle halves.
/** @param {Pick<Distribution, "discrete" | "shares" | "quartiles">[]} parts */
export function unevenness(parts) {
  if (!parts.length) return 0;
  if (!parts[0].discrete) {
    const [low, middle, high] = [1, 2, 3].map((at) => parts.map(({ quartiles }) => quartiles[at]));
    const range = Math.max(...high) - Math.min(...low);
    return range > 0 ? (Math.max(...middle) - Math.min(...middle)) / range : 0;
  }
  const values = valuesOf(parts);
  if (values.length < 2) return 0;
  const between = parts.flatMap((one, at) => parts.slice(at + 1).map((other) => distance(one.shares, other.shares, values)));
  const even = Object.fromEntries(values.map((value) => [value, 1 / values.length]));
  const fromEven =
    values.length > FEW_VALUES
      ? []
      : parts.map(({ shares }) => distance(shares, even, values) / (1 - 1 / values.length));
  return Math.max(0, ...between, ...fromEven);
}

// A single value is constant, not balanced.
/** @param {Pick<Distribution, "discrete" | "shares">[]} parts */
export const isConstant = (parts) => parts.every(({ discrete }) => discrete) && valuesOf(parts).length < 2;

/** @param {{ discrete: boolean, uneven: number }} item */
export const isBalanced = ({ discrete, uneven }) => discrete && uneven < BALANCED;

// Most uneven first, balanced ones last; the order of the board decides between equal ones.
/** @template {{ discrete: boolean, uneven: number }} T @param {T[]} items */
export const byUnevenness = (items) =>
  [...items].sort((a, b) => Number(isBalanced(a)) - Number(isBalanced(b)) || b.uneven - a.uneven);

// What stands out, in a sentence.
/** @param {string} title @param {(Pick<Distribution, "discrete" | "shares" | "quartiles"> & { name: string })[]} parts */
export function unevenText(title, parts) {
  if (!parts.length) return "";
  if (!parts[0].discrete) {
    const sorted = [...parts].sort((a, b) => a.quartiles[2] - b.quartiles[2]);
    const [first, last] = [sorted[0], sorted.at(-1)];
    const [low, high] = [first, last].map(({ quartiles }) => digitsText(quartiles[2]));
    if (parts.length < 2) return `The median is ${low} in ${first.name}.`;
    if (low === high) return `The median is ${low} in every language shown.`;
    return `The median ranges from ${low} in ${first.name} to ${high} in ${last.name}.`;
  }
  const values = valuesOf(parts);
  const ranges = values.map((value) => {
    const sorted = [...parts].sort((a, b) => (a.shares[value] ?? 0) - (b.shares[value] ?? 0));
    const [least, most] = [sorted[0], sorted.at(-1)];
    return { value, least, most, low: least.shares[value] ?? 0, high: most.shares[value] ?? 0 };
  });
  const widest = ranges.reduce((best, range) => (range.high - range.low > best.high - best.low ? range : best));
  if (widest.high - widest.low >= WORTH_TELLING)
    return `“${widest.value}” makes up ${percentText(widest.high)} of the examples in ${widest.most.name}, and ${percentText(widest.low)} in ${widest.least.name}.`;
  const largest = ranges.reduce((best, range) => (range.high > best.high ? range : best));
  const even = `${percentText(1 / values.length)} would be even`;
  return `“${largest.value}” makes up ${percentText(largest.high)} of the examples in ${largest.most.name}; ${even}.`;
}

// Name what is balanced in a line.
/** @param {{ taskName: string, title: string, discrete: boolean, uneven: number, constant: boolean, languages: number, all: boolean }[]} items */
export function balancedText(items) {
  const named = items
    .filter((item) => isBalanced(item) && !item.constant)
    .map(({ taskName, title, languages, all }) => {
      const where = languages === 1 ? "the language" : all ? `all ${languages} languages` : `the ${languages} languages examined`;
      return `${taskName}: ${title} in ${where}`;
    });
  return named.length ? `Balanced, so listed last: ${named.join("; ")}.` : "";
}
