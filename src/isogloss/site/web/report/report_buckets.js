// @ts-check
import { missing, plural, scoreText, signedText } from "../page/dom.js";

/**
 * A bucket of examples with a score, or with the scores of two systems and their difference.
 * @typedef {{ name: string, edges: string, n: number, places: number[], total: number, value: number, low: number | null, high: number | null }} ReportBucket
 * @typedef {ReportBucket & { first: number, second: number, q: string, significant: boolean, turns: boolean, firstIsBetter: boolean }} ReportContrast
 * @typedef {{ task: string, language: string, name: string, attribute: string, title: string, metric: string, buckets: ReportBucket[], system?: string, insight?: string }} Facet
 * @typedef {Omit<Facet, "buckets"> & { pair: string, buckets: ReportContrast[] }} ContrastFacet
 */

/**
 * Return whole tenths as numbers; missing bounds stay null.
 * @param {(number | null)[]} tenths
 */
const fromTenths = (tenths) => tenths.map((value) => (value === null ? null : value / 10));

/**
 * Return an interval as text.
 * @param {number | null} low
 * @param {number | null} high
 * @param {boolean} [signed]
 */
export function intervalWords(low, high, signed = false) {
  if (low === null || high === null) return "—";
  return signed ? `${signedText(low)} to ${signedText(high)}` : `${scoreText(low)}–${scoreText(high)}`;
}

/**
 * Return the buckets of a system from the page's compact numbers: score, low and high of each in tenths.
 * @param {any[]} cut name, edges, n, positions of the listed ids and number of ids of each bucket
 * @param {(number | null)[]} tenths
 * @returns {ReportBucket[]}
 */
export const scoreBuckets = (cut, tenths) =>
  cut.map(([name, edges, n, places, total], at) => {
    const [value, low, high] = fromTenths(tenths.slice(3 * at, 3 * at + 3));
    return { name, edges, n, places, total, value: value ?? NaN, low, high };
  });

/**
 * Return the buckets of a pair: both scores, the difference and its interval in tenths, q in thousandths, and flags.
 * @param {any[]} cut
 * @param {(number | null)[]} numbers
 * @returns {ReportContrast[]}
 */
export const contrastBuckets = (cut, numbers) =>
  cut.map(([name, edges, n, places, total], at) => {
    const [q, flags] = numbers.slice(7 * at + 5, 7 * at + 7);
    const [first, second, value, low, high] = fromTenths(numbers.slice(7 * at, 7 * at + 5));
    const bits = flags ?? 0;
    return {
      ...{ name, edges, n, places, total, low, high },
      ...{ first: first ?? NaN, second: second ?? NaN, value: value ?? NaN },
      q: q ? (q / 1000).toFixed(3) : "<0.001",
      significant: (bits & 1) > 0,
      turns: (bits & 2) > 0,
      firstIsBetter: (bits & 4) > 0,
    };
  });

/**
 * Return a bucket as a record for the board's bar chart.
 * @param {ReportBucket} bucket
 * @param {boolean} signed
 */
export function bucketBar(bucket, signed) {
  const { name, edges, value, low, high, n } = bucket;
  const contrast = /** @type {ReportContrast} */ (bucket);
  const text = signed
    ? `${signedText(value)} (${scoreText(contrast.first)} and ${scoreText(contrast.second)})`
    : scoreText(value);
  return {
    bucket,
    label: edges ? `${name} ${edges}` : name,
    value,
    n,
    low,
    high,
    sure: signed ? contrast.significant : true,
    lists: bucket.total > 0,
    lines: [
      `${name}${edges ? ` ${edges}` : ""}: ${text}`,
      missing(low) ? "no interval: too few independent examples" : `95 % interval ${intervalWords(low, high, signed)}`,
      plural(n, "example"),
      signed ? `q = ${contrast.q}, ${contrast.significant ? "" : "not "}significant` : "",
      signed && contrast.turns ? "order of the two systems reversed" : "",
      bucket.total ? "Select to show examples" : "No examples are listed for this bucket",
    ].filter(Boolean),
  };
}
