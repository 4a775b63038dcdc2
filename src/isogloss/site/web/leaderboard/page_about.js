import { countText, element, link, plural } from "../page/dom.js";
import { metricsText, scoresIn } from "../board/decode.js";
import { pageHead, plainTable, taskLink } from "../board/parts.js";
import { RANKINGS } from "../board/ranking.js";

const TESTS = { examples: "Test on examples", languages: "Test over languages", "": "Without a test" };
const readings = [
  ["Cells", "A cell is one task in one language."],
  ["Intervals", "95 % intervals of scores are for new test examples. Reported scores have no interval."],
  [
    "Ranks",
    "Ranks include only systems that match the filters and have every cell of the selection. All pairs are tested together, on examples if every ranked system has predictions and the ranking is by the suite’s own average or by a task, otherwise over languages. A range of ranks, such as 1–2, holds those that the test leaves open: with 95 % certainty, the true ranks of all systems are within theirs. A bracket joins systems that are not significantly different, which does not make them equal; files have letters instead.",
  ],
  [
    "Partial results",
    "A ranking lists the systems with results for every task and language of its part: the full benchmark, a category or one task. The others have partial results: a matrix shows what they cover, and they can be shown as rows without a rank. ° marks an average over the available cells only. If a paper reports all averages but not every cell, the system is ranked by those averages, unless the ranking or a filter needs single languages. It cannot be tested over languages, so that any rank is possible: the range of all ranks is in italics. An order without any test has places instead of ranks.",
  ],
  [
    "Reported scores",
    "Copied from a paper or a table, not scored here. Inconsistencies in the source are footnoted, not corrected.",
  ],
  [
    "Contamination",
    "A badge marks systems that declare test data in their training data. They are shown unless you filter them out.",
  ],
  ["Not disclosed", "Missing information is shown as “not disclosed”, never as “no”."],
  [
    "Language families",
    "The bars on a row are language families, in the same order on every row. A bar’s height is the mean share of the best English score on the same task; orange is below 80 %. A family needs every cell of the selection.",
  ],
  [
    "Human scores",
    "As published with a dataset, mostly for English or for the whole task; the systems’ scores are averages over all languages. The distance to them includes only tasks that a system covers.",
  ],
  [
    "Links",
    "The page address contains all filters, columns, sorting, rankings and weights. Copy it to share or cite a view.",
  ],
];

/** @param {Board} board @returns {Page} */
export const aboutPage = (board) => ({ title: "About", view: () => [aboutText(board)] });

/** @param {Board} board */
function aboutText(board) {
  return element(
    "div",
    { class: "prose" },
    pageHead("About this board"),
    element(
      "p",
      {},
      `${board.title ?? board.suite}: ${plural(board.systems.length, "system")}, ${plural(board.tasks.length, "task")}, ${plural(board.languages.length, "language")}, ${plural(board.cellCount, "cell")}. Built ${(board.made ?? "").slice(0, 10)} with Isogloss ${board.isogloss}.${board.data_hash ? ` SHA-256 of the data: ${board.data_hash}.` : ""}`,
    ),
    element("h2", {}, "Rankings"),
    element(
      "dl",
      { class: "readings" },
      RANKINGS.map(({ title, hint }) => [element("dt", {}, title), element("dd", {}, hint)]),
    ),
    element("h2", {}, "How to read the board"),
    element(
      "dl",
      { class: "readings" },
      readings.map(([title, text]) => [element("dt", {}, title), element("dd", {}, text)]),
      board.precision ? [element("dt", {}, "Precision"), element("dd", {}, board.precision)] : null,
      Object.entries(TESTS).map(([name, title]) => [element("dt", {}, title), element("dd", {}, board.tests[name])]),
    ),
    element("h2", {}, "Tasks"),
    plainTable(
      "Tasks",
      ["Task", "Description", "Metric", "Languages", "Scored cells"],
      board.tasks.map((task) => [
        element("th", { scope: "row" }, taskLink(task)),
        element("td", {}, task.title.split(":")[1] ?? task.kind),
        element("td", {}, metricsText(task)),
        element("td", { class: "number" }, task.languages.length),
        element("td", { class: "number" }, countText(scoresIn(task.cells))),
      ]),
      { words: 3 },
    ),
    element("p", {}, link("#/", "Back to the leaderboard")),
  );
}
