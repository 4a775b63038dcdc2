// The test of a ranking: on examples if every ranked system has predictions, otherwise over languages. One ranking has one
// test, from which its rank sets, letters and sentences follow.
import { languageMoves } from "./language_moves.js";
import { languageTests } from "./language_tests.js";
import { ordering } from "./ordering.js";

// More systems take too long to test in a browser.
const MOST_TESTED = 500;

/** @param {Standings} table @returns {TestedOrder} */
export function testedOrder(table) {
  const { board, rows, values } = table;
  const ranked = rows.map((_, at) => at).filter((at) => !Number.isNaN(values[at]));
  /** @type {TestedOrder} */
  const untested = { test: "", note: board.tests[""], ranges: new Map(), groups: [] };
  if (ranked.length < 2) return { ...untested, note: "" };
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
  const order = ordering(
    tested.map((at) => figures[at]),
    (one, other) => p(tested[one], tested[other]),
    table.by.lower,
  );
  // Systems that cannot be tested may be better than any other.
  const unknown = ranked.length - tested.length;
  /** @param {number} place */
  const idOf = (place) => systems[tested[place]].id;
  const test = onExamples ? "examples" : "languages";
  return {
    test,
    note: board.tests[test],
    ranges: new Map(tested.map((_, place) => [idOf(place), [order.low[place], order.high[place] + unknown]])),
    groups: order.groups.map((group) => group.map(idOf)),
  };
}

// The paired tests of the column, if every pair of the ranking has one.
/** @param {Standings} table @param {System[]} systems @returns {PairTests | null} */
function exampleTests({ board, by, choice }, systems) {
  const isRule = by.kind === "overall" && choice.ranking === board.rule.name && !choice.narrowed;
  const pairs = isRule || (by.kind === "task" && by.part.whole) ? (board.example_tests[by.id] ?? []) : [];
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
