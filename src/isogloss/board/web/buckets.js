// Examples in buckets, as the package cuts them (explain/buckets.py), and at any other edges.
const SIZE_NAMES = ["XS", "S", "L", "XL"];
const USUAL_BUCKETS = 4;
const MOST_VALUES = 20;
const NO_VALUE = "none";

// How numbers may be cut: into equal counts; one bucket filled after the other, as ExplainaBoard does; into equal widths.
export const CUT_RULES = [
  ["equal", "equal counts"],
  ["filled", "filled in turn"],
  ["width", "equal widths"],
];

// What an attribute looks like: how often each of its values occurs among the rows that count.
export function valueCounts({ values, places }, counted) {
  const counts = new Float64Array(values.length);
  for (let row = 0; row < places.length; row++) if (!counted || counted[row]) counts[places[row]] += 1;
  return counts;
}

// The numbers among the values, with how often they occur; rows without a value are in no edge.
function countedNumbers({ values }, counts) {
  return values
    .map((value, at) => ({ value, count: counts[at] }))
    .filter(({ value, count }) => value !== null && count > 0);
}

// Inner edges by a rule: each is a value that occurs, and belongs to the bucket below it.
export function edgesByRule(column, counts, rule = "equal", buckets = USUAL_BUCKETS) {
  const found = countedNumbers(column, counts);
  if (found.length < 2) return [];
  const inner = found.slice(0, -1);
  let total = 0;
  const upto = inner.map(({ count }) => (total += count));
  total += found.at(-1).count;
  if (rule === "filled") {
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
    const [low, high] = [found[0].value, found.at(-1).value];
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

const shortNumber = (number) =>
  Math.abs(number) < 1000 && !Number.isInteger(number) ? String(Number(number.toPrecision(3))) : number.toFixed(0);

function intervalName(low, high, first) {
  if (first && low === high) return shortNumber(high);
  return `${first ? "[" : "("}${shortNumber(low)}, ${shortNumber(high)}]`;
}

// The buckets that hold any row, with the bucket of each row; `edges` is null for values that are no numbers.
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
  const renumbered = [];
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

function bucketName(name, code, edges, [least, most]) {
  if (!edges || code > edges.length) return { name, edges: "" };
  const low = code === 0 ? least : edges[code - 1];
  const high = code === edges.length ? most : edges[code];
  const range = intervalName(low, high, code === 0);
  return name ? { name, edges: range } : { name: range, edges: "" };
}

function numberCodes({ values }, edges, named) {
  const names = named && edges.length < SIZE_NAMES.length ? SIZE_NAMES : [];
  const codeOf = values.map((value) => {
    if (value === null) return edges.length + 1;
    const above = edges.findIndex((edge) => value <= edge);
    return above < 0 ? edges.length : above;
  });
  return { names: [...edges.map((_, at) => names[at] ?? ""), names[edges.length] ?? "", NO_VALUE], codeOf };
}

// One bucket a value, the most frequent first; those beyond share one.
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
