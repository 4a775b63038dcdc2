import { countText, element, link, plural } from "./dom.js";
import { metricsText } from "./decode.js";
import { pageHead, plainTable, taskLink } from "./parts.js";
import { RANKINGS } from "./ranking.js";

const readings = [
  ["Intervals", "95 % intervals come from resampling the test examples. Figures that were only reported have none."],
  [
    "Ranks",
    "A rank counts only systems that have every cell of the chosen columns, and only those that the filters leave. The small range beside it is the rank's 95 % interval.",
  ],
  [
    "Incomplete systems",
    "They are shown with what they have and without a rank, and their missing cells are named. A partial mean is marked with °. Where a paper prints all averages but not every cell, the system is ranked by those averages, without an interval, as long as the ranking and the filters need no single languages.",
  ],
  [
    "Reported figures",
    "Copied from a paper or a table, not scored here; inconsistencies of the print are footnoted, never mended silently.",
  ],
  [
    "Contamination",
    "A system whose makers declare that it saw test data carries a badge. No filter hides it unless you ask for it.",
  ],
  ["Not disclosed", "What makers do not say is shown as such, never as “no”."],
  [
    "The address",
    "Filters, columns, order, ranking and weights are all in the address of the page: copy it to cite what you see.",
  ],
];

export function aboutPage(board) {
  const node = element(
    "div",
    { class: "prose" },
    pageHead("About this board"),
    element(
      "p",
      {},
      `${board.title ?? board.suite}: ${plural(board.systems.length, "system")}, ${plural(board.tasks.length, "task")}, ${plural(board.languages.length, "language")}, ${plural(board.cellCount, "cell")}. Made ${(board.made ?? "").slice(0, 10)} with Isogloss ${board.isogloss}.`,
    ),
    element("h2", {}, "Rankings"),
    element(
      "dl",
      { class: "readings" },
      RANKINGS.map(({ title, hint }) => [element("dt", {}, title), element("dd", {}, hint)]),
    ),
    element("h2", {}, "How to read it"),
    element(
      "dl",
      { class: "readings" },
      readings.map(([title, text]) => [element("dt", {}, title), element("dd", {}, text)]),
      board.tie_test ? [element("dt", {}, "Ties"), element("dd", {}, board.tie_test)] : null,
    ),
    element("h2", {}, "Tasks"),
    plainTable(
      "Tasks",
      ["Task", "What it is", "Metric", "Languages", "Cells scored"],
      board.tasks.map((task) => [
        element("th", { scope: "row" }, taskLink(task)),
        element("td", {}, task.title.split(":")[1] ?? task.kind),
        element("td", {}, metricsText(task)),
        element("td", { class: "number" }, task.languages.length),
        element("td", { class: "number" }, countText(task.cells.reduce((sum, score) => sum + !Number.isNaN(score), 0))),
      ]),
    ),
    element("p", {}, link("#/", "To the leaderboard")),
  );
  return { node, title: "About" };
}
