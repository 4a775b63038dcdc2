import { languageName, systemDetail, taskName } from "./decode.js";
import { element, missing, nameOf, plural, signedText } from "./dom.js";
import { plainTable } from "./parts.js";

const LEVEL_OF_TESTS = 0.05;

// Every test of two of the systems, first minus second: they come with the file of either.
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

// Which of the two a test finds better: "" if it cannot tell.
function winner(board, { first, second, column, difference, p }) {
  if (!(p < LEVEL_OF_TESTS) || !difference) return null;
  const task = board.task.get(column) ?? board.task.get(column.slice(0, column.lastIndexOf("/")));
  const lower = task ? task.lower_is_better : board.tasks.every((each) => each.lower_is_better);
  return difference > 0 !== lower ? first : second;
}

function columnTitle(board, column) {
  if (board.task.has(column)) return board.task.get(column).name;
  const at = column.lastIndexOf("/");
  if (at < 0) return column;
  const [task, code] = [column.slice(0, at), column.slice(at + 1)];
  return `${taskName(board, task)}, ${languageName(board, code)}`;
}

const testRow = (board, test) => {
  const { first, second, column, difference, low, high, p } = test;
  const best = winner(board, test);
  return [
    [nameOf(first.fullName), " − ", nameOf(second.fullName)],
    columnTitle(board, column),
    signedText(difference),
    missing(low) ? "–" : `${signedText(low)} to ${signedText(high)}`,
    p < 0.001 ? "< 0.001" : p.toFixed(3),
    best ? [nameOf(best.fullName), " is better"] : "not told apart",
  ].map((cell) => element("td", {}, cell));
};

const testTable = (board, label, tests) =>
  plainTable(
    label,
    ["Pair", "Column", "Difference", "95 % interval", "p", "Verdict"],
    tests.map((test) => testRow(board, test)),
  );

// Paired tests are on the board where both systems were scored here from their answers.
export async function pairedTests(board, systems, place) {
  const details = await Promise.all(systems.map((system) => (system.has_predictions ? systemDetail(system.id) : null)));
  const tests = testsOf(systems, details);
  const silent = systems.find((system) => !system.has_predictions);
  const because = silent
    ? ["there are no answers of ", nameOf(silent.fullName), ", only figures."]
    : "none is on this board.";
  if (!tests.length) {
    place.replaceChildren(element("p", { class: "soft" }, "No paired test: ", because));
    return;
  }
  const isCell = ({ column }) => column.includes("/");
  const cells = tests.filter(isCell);
  const pairs = (systems.length * (systems.length - 1)) / 2;
  const tested = new Set(tests.map(({ first, second }) => `${first.id} ${second.id}`)).size;
  const told = cells.filter((test) => winner(board, test)).length;
  place.replaceChildren(
    element("h2", {}, "Paired tests"),
    element(
      "p",
      { class: "soft" },
      "On the same examples, source by source; p is corrected (Holm) over the columns of a kind. ",
      tested < pairs ? [`${tested} of ${plural(pairs, "pair")} could be tested: `, because] : "",
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
          element("summary", {}, `Cell by cell: ${told} of ${plural(cells.length, "test")} tell the two apart`),
          testTable(board, "Paired tests of cells", cells),
        )
      : "",
  );
}
