// The rankings. Each is a function of one system's cell scores, so it works for any selection of tasks and languages.
export const RANKINGS = [
  {
    id: "category",
    title: "Mean over categories",
    hint: "Mean over categories of the mean over each category's tasks; a task's score is the mean over its languages (XTREME-R's rule).",
  },
  { id: "flat", title: "Mean over tasks", hint: "Mean over tasks: categories with more tasks weigh more (XTREME's rule)." },
  {
    id: "family",
    title: "Family-balanced",
    hint: "Within each task, languages are averaged within families, then families are averaged, so that large families do not dominate.",
  },
  {
    id: "speakers",
    title: "Speaker-weighted",
    hint: "Within each task, languages are weighted by number of speakers; languages without a known number are left out.",
  },
  {
    id: "resources",
    title: "Resource-weighted",
    hint: "Within each task, languages are weighted by the size of their Wikipedia.",
  },
  {
    id: "worst",
    title: "Worst ten languages",
    hint: "Mean over the ten languages in which the system is weakest; a language's score is the mean over its tasks.",
  },
  {
    id: "gini",
    title: "Inequality (Gini)",
    lower: true,
    hint: "Gini coefficient of the scores per language, times 100: 0 means equal scores. Lower is better; the level of the scores does not matter.",
  },
  { id: "weights", title: "Your weights", hint: "Mean over tasks with the weights you set on the leaderboard." },
];
const WORST = 10;

/** @param {ArrayLike<number>} values @param {ArrayLike<number>} [weights] */
export function weightedMean(values, weights) {
  let sum = 0;
  let total = 0;
  for (let at = 0; at < values.length; at++) {
    const weight = weights ? weights[at] : 1;
    if (weight === 0) continue;
    sum += weight * values[at];
    total += weight;
  }
  return total ? sum / total : NaN;
}

/** @param {Float64Array} values */
function giniIndex(values) {
  const sorted = Float64Array.from(values).sort();
  const sum = sorted.reduce((a, b) => a + b, 0);
  const n = sorted.length;
  if (!sum) return n ? 0 : NaN;
  return sorted.reduce((all, value, at) => all + (2 * (at + 1) - n - 1) * value, 0) / (n * sum);
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => string} key
 * @returns {Map<string, T[]>}
 */
export function groupedBy(items, key) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name)?.push(item);
  }
  return groups;
}

// Cache a function of an object's identity and further arguments; keep one result per object.
/**
 * @template {object} K, T
 * @template {any[]} R
 * @param {(object: K, ...rest: R) => T} compute
 * @returns {(object: K, ...rest: R) => T}
 */
export function memoized(compute) {
  /** @type {WeakMap<K, { rest: R, result: T }>} */
  const results = new WeakMap();
  return (object, ...rest) => {
    const last = results.get(object);
    if (last && rest.every((value, at) => value === last.rest[at])) return last.result;
    const result = compute(object, ...rest);
    results.set(object, { rest, result });
    return result;
  };
}

// The family of a language; a language without a known family is its own.
/** @param {Map<string, Language>} language @param {string} code */
export const familyOf = (language, code) => language.get(code)?.family ?? code;

const indicesByFamily = memoized((/** @type {string[]} */ codes, /** @type {Map<string, Language>} */ language) => {
  const indices = codes.map((_, at) => at);
  return [...groupedBy(indices, (at) => familyOf(language, codes[at])).values()];
});

// Mean over families of the mean over each family's languages.
/** @param {string[]} codes @param {number[]} scores @param {Map<string, Language>} language */
const familyMean = (codes, scores, language) =>
  weightedMean(
    indicesByFamily(codes, language).map((indices) => {
      let sum = 0;
      for (const at of indices) sum += scores[at];
      return sum / indices.length;
    }),
  );

/** @param {"speakers" | "articles"} field */
const languageWeights = (field) =>
  memoized((/** @type {string[]} */ codes, /** @type {Map<string, Language>} */ language) =>
    codes.map((code) => language.get(code)?.[field] ?? 0),
  );
const weightsBy = { speakers: languageWeights("speakers"), articles: languageWeights("articles") };

