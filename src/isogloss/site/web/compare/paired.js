import { loadedDetail } from "../board/decode.js";
import { missing } from "../page/dom.js";

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
