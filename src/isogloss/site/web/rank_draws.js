import { groupedBy } from "./ranking.js";

// Limit on systems × cells × draws, to keep filters fast. Boards that allow too few draws get no intervals.
const MOST_WORK = 10e6;
const LEAST_DRAWS = 100;
const MOST_DRAWS = 400;
/** @type {Record<string, 'speakers' | 'articles'>} */
const WEIGHT_FIELDS = { speakers: "speakers", resources: "articles" };

// Reproducible random numbers from 0 to 1 (mulberry32).
/** @param {number} seed */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// The weight of each cell of a task given how often its languages were drawn; null if none was.
/**
 * @param {CellColumn} column
 * @param {Map<string, number>} times
 * @param {string} ranking
 * @param {Map<string, Language>} language
 */
function cellShares(column, times, ranking, language) {
  const field = WEIGHT_FIELDS[ranking];
  const weights = column.codes.map((code) => (times.get(code) ?? 0) * (field ? (language.get(code)?.[field] ?? 0) : 1));
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

// The weight of each task with at least one drawn language.
/**
 * @param {CellColumn[]} columns
 * @param {boolean[]} counted
 * @param {string} ranking
 * @param {Maybe<Record<string, number>>} weights
 */
function taskShares(columns, counted, ranking, weights) {
  const drawn = columns.filter((_, at) => counted[at]);
  const categories = groupedBy(drawn, ({ task }) => task.category);
  /** @param {CellColumn} options */
  const share = ({ task }) =>
    ranking === "category"
      ? 1 / (categories.get(task.category)?.length ?? 1) / categories.size
      : ranking === "weights"
        ? (weights?.[task.id] ?? 1)
        : 1;
  const total = drawn.reduce((sum, column) => sum + share(column), 0);
  return columns.map((column, at) => (counted[at] ? share(column) / (total || 1) : 0));
}

/**
 * @param {CellColumn[]} columns
 * @param {Map<string, number>} times
 * @param {Choice} options2
 * @param {Map<string, Language>} language
 */
function cellCoefficients(columns, times, { ranking, weights }, language) {
  const shares = columns.map((column) => cellShares(column, times, ranking, language));
  const tasks = taskShares(
    columns,
    shares.map((share) => share !== null),
    ranking,
    weights,
  );
  return Float64Array.from(
    columns.flatMap((column, at) => (shares[at] ?? column.codes.map(() => 0)).map((share) => share * tasks[at])),
  );
}

// 95 % rank intervals from resampling languages with replacement: a pair per system, or null if its cells are unknown (its
// score stays fixed). Null for boards that are too large, and for rankings other than weighted means of cells.
/**
 * @param {Board} board
 * @param {System[]} systems
 * @param {number[]} values
 * @param {CellColumn[]} columns
 * @param {Choice} choice
 * @returns {(Interval | null)[] | null}
 */
export function drawnRankIntervals(board, systems, values, columns, choice) {
  if (!["category", "flat", "family", "speakers", "resources", "weights"].includes(choice.ranking)) return null;
  const ranked = values.map((_, at) => at).filter((at) => !Number.isNaN(values[at]));
  const cells = columns.reduce((sum, { codes }) => sum + codes.length, 0);
  // Sorting a system costs about as much as a hundred cells.
  const draws = Math.min(MOST_DRAWS, Math.floor(MOST_WORK / (ranked.length * (cells + 100) || 1)));
  if (draws < LEAST_DRAWS || ranked.length < 2) return null;
  const scores = ranked.map((at) =>
    Float64Array.from(
      columns.flatMap(({ task, codes, scores: own }) =>
        codes.map((code) => own[systems[at].at * task.languages.length + task.languages.indexOf(code)]),
      ),
    ),
  );
  const moving = scores.map((own) => !own.some(Number.isNaN));
  if (!moving.some(Boolean)) return null;
  const codes = [...new Set(columns.flatMap((column) => column.codes))];
  const random = randomNumbers(1);
  const ranks = ranked.map(() => new Int32Array(draws));
  for (let draw = 0; draw < draws; draw++) {
    const times = new Map(codes.map((code) => [code, 0]));
    for (let at = 0; at < codes.length; at++) {
      const code = codes[Math.floor(random() * codes.length)];
      times.set(code, (times.get(code) ?? 0) + 1);
    }
    const coefficients = cellCoefficients(columns, times, choice, board.language);
    const figures = ranked.map((at, place) => (moving[place] ? dot(scores[place], coefficients) : values[at]));
    const order = ranked
      .map((_, place) => place)
      .sort((a, b) => (choice.lower ? figures[a] - figures[b] : figures[b] - figures[a]));
    order.forEach((place, rank) => {
      const tied = rank > 0 && Math.abs(figures[order[rank - 1]] - figures[place]) < 1e-9;
      ranks[place][draw] = tied ? ranks[order[rank - 1]][draw] : rank + 1;
    });
  }
  /** @type {(Interval | null)[]} */
  const intervals = values.map(() => null);
  ranked.forEach((at, place) => {
    if (moving[place]) intervals[at] = [quantile(ranks[place], 0.025), quantile(ranks[place], 0.975)];
  });
  return intervals;
}

/** @param {Float64Array} values @param {Float64Array} coefficients */
function dot(values, coefficients) {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at] * coefficients[at];
  return sum;
}

/** @param {Int32Array} ranks @param {number} share */
const quantile = (ranks, share) => [...ranks].sort((a, b) => a - b)[Math.round(share * (ranks.length - 1))];
