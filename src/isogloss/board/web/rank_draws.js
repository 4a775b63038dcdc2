import { groupedBy } from "./ranking.js";

// Work that a filter may take: systems times cells times draws. Boards that would get fewer draws than the least get none.
const MOST_WORK = 10e6;
const LEAST_DRAWS = 100;
const MOST_DRAWS = 400;
const WEIGHT_FIELDS = { speakers: "speakers", resources: "articles" };

// Numbers from 0 to 1, the same in every browser and on every visit (mulberry32).
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// How much each cell of a task counts when languages count as often as they were drawn; null if none of them was.
function cellShares(column, times, ranking, language) {
  const field = WEIGHT_FIELDS[ranking];
  const weights = column.codes.map((code) => times.get(code) * (field ? (language.get(code)?.[field] ?? 0) : 1));
  if (!weights.some((weight) => weight > 0)) return null;
  const places = weights.map((_, at) => at).filter((at) => weights[at] > 0);
  const groups =
    ranking === "family"
      ? [...groupedBy(places, (at) => language.get(column.codes[at])?.family ?? column.codes[at]).values()]
      : [places];
  const shares = weights.map(() => 0);
  for (const group of groups) {
    const total = group.reduce((sum, at) => sum + weights[at], 0);
    for (const at of group) shares[at] = weights[at] / total / groups.length;
  }
  return shares;
}

// How much each task counts, among those that have a language.
function taskShares(columns, counted, ranking, weights) {
  const kept = columns.filter((_, at) => counted[at]);
  const categories = groupedBy(kept, ({ task }) => task.category);
  const share = ({ task }) =>
    ranking === "category"
      ? 1 / categories.get(task.category).length / categories.size
      : ranking === "weights"
        ? (weights[task.id] ?? 1)
        : 1;
  const total = kept.reduce((sum, column) => sum + share(column), 0);
  return columns.map((column, at) => (counted[at] ? share(column) / (total || 1) : 0));
}

function cellCoefficients(columns, times, { ranking, weights }, language) {
  const shares = columns.map((column) => cellShares(column, times, ranking, language));
  const tasks = taskShares(
    columns,
    shares.map((found) => found !== null),
    ranking,
    weights,
  );
  return Float64Array.from(
    columns.flatMap((column, at) => (shares[at] ?? column.codes.map(() => 0)).map((share) => share * tasks[at])),
  );
}

// The ranks that 95 % of the draws lie between, if languages are drawn again with replacement: for each value a pair, or null
// where a system's languages are not known (it stands still while the others move). Null for boards that are too large,
// and for rankings that are no weighted mean of cells.
export function drawnRankIntervals(board, systems, values, columns, choice) {
  if (!["category", "flat", "family", "speakers", "resources", "weights"].includes(choice.ranking)) return null;
  const ranked = values.map((_, at) => at).filter((at) => !Number.isNaN(values[at]));
  const cells = columns.reduce((sum, { codes }) => sum + codes.length, 0);
  // Ordering the systems costs about as much as a hundred cells of each.
  const draws = Math.min(MOST_DRAWS, Math.floor(MOST_WORK / (ranked.length * (cells + 100) || 1)));
  if (draws < LEAST_DRAWS || ranked.length < 2) return null;
  const scores = ranked.map((at) =>
    Float64Array.from(
      columns.flatMap(({ task, codes, scores: own }) =>
        codes.map((code) => own[systems[at].at * task.languages.length + task.place.get(code)]),
      ),
    ),
  );
  const moving = scores.map((own) => !own.some(Number.isNaN));
  if (!moving.some(Boolean)) return null;
  const codes = [...new Set(columns.flatMap((column) => column.codes))];
  const random = randomNumbers(1);
  const found = ranked.map(() => new Int32Array(draws));
  for (let draw = 0; draw < draws; draw++) {
    const times = new Map(codes.map((code) => [code, 0]));
    for (let at = 0; at < codes.length; at++) {
      const code = codes[Math.floor(random() * codes.length)];
      times.set(code, times.get(code) + 1);
    }
    const coefficients = cellCoefficients(columns, times, choice, board.language);
    const figures = ranked.map((at, place) => (moving[place] ? dot(scores[place], coefficients) : values[at]));
    const order = ranked
      .map((_, place) => place)
      .sort((a, b) => (choice.lower ? figures[a] - figures[b] : figures[b] - figures[a]));
    order.forEach((place, rank) => {
      const tied = rank > 0 && Math.abs(figures[order[rank - 1]] - figures[place]) < 1e-9;
      found[place][draw] = tied ? found[order[rank - 1]][draw] : rank + 1;
    });
  }
  const made = values.map(() => null);
  ranked.forEach((at, place) => {
    if (moving[place]) made[at] = [quantile(found[place], 0.025), quantile(found[place], 0.975)];
  });
  return made;
}

function dot(values, coefficients) {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at] * coefficients[at];
  return sum;
}

const quantile = (ranks, share) => [...ranks].sort((a, b) => a - b)[Math.round(share * (ranks.length - 1))];
