// How figures depend on single languages, for tests over languages: as View.languages and View.moves of
// analysis/ranking_views.py.
import { OF_LANGUAGE_MEANS, columnScores, familyOf, groupedBy, languageMeans } from "../board/ranking.js";

/** @type {Record<string, 'speakers' | 'articles'>} */
const WEIGHT_FIELDS = { speakers: "speakers", resources: "articles" };

// The share of each language in the figure, its family, and how much each system's figure moves without it; null for systems
// that lack a cell.
/**
 * @param {Board} board
 * @param {System[]} systems
 * @param {CellColumn[]} columns
 * @param {Choice} choice
 * @returns {{ shares: number[], families: string[], moves: (Float64Array | null)[] }}
 */
export function languageMoves(board, systems, columns, choice) {
  const codes = [...new Set(columns.flatMap((column) => column.codes))];
  const families = codes.map((code) => familyOf(board.language, code));
  const scores = systems.map((system) => columns.map((column) => columnScores(system, column, true)));
  const figure = OF_LANGUAGE_MEANS[choice.ranking];
  if (figure) {
    const shares = codes.map(() => 1 / codes.length);
    return { shares, families, moves: scores.map((own) => movesOf(columns, own, codes, figure, choice.lower)) };
  }
  const weights = columns.map((column) => cellWeights(column, choice.ranking, board.language));
  const whole = coefficients(columns, weights, choice);
  const cellCodes = columns.flatMap((column) => column.codes);
  const shares = codes.map((code) => cellCodes.reduce((sum, own, at) => sum + (own === code ? whole[at] : 0), 0));
  const changes = codes.map((code, at) => {
    const others = columns.map((column, task) =>
      weights[task].map((weight, cell) => (column.codes[cell] === code ? 0 : weight)),
    );
    return shares[at] && others.flat().some(Boolean)
      ? coefficients(columns, others, choice).map((coefficient, cell) => whole[cell] - coefficient)
      : null;
  });
  const moves = scores.map((own) => {
    const cells = Float64Array.from(own.flat());
    if (cells.some((score, at) => whole[at] && Number.isNaN(score))) return null;
    return Float64Array.from(changes, (change) => (change ? dot(cells, change) : 0));
  });
  return { shares, families, moves };
}

/**
 * @param {CellColumn[]} columns
 * @param {number[][]} scores
 * @param {string[]} codes
 * @param {(means: Float64Array, lower?: boolean) => number} figure
 * @param {boolean} [lower]
 */
function movesOf(columns, scores, codes, figure, lower) {
  const means = languageMeans(columns.map((column, at) => ({ codes: column.codes, scores: scores[at] })));
  if (codes.some((code) => Number.isNaN(means.get(code)))) return null;
  const values = Float64Array.from(codes, (code) => Number(means.get(code)));
  const whole = figure(values, lower);
  return values.map((_, at) =>
    codes.length > 1
      ? whole -
        figure(
          values.filter((__, other) => other !== at),
          lower,
        )
      : 0,
  );
}

// The weight of each cell of a task. Families weigh the same; weights do not change when a language is left out.
/** @param {CellColumn} column @param {string} ranking @param {Map<string, Language>} language @returns {number[]} */
function cellWeights({ codes }, ranking, language) {
  const field = WEIGHT_FIELDS[ranking];
  if (field) return codes.map((code) => language.get(code)?.[field] ?? 0);
  if (ranking !== "family") return codes.map(() => 1);
  const families = codes.map((code) => familyOf(language, code));
  const members = groupedBy(families, (family) => family);
  return families.map((family) => 1 / (members.get(family)?.length ?? 1));
}

// The coefficient of each cell in a weighted mean over tasks of the weighted means over their languages.
/** @param {CellColumn[]} columns @param {number[][]} weights @param {Choice} choice */
function coefficients(columns, weights, choice) {
  const totals = weights.map((own) => own.reduce((a, b) => a + b, 0));
  const tasks = taskShares(
    columns,
    totals.map((total) => total > 0),
    choice,
  );
  return Float64Array.from(
    weights.flatMap((own, at) => own.map((weight) => (weight ? (tasks[at] * weight) / totals[at] : 0))),
  );
}

/** @param {CellColumn[]} columns @param {boolean[]} counted @param {Choice} choice */
function taskShares(columns, counted, { ranking, weights }) {
  const categories = groupedBy(
    columns.filter((_, at) => counted[at]),
    ({ task }) => task.category,
  );
  /** @param {CellColumn} column */
  const share = ({ task }) =>
    ranking === "category"
      ? 1 / (categories.get(task.category)?.length ?? 1) / categories.size
      : ranking === "weights"
        ? (weights?.[task.id] ?? 1)
        : 1;
  const shares = columns.map((column, at) => (counted[at] ? share(column) : 0));
  const total = shares.reduce((a, b) => a + b, 0);
  return shares.map((own) => own / (total || 1));
}

/** @param {Float64Array} values @param {Float64Array} weights */
function dot(values, weights) {
  let sum = 0;
  for (let at = 0; at < values.length; at++) if (weights[at]) sum += values[at] * weights[at];
  return sum;
}
