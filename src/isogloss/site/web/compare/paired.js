import { analysedCells } from "../analysis/built_charts.js";
import { loadedDetail } from "../board/decode.js";
import { missing } from "../page/dom.js";
import { hashOf } from "../page/state.js";

/** @param {PairedTest} test @returns {PairedTest} */
const turnedTest = ({ difference, low, high, ...test }) => ({
  ...test,
  difference: -difference,
  low: missing(high) ? null : -high,
  high: missing(low) ? null : -low,
});

// The paired tests of two systems by column, first minus second, from either system's file.
/** @param {System[]} pair @param {Detail[]} details @returns {Map<string, PairedTest>} */
export function testsByColumn([first, second], [one, other]) {
  const own = one?.paired?.[second.id] ?? other?.paired?.[first.id]?.map(turnedTest) ?? [];
  return new Map(own.map((test) => [test.column, test]));
}

// The same for systems of the board. Undefined while a file is loading: the page redraws later.
/** @param {System[]} pair @returns {Map<string, PairedTest> | undefined} */
export function loadedTests(pair) {
  // Without predictions on both sides there is no paired test.
  if (!pair.every((system) => system.has_predictions)) return new Map();
  const details = pair.map(({ id }) => loadedDetail(id));
  return details.includes(undefined) ? undefined : testsByColumn(pair, details);
}

// Cells with single examples that can be compared, once the systems' files are loaded.
/** @param {System[]} pair @returns {Set<string>} */
export function cellsWithExamples(pair) {
  if (!pair.every((system) => system.has_predictions)) return new Set();
  const details = pair.map(({ id }) => loadedDetail(id) ?? null);
  return new Set(analysedCells(details).map(({ task, language }) => `${task}/${language}`));
}

// The address of the examples on which two systems differ in a cell.
/** @param {System[]} pair @param {string} task @param {string} language */
export const examplesHash = (pair, task, language) =>
  hashOf(["analysis", "pairwise"], { system: pair.map(({ id }) => id), task, language });
