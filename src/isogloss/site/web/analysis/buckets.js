// Bucket examples as explain/buckets.py does, or at any other edges.
const SIZE_NAMES = ["XS", "S", "L", "XL"];
const USUAL_BUCKETS = 4;
const MOST_VALUES = 20;
const NO_VALUE = "none";
const SMALLEST = 0.001;

// Bucketing rules: equal counts, greedy as in ExplainaBoard, equal widths.
export const CUT_RULES = [
  ["equal", "equal counts"],
  ["filled", "greedy"],
  ["width", "equal widths"],
];

// Count how often each value occurs among the counted rows.
/** @param {ValueColumn} options @param {Maybe<ArrayLike<number>>} counted */
export function valueCounts({ values, places }, counted) {
  const counts = new Float64Array(values.length);
  for (let row = 0; row < places.length; row++) if (!counted || counted[row]) counts[places[row]] += 1;
  return counts;
}

// The numeric values that occur, with their counts.
/** @param {ValueColumn} options @param {Float64Array} counts @returns {{ value: number, count: number }[]} */
function countedNumbers({ values }, counts) {
  return values
    .map((value, at) => ({ value, count: counts[at] }))
    .filter(({ value, count }) => value !== null && count > 0);
}

// Inner edges by a rule; an edge belongs to the bucket below it.
/** @param {ValueColumn} column @param {Float64Array} counts @param {string} [rule] @param {number} [buckets] */
export function edgesByRule(column, counts, rule = "equal", buckets = USUAL_BUCKETS) {
  const numbers = countedNumbers(column, counts);
  if (numbers.length < 2) return [];
  const inner = numbers.slice(0, -1);
  let total = 0;
  const upto = inner.map(({ count }) => (total += count));
  total += numbers.at(-1).count;
  if (rule === "filled") {
    /** @type {number[]} */
    const edges = [];
    let held = 0;
    inner.forEach(({ value }, at) => {
      if (upto[at] <= held + total / buckets) return;
      edges.push(value);
      held = upto[at];
    });
    return edges;
  }
  if (rule === "width") {
    const [low, high] = [numbers[0].value, numbers.at(-1).value];
    return Array.from({ length: buckets - 1 }, (_, at) => low + ((at + 1) * (high - low)) / buckets);
  }
  const nearest = new Set();
  for (let at = 1; at < buckets; at++) {
    const wanted = (at * total) / buckets;
    let best = 0;
    upto.forEach((sum, place) => {
      if (Math.abs(sum - wanted) < Math.abs(upto[best] - wanted)) best = place;
    });
    nearest.add(best);
  }
  return [...nearest].sort((a, b) => a - b).map((place) => inner[place].value);
}

// Three digits, or one for tiny numbers: 13, 0.333, 3e-8.
/** @param {number} number */
function boundText(number) {
  const size = Math.abs(number);
  if (size > 0 && size < SMALLEST) return number.toExponential(0);
  return size < 1000 && !Number.isInteger(number) ? String(Number(number.toPrecision(3))) : number.toFixed(0);
}

/** @param {number} low @param {number} high @param {boolean} first */
function intervalName(low, high, first) {
  if (first && low === high) return boundText(high);
  return `${first ? "[" : "("}${boundText(low)}, ${boundText(high)}]`;
}

// The non-empty buckets, and the bucket of each row; `edges` is null for discrete values.
/**
 * @param {ValueColumn} column
 * @param {Float64Array} counts
 * @param {number[] | null} edges
 * @param {boolean} named
 * @returns {CutBuckets}
 */
export function cutRows(column, counts, edges, named) {
  const { names, codeOf } = edges ? numberCodes(column, edges, named) : valueCodes(column, counts);
  const held = new Array(names.length).fill(false);
  const bounds = names.map(() => [Infinity, -Infinity]);
  for (const place of new Set(column.places)) {
    const code = codeOf[place];
    held[code] = true;
    const value = column.values[place];
    if (typeof value === "number") bounds[code] = [Math.min(bounds[code][0], value), Math.max(bounds[code][1], value)];
  }
  /** @type {number[]} */
  const renumbered = [];
  /** @type {CutBuckets["buckets"]} */
  const buckets = [];
  names.forEach((name, code) => {
    if (!held[code]) return;
    renumbered[code] = buckets.length;
    buckets.push({ n: 0, ...bucketName(name, code, edges, bounds[code]) });
  });
  counts.forEach((count, place) => {
    if (count) buckets[renumbered[codeOf[place]]].n += count;
  });
  const ofPlace = codeOf.map((code) => renumbered[code]);
  return { buckets, codes: Uint16Array.from(column.places, (place) => ofPlace[place]) };
}

/** @param {string} name @param {number} code @param {number[] | null} edges @param {number[]} options3 */
function bucketName(name, code, edges, [least, most]) {
  if (!edges || code > edges.length) return { name, edges: "" };
  const low = code === 0 ? least : edges[code - 1];
  const high = code === edges.length ? most : edges[code];
  const range = intervalName(low, high, code === 0);
  return name ? { name, edges: range } : { name: range, edges: "" };
}

/** @param {ValueColumn} options @param {number[]} edges @param {boolean} named */
function numberCodes({ values }, edges, named) {
  const names = named && edges.length < SIZE_NAMES.length ? SIZE_NAMES : [];
  const codeOf = values.map((value) => {
    if (value === null) return edges.length + 1;
    const above = edges.findIndex((edge) => value <= edge);
    return above < 0 ? edges.length : above;
  });
  return { names: [...edges.map((_, at) => names[at] ?? ""), names[edges.length] ?? "", NO_VALUE], codeOf };
}

// One bucket per value, most frequent first; rare values share one.
/** @param {ValueColumn} options @param {Float64Array} counts */
function valueCodes({ values }, counts) {
  const order = values
    .map((_, place) => place)
    .filter((place) => counts[place] > 0)
    .sort((a, b) => counts[b] - counts[a] || a - b);
  const own = order.length <= MOST_VALUES + 1 ? order : order.slice(0, MOST_VALUES);
  const codeOf = values.map((_, place) => {
    const code = own.indexOf(place);
    return code < 0 ? own.length : code;
  });
  return { names: [...own.map((place) => values[place] || NO_VALUE), "rest"], codeOf };
}
