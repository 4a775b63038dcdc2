import { languageName, loadedDetail, taskName } from "../board/decode.js";
import { ALPHA } from "../statistics/distributions.js";
import { element, missing, nameOf, partText, signedText } from "../page/dom.js";
import { plainTable } from "../board/parts.js";
import { testedOn } from "../board/tested_on.js";

// The tests of each pair, first minus second, from either system's file.
/** @param {System[]} systems @param {Detail[]} details */
function testsOf(systems, details) {
  return systems.flatMap((first, a) =>
    systems.slice(a + 1).flatMap((second) => {
      const own = details[a]?.paired?.[second.id];
      const turned = details[systems.indexOf(second)]?.paired?.[first.id];
      if (own) return own.map((test) => ({ ...test, first, second }));
      return (turned ?? []).map(({ difference, low, high, ...test }) => ({
        ...test,
        first,
        second,
        difference: -difference,
        low: missing(high) ? null : -high,
        high: missing(low) ? null : -low,
      }));
    }),
  );
}

// The significantly better system, or null.
/** @param {Board} board @param {PairedTest & SystemPair} options1 */
function winner(board, { first, second, column, difference, p }) {
  if (!(p < ALPHA) || !difference) return null;
  const task = board.task.get(column) ?? board.task.get(column.slice(0, column.lastIndexOf("/")));
  const lower = task ? task.lower_is_better : board.tasks.every(({ lower_is_better: isLower }) => isLower);
  return difference > 0 !== lower ? first : second;
}

/** @param {Board} board @param {string} column */
function columnTitle(board, column) {
  const whole = board.task.get(column);
  if (whole) return whole.name;
  const at = column.lastIndexOf("/");
  if (at < 0) return column;
  const [task, code] = [column.slice(0, at), column.slice(at + 1)];
  return `${taskName(board, task)}, ${languageName(board, code)}`;
}

/** @param {Board} board @param {PairedTest & SystemPair} test */
const testRow = (board, test) => {
  const { first, second, column, difference, low, high, p } = test;
  const best = winner(board, test);
  return [
    [nameOf(first.fullName), " − ", nameOf(second.fullName)],
    columnTitle(board, column),
    signedText(difference),
    missing(low) ? "–" : `${signedText(low)} to ${signedText(high)}`,
    p < 0.001 ? "< 0.001" : p.toFixed(3),
    best ? [nameOf(best.fullName), " is significantly better"] : "not significantly different",
  ].map((cell) => element("td", {}, cell));
};

/** @param {Board} board @param {string} label @param {(PairedTest & SystemPair)[]} tests */
const testTable = (board, label, tests) =>
  plainTable(
    label,
    ["Pair", "Column", "Difference", "95 % interval", "p", "Verdict"],
    tests.map((test) => testRow(board, test)),
  );

// The verdicts do not depend on the selection: they are those of the leaderboard, where it is tested on examples.
/** @param {Board} board */
function correctionText(board) {
  const isMixed = board.systems.some((system) => system.has_predictions && !system.complete);
  const isOther = board.ranks[board.rule.name]?.test === "languages";
  return [
    `Verdicts hold ${testedOn("examples")}. Examples are clustered by source.`,
    "The correction covers all pairs of systems with predictions on this board, selected or not, and all tasks or cells.",
    isMixed ? "As systems cover different cells, intervals are corrected within each pair only." : "",
    isOther ? `The leaderboard answers another question: the order ${testedOn("languages")}.` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

// Paired tests, for systems with predictions on this board.
/** @param {Board} board @param {System[]} systems */
export function pairedTests(board, systems) {
  const details = systems.map((system) => (system.has_predictions ? loadedDetail(system.id) : null));
  if (details.includes(undefined)) return element("p", { class: "soft" }, "Loading paired tests…");
  const tests = testsOf(systems, details);
  const without = systems.find((system) => !system.has_predictions);
  const because = without
    ? [nameOf(without.fullName), " has scores but no predictions."]
    : "this board has none for these systems.";
  if (!tests.length) return element("p", { class: "soft" }, "No paired tests: ", because);
  /** @param {PairedTest} options */
  const isCell = ({ column }) => column.includes("/");
  const cells = tests.filter(isCell);
  const pairs = (systems.length * (systems.length - 1)) / 2;
  const tested = new Set(tests.map(({ first, second }) => `${first.id} ${second.id}`)).size;
  const significant = cells.filter((test) => winner(board, test)).length;
  return [
    element("h2", {}, "Paired tests"),
    element(
      "p",
      { class: "soft" },
      `${correctionText(board)} `,
      tested < pairs ? [`${partText(tested, pairs, "pair", ["has", "have"])} tests: `, because] : "",
    ),
    testTable(
      board,
      "Paired tests of averages",
      tests.filter((test) => !isCell(test)),
    ),
    cells.length
      ? element(
          "details",
          { class: "panel" },
          element("summary", {}, `Cell by cell: ${partText(significant, cells.length, "test")} significant`),
          testTable(board, "Paired tests of cells", cells),
        )
      : "",
  ];
}