// Mean over the tasks with any weighted language; NaN if such a language has no score.
/** @param {RankingPart[]} parts @param {Map<string, Language>} language @param {'speakers' | 'articles'} field */
const countedMean = (parts, language, field) =>
  weightedMean(
    parts
      .map(({ codes, scores }) => ({ scores, weights: weightsBy[field](codes, language) }))
      .filter(({ weights }) => weights.some((weight) => weight > 0))
      .map(({ scores, weights }) => weightedMean(scores, weights)),
  );

// Mean over tasks for each language.
/** @param {{ codes: string[], scores: ArrayLike<number> }[]} parts @returns {Map<string, number>} */
export function languageMeans(parts) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { codes, scores } of parts)
    for (let at = 0; at < codes.length; at++) {
      sums.set(codes[at], (sums.get(codes[at]) ?? 0) + scores[at]);
      counts.set(codes[at], (counts.get(codes[at]) ?? 0) + 1);
    }
  for (const [code, sum] of sums) sums.set(code, sum / (counts.get(code) ?? 1));
  return sums;
}

// Figures of a system's means per language. If lower is better, the weakest languages have the highest scores, and inequality
// is measured on 100 minus the score.
/** @type {Record<string, (means: Float64Array, lower?: boolean) => number>} */
export const OF_LANGUAGE_MEANS = {
  worst: (means, lower) => {
    const sorted = Float64Array.from(means).sort();
    return weightedMean(lower ? sorted.slice(-WORST) : sorted.slice(0, WORST));
  },
  gini: (means, lower) => 100 * giniIndex(lower ? means.map((mean) => 100 - mean) : means),
};

/** @param {RankingPart[]} parts @param {(part: RankingPart) => number} figure */
const categoryMean = (parts, figure) =>
  weightedMean([...groupedBy(parts, (part) => part.category).values()].map((group) => weightedMean(group.map(figure))));

// Compute one system's overall score. `parts` holds for each task its id, category, language codes, their scores, and its
// average (computed or reported). A missing score makes the result NaN.
/**
 * @param {string} ranking
 * @param {RankingPart[]} parts
 * @param {{ language: Map<string, Language>, weights?: Record<string, number>, lower?: boolean }} options2
 */
export function overallFigure(ranking, parts, { language, weights = {}, lower = false }) {
  if (!parts.length) return NaN;
  switch (ranking) {
    case "flat":
      return weightedMean(parts.map((part) => part.figure));
    case "family":
      return weightedMean(parts.map((part) => familyMean(part.codes, part.scores, language)));
    case "speakers":
      return countedMean(parts, language, "speakers");
    case "resources":
      return countedMean(parts, language, "articles");
    case "worst":
    case "gini": {
      const means = Float64Array.from(languageMeans(parts).values());
      return means.some(Number.isNaN) ? NaN : OF_LANGUAGE_MEANS[ranking](means, lower);
    }
    case "weights":
      return weightedMean(
        parts.map((part) => part.figure),
        parts.map((part) => weights[part.id] ?? 1),
      );
    default:
      return categoryMean(parts, (part) => part.figure);
  }
}

// Rankings that need scores per language.
export const BY_LANGUAGE = ["family", "speakers", "resources", "worst", "gini"];

// One system's scores in the languages of a column. Rankings by language use the metric that is reported per language.
/** @param {System} system @param {CellColumn} options1 @param {boolean} [byLanguage] */
export function columnScores(system, { task, places, whole, scores }, byLanguage = false) {
  const cells = byLanguage && whole ? task.cells : scores;
  const first = system.at * task.languages.length;
  return places.map((place) => cells[first + place]);
}

// Mean over the available cells, for scores marked as partial.
/** @param {number[]} scores */
export function partialMean(scores) {
  const available = scores.filter((score) => !Number.isNaN(score));
  return { value: weightedMean(available), n: available.length };
}

// Competition ranks: equal values share the better rank.
/** @param {number[]} values @param {boolean} [lower] */
export function ranksOf(values, lower = false) {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => (lower ? a - b : b - a));
  /** @type {Map<number, number>} */
  const first = new Map();
  sorted.forEach((value, at) => {
    if (!first.has(value)) first.set(value, at + 1);
  });
  return values.map((value) => first.get(value) ?? null);
}
