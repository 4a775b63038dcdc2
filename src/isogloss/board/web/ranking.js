// The rankings and what each of them is. All are made from the scores of cells, so that they can be made again for any
// choice of tasks and languages; each is a plain function of one system's scores.
export const RANKINGS = [
  {
    id: "category",
    title: "Paper's average",
    hint: "The mean over the categories of the mean over each category's tasks; a task's figure is the mean over its languages.",
  },
  { id: "flat", title: "Flat", hint: "The mean over tasks: a category with more tasks counts for more." },
  {
    id: "family",
    title: "Family-balanced",
    hint: "Within each task, languages are averaged by family, then families: many European languages count no more than one.",
  },
  {
    id: "speakers",
    title: "Speaker-weighted",
    hint: "Within each task, languages count by how many people speak them; where that is not known, not at all.",
  },
  {
    id: "resources",
    title: "Resource-weighted",
    hint: "Within each task, languages count by the size of their Wikipedia.",
  },
  {
    id: "worst",
    title: "Worst ten languages",
    hint: "The mean over the ten languages where the system itself is weakest; a language is the mean over its tasks.",
  },
  {
    id: "gini",
    title: "Inequality (Gini)",
    lower: true,
    hint: "How unequally languages are served, times 100: 0 if all alike. Lower is better; it says nothing about how well.",
  },
  { id: "weights", title: "Your weights", hint: "The mean over tasks with the weights that you set below." },
];
const WORST = 10;

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

function giniIndex(values) {
  const sorted = Float64Array.from(values).sort();
  const sum = sorted.reduce((a, b) => a + b, 0);
  const n = sorted.length;
  if (!sum) return n ? 0 : NaN;
  return sorted.reduce((all, value, at) => all + (2 * (at + 1) - n - 1) * value, 0) / (n * sum);
}

export function groupedBy(items, key) {
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(item);
  }
  return groups;
}

// What follows from the languages of a task alone, found once for all systems.
function foundOnce(find) {
  const known = new WeakMap();
  return (codes, ...rest) => {
    if (!known.has(codes)) known.set(codes, find(codes, ...rest));
    return known.get(codes);
  };
}

const placesByFamily = foundOnce((codes, language) => {
  const places = codes.map((code, at) => at);
  return [...groupedBy(places, (at) => language.get(codes[at])?.family ?? codes[at]).values()];
});

// The mean over families of the mean over each family's languages.
const familyMean = (codes, scores, language) =>
  weightedMean(
    placesByFamily(codes, language).map((places) => {
      let sum = 0;
      for (const at of places) sum += scores[at];
      return sum / places.length;
    }),
  );

const weightsBy = Object.fromEntries(
  ["speakers", "articles"].map((field) => [
    field,
    foundOnce((codes, language) => codes.map((code) => language.get(code)?.[field] ?? 0)),
  ]),
);

// The mean over the tasks that have a language of any weight; a missing score of such a language makes it NaN.
const countedMean = (parts, language, field) =>
  weightedMean(
    parts
      .map(({ codes, scores }) => ({ scores, weights: weightsBy[field](codes, language) }))
      .filter(({ weights }) => weights.some((weight) => weight > 0))
      .map(({ scores, weights }) => weightedMean(scores, weights)),
  );

const codeNumbers = new Map();
const numbersOf = foundOnce((codes) =>
  codes.map((code) => {
    if (!codeNumbers.has(code)) codeNumbers.set(code, codeNumbers.size);
    return codeNumbers.get(code);
  }),
);

// The mean over its tasks for every language.
function languageMeans(parts) {
  const numbers = parts.map(({ codes }) => numbersOf(codes));
  const [sums, counts] = [new Float64Array(codeNumbers.size), new Float64Array(codeNumbers.size)];
  parts.forEach(({ scores }, part) => {
    for (let at = 0; at < scores.length; at++) {
      sums[numbers[part][at]] += scores[at];
      counts[numbers[part][at]] += 1;
    }
  });
  return sums.map((sum, at) => sum / counts[at]).filter((_, at) => counts[at]);
}

const categoryMean = (parts, figure) =>
  weightedMean([...groupedBy(parts, (part) => part.category).values()].map((group) => weightedMean(group.map(figure))));

// One figure of one system. `parts` has, for each task: its id, category, codes of its languages, their scores, and its
// own figure (the mean of the scores, or what was reported). A score that is missing makes the figure NaN. Where lower is
// better, the weakest languages have the highest scores, and what languages share unequally is what is not wrong.
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
    case "worst": {
      const means = languageMeans(parts);
      if (means.some(Number.isNaN)) return NaN;
      const sorted = means.sort();
      return weightedMean(lower ? sorted.slice(-WORST) : sorted.slice(0, WORST));
    }
    case "gini": {
      const means = languageMeans(parts);
      return means.some(Number.isNaN) ? NaN : 100 * giniIndex(lower ? means.map((mean) => 100 - mean) : means);
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

// Rankings that look at single languages, not only at the averages of tasks.
export const BY_LANGUAGE = ["family", "speakers", "resources", "worst", "gini"];

// The scores of one system in the languages of a column. Rankings by language take the metric that is printed by language.
export function columnScores(system, { task, places, whole, scores }, byLanguage = false) {
  const cells = byLanguage && whole ? task.cells : scores;
  const first = system.at * task.languages.length;
  return places.map((place) => cells[first + place]);
}

// What a partial system has, for a figure that is marked as partial: the mean of the cells that are there.
export function partialMean(scores) {
  const known = scores.filter((score) => !Number.isNaN(score));
  return { value: weightedMean(known), n: known.length };
}

// Ranks by competition: equal figures (as printed, one decimal more) share the better rank.
export function ranksOf(values, lower = false) {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => (lower ? a - b : b - a));
  const first = new Map();
  sorted.forEach((value, at) => {
    if (!first.has(value)) first.set(value, at + 1);
  });
  return values.map((value) => first.get(value) ?? null);
}

// The ranks that intervals leave open: better than all whose interval is below, worse than all whose is above.
export function rankIntervals(values, lows, highs) {
  const low = values.map((value, at) => (Number.isNaN(lows[at]) ? value : lows[at]));
  const high = values.map((value, at) => (Number.isNaN(highs[at]) ? value : highs[at]));
  const ranked = values.map((value, at) => at).filter((at) => !Number.isNaN(values[at]));
  const byLow = Float64Array.from(ranked, (at) => low[at]).sort();
  const byHigh = Float64Array.from(ranked, (at) => high[at]).sort();
  return values.map((value, at) => {
    if (Number.isNaN(value) || Number.isNaN(lows[at])) return null;
    return [1 + byLow.length - countUpTo(byLow, high[at], true), byHigh.length - countUpTo(byHigh, low[at], false)];
  });
}

// How many of the sorted numbers are below (or at most) a number.
function countUpTo(sorted, number, inclusive) {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (inclusive ? sorted[middle] <= number : sorted[middle] < number) from = middle + 1;
    else to = middle;
  }
  return from;
}
