// Tests of systems over languages, as in metrics/language_tests.py: would the order hold in similar languages?
import { ALPHA, studentTail } from "./distributions.js";
import { squares } from "./estimates.js";

const LEAST_LANGUAGES = 5;
const CORRELATIONS = Array.from({ length: 10 }, (_, at) => 1 - ((10 - at) / 10) ** 2);
// Maximum weight of the other systems, in pairs.
const OTHER_PAIRS = 2;
const ROUNDING = 1e-12;

// The p-value of each pair of systems, uncorrected, as a function of two places; pairs that cannot be significant get a bound
// above 0.05 instead. `moves` holds for each system how much its figure moves when a language is left out, or null if its
// cells are unknown. Null with too few languages or systems.
/**
 * @param {number[]} figures
 * @param {(Float64Array | null)[]} moves
 * @param {number[]} shares
 * @param {string[]} families
 * @returns {((one: number, other: number) => number) | null}
 */
export function languageTests(figures, moves, shares, families) {
  const counted = shares.map((_, at) => at).filter((at) => shares[at] > 0);
  const total = counted.reduce((sum, at) => sum + shares[at], 0);
  const weights = counted.map((at) => shares[at] / total);
  const sample = familySample(
    weights,
    counted.map((at) => families[at]),
  );
  const tested = moves.map((_, at) => at).filter((at) => moves[at]);
  if (counted.length < LEAST_LANGUAGES || tested.length < 2) return null;
  const distances = tested.map((at) =>
    Float64Array.from(counted, (language, place) => (moves[at]?.[language] ?? NaN) * (1 / weights[place] - 1)),
  );
  const rows = centredBy(distances);
  const parts = correlationParts(sample, rows);
  const place = new Map(tested.map((at, row) => [at, row]));
  return (one, other) => {
    const [first, second] = [place.get(one), place.get(other)];
    if (first === undefined || second === undefined) return NaN;
    const apart = Math.abs(figures[one] - figures[other]);
    if (apart <= ROUNDING * (1 + Math.abs(figures[one]))) return 1;
    return pairTest(parts, apart, first * rows.length + second, first * (rows.length + 1), second * (rows.length + 1));
  };
}

// The p-value of a difference, averaged over correlations by their likelihood; a bound if it is above 0.05. `pair`, `first`
// and `second` are places in the covariance of systems.
/** @param {CorrelationPart[]} parts @param {number} apart @param {number} pair @param {number} first @param {number} second */
function pairTest(parts, apart, pair, first, second) {
  const spreads = parts.map(({ covariance }) =>
    Math.max(0, covariance[first] + covariance[second] - 2 * covariance[pair]),
  );
  const logs = parts.map(({ prior, logLikelihood }, at) => prior + logLikelihood(spreads[at]));
  const most = Math.max(...logs);
  const likelihoods = logs.map((log) => Math.exp(log - most));
  const total = likelihoods.reduce((a, b) => a + b, 0);
  let p = 0;
  // Large correlations have large p-values.
  for (let at = parts.length - 1; at >= 0 && p <= ALPHA; at--) {
    const share = likelihoods[at] / total;
    if (share <= ROUNDING) continue;
    const error = Math.sqrt(spreads[at] * parts[at].variance);
    p += 2 * share * studentTail(error > ROUNDING * (1 + apart) ? apart / error : Infinity, parts[at].freedom);
  }
  return Math.min(1, p);
}

// Languages with their weights, and the family of each as a number. Languages of one family are a sample of languages.
/** @param {number[]} weights @param {string[]} names @returns {FamilySample} */
function familySample(weights, names) {
  const numbers = new Map([...new Set(names)].map((name, at) => [name, at]));
  const family = numbers.size === 1 ? names.map((_, at) => at) : names.map((name) => Number(numbers.get(name)));
  const count = numbers.size === 1 ? names.length : numbers.size;
  const sizes = new Float64Array(count);
  const sums = new Float64Array(count);
  family.forEach((at, language) => {
    sizes[at] += 1;
    sums[at] += weights[language];
  });
  const alone = weights.reduce((sum, weight) => sum + weight * weight, 0);
  return { family, sizes, alone, together: sums.reduce((sum, weight) => sum + weight * weight, 0) };
}

