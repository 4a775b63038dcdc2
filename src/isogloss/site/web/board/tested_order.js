// The test of a ranking: on examples if every ranked system has predictions, otherwise over languages. One ranking has one
// test, from which its rank sets, letters and sentences follow. The same figures always have the same test.
import { languageMoves } from "../statistics/language_moves.js";
import { languageTests } from "../statistics/language_tests.js";
import { correctedOrdering, ordering } from "../statistics/ordering.js";

// More systems take too long to test in a browser.
const MOST_TESTED = 500;
/** @type {TestedOrder} */
export const NO_ORDER = { test: "", note: "", ranges: new Map(), untested: new Set(), groups: [] };

/** @param {Standings} table @returns {TestedOrder} */
export function testedOrder(table) {
  const { board, rows, values } = table;
  const ranked = rows.map((_, at) => at).filter((at) => !Number.isNaN(values[at]));
  /** @type {TestedOrder} */
  const untested = { ...NO_ORDER, note: board.tests[""] };
  if (ranked.length < 2) return NO_ORDER;
  const systems = ranked.map((at) => rows[at].system);
  const onExamples = exampleTests(table, systems);
  if (!onExamples && ranked.length > MOST_TESTED)
    return {
      ...untested,
      note: `The order of more than ${MOST_TESTED} systems is not tested. Filter systems to test them.`,
    };
  const figures = ranked.map((at) => values[at]);
  const { p, tested } = onExamples ?? overLanguages(table, systems, figures);
  if (tested.length < 2) return untested;
  // The builder has corrected the tests on examples for all pairs, so that a selection does not change them.
  const order = (onExamples ? correctedOrdering : ordering)(
    tested.map((at) => figures[at]),
    (one, other) => p(tested[one], tested[other]),
    table.by.lower,
  );
  // Systems that cannot be tested may be better than any other.
  const unknown = ranked.length - tested.length;
  /** @param {number} place */
  const idOf = (place) => systems[tested[place]].id;
  return withUntested(board, systems, {
    test: onExamples ? "examples" : "languages",
    ranges: new Map(tested.map((_, place) => [idOf(place), [order.low[place], order.high[place] + unknown]])),
    groups: order.groups.map((group) => group.map(idOf)),
  });
}

// A tested order of the ranked systems: those that the test leaves out may have any rank.
/** @param {Board} board @param {System[]} ranked @param {Pick<TestedOrder, "test" | "ranges" | "groups">} order @returns {TestedOrder} */
export function withUntested(board, ranked, { test, ranges, groups }) {
  const untested = ranked.map(({ id }) => id).filter((id) => test && !ranges.has(id));
  /** @type {[string, Interval][]} */
  const open = untested.map((id) => [id, [1, ranked.length]]);
  return { test, note: board.tests[test], ranges: new Map([...ranges, ...open]), untested: new Set(untested), groups };
}

// The number of tested systems, and of those among them that could be first.
/** @param {TestedOrder} order */
export function testedCounts({ ranges, untested }) {
  const tested = [...ranges].filter(([id]) => !untested.has(id));
  return { tested: tested.length, first: tested.filter(([, [low]]) => low === 1).length };
}

// The rankings that average the scores of tasks.
const TASK_MEANS = ["category", "flat", "weights"];

// The column of paired tests with the same figures as the ranking, or "".
/** @param {Standings} table */
export function exampleColumn({ board, by, choice, columns }) {
  if (by.kind === "task") return by.part.whole ? by.id : "";
  const parts = by.kind === "category" ? by.parts : columns;
  if (parts.some(({ whole }) => !whole)) return "";
  const weights = new Set(parts.map(({ task }) => choice.weights?.[task.id] ?? 1));
  const isEqual = by.kind === "category" || choice.ranking !== "weights" || weights.size === 1;
  if (parts.length === 1 && TASK_MEANS.includes(choice.ranking)) return weights.has(0) ? "" : parts[0].task.id;
  if (parts.length < board.tasks.length || !isEqual) return "";
  // The average of the only category is that of the suite.
  return by.kind === "category" || board.own_rule.includes(choice.ranking) ? "overall" : "";
}

// The paired tests of the ranking's figures, if every pair has one.
/** @param {Standings} table @param {System[]} systems @returns {PairTests | null} */
function exampleTests(table, systems) {
  const { board } = table;
  const pairs = board.example_tests[exampleColumn(table)] ?? [];
  const values = new Map(pairs.map(([one, other, p]) => [one * board.systems.length + other, p]));
  /** @param {number} one @param {number} other */
  const p = (one, other) => {
    const [first, second] = [systems[one].at, systems[other].at].sort((a, b) => a - b);
    return values.get(first * board.systems.length + second) ?? NaN;
  };
  const complete = systems.every((_, one) =>
    systems.every((__, other) => one >= other || !Number.isNaN(p(one, other))),
  );
  return complete ? { p, tested: systems.map((_, at) => at) } : null;
}

/** @param {Standings} table @param {System[]} systems @param {number[]} figures @returns {PairTests} */
function overLanguages({ board, by, columns, choice }, systems, figures) {
  const parts = by.kind === "task" ? [by.part] : by.kind === "category" ? by.parts : columns;
  const way = by.kind === "overall" ? choice : { ...choice, ranking: "flat" };
  const lower = parts.every(({ task }) => task.lower_is_better);
  const { shares, families, moves } = languageMoves(board, systems, parts, { ...way, lower });
  const p = languageTests(figures, moves, shares, families);
  return p ? { p, tested: moves.map((_, at) => at).filter((at) => moves[at]) } : { p: () => NaN, tested: [] };
}