/** @param {Float64Array[]} rows */
function centredBy(rows) {
  const mean = rows[0].map((_, at) => rows.reduce((sum, row) => sum + row[at], 0) / rows.length);
  return rows.map((row) => row.map((value, at) => value - mean[at]));
}

// For each correlation of languages of a family: the covariance of systems, the variance of a weighted mean and its degrees of
// freedom, the log likelihood (REML) of a spread, and that of all systems, scaled to the same spread.
/** @param {FamilySample} sample @param {Float64Array[]} rows @returns {CorrelationPart[]} */
function correlationParts(sample, rows) {
  const { family, sizes, alone, together } = sample;
  const languages = family.length - 1;
  const scaled = rows.map((row) => {
    const length = Math.sqrt(squares(row));
    return row.map((value) => (length > ROUNDING ? value / length : 0));
  });
  const plain = deviationsOf(sample, scaled, 0);
  const systems = Math.max(1, totalSquares(plain) ** 2 / Math.max(squares(productsOf(plain)), ROUNDING ** 2));
  const others = Math.min(systems - 1, OTHER_PAIRS);
  // Fewer languages if some vary much more than others.
  const lengths = scaled[0].map((_, at) => scaled.reduce((sum, row) => sum + row[at] ** 2, 0));
  const share = lengths.reduce((a, b) => a + b, 0) ** 2 / Math.max(squares(lengths), ROUNDING ** 2);
  const effective = Math.min(family.length, Math.max(2, (1 + 2 / systems) * share));
  return CORRELATIONS.map((correlation) => {
    const worth = precisions(sizes, correlation);
    const total = worth.reduce((a, b) => a + b, 0);
    const determinant = sizes.reduce(
      (sum, size, at) => sum + (size - 1) * Math.log(1 - correlation) + Math.log(size / worth[at]),
      Math.log(total),
    );
    /** @param {number} spread */
    const logLikelihood = (spread) => -(determinant + languages * Math.log(Math.max(spread, ROUNDING ** 2))) / 2;
    const shared = correlation * (together - alone);
    const errors = alone / Math.sqrt(effective - 1) + shared / Math.sqrt(sizes.length - 1);
    return {
      covariance: productsOf(deviationsOf(sample, rows, correlation)),
      prior: others * logLikelihood(totalSquares(deviationsOf(sample, scaled, correlation))),
      logLikelihood,
      variance: alone + shared,
      freedom: ((alone + shared) / errors) ** 2,
    };
  });
}

// The number of independent languages that each family is worth.
/** @param {Float64Array} sizes @param {number} correlation */
const precisions = (sizes, correlation) => sizes.map((size) => size / (1 - correlation + size * correlation));

// Deviations within families and of the families' means, scaled so that their products estimate the covariance of systems.
/** @param {FamilySample} sample @param {Float64Array[]} rows @param {number} correlation */
function deviationsOf({ family, sizes }, rows, correlation) {
  const worth = precisions(sizes, correlation);
  const total = worth.reduce((a, b) => a + b, 0);
  const scale = Math.sqrt(family.length - 1);
  return rows.map((row) => {
    const means = new Float64Array(sizes.length);
    row.forEach((value, at) => {
      means[family[at]] += value / sizes[family[at]];
    });
    const centre = means.reduce((sum, mean, at) => sum + mean * worth[at], 0) / total;
    const within = row.map((value, at) => (value - means[family[at]]) / Math.sqrt(1 - correlation) / scale);
    const between = means.map((mean, at) => ((mean - centre) * Math.sqrt(worth[at])) / scale);
    return Float64Array.of(...within, ...between);
  });
}

/** @param {Float64Array[]} deviations */
function productsOf(deviations) {
  const count = deviations.length;
  const products = new Float64Array(count * count);
  for (let one = 0; one < count; one++)
    for (let other = one; other < count; other++) {
      const [a, b] = [deviations[one], deviations[other]];
      let sum = 0;
      for (let at = 0; at < a.length; at++) sum += a[at] * b[at];
      products[one * count + other] = products[other * count + one] = sum;
    }
  return products;
}

/** @param {Float64Array[]} rows */
const totalSquares = (rows) => rows.reduce((sum, row) => sum + squares(row), 0);
