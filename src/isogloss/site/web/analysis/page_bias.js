import { boxPlot, hasLongTail } from "../charts/box_plot.js";
import { scorePaint } from "../charts/colour.js";
import { chosenOf, chosenSelect } from "../page/controls.js";
import { languageName, scriptFile, taskTitle } from "../board/decode.js";
import { element, plural, scoreText } from "../page/dom.js";
import { exportButtons, fileColumn } from "../page/export.js";
import { heatTable } from "../charts/heatmap.js";
import { languageLink } from "../board/parts.js";

/** @param {number} value */
const digits = (value) => String(Number(value.toPrecision(3)));

// The distribution of test examples by language, without any system.
/** @param {Board} board @param {URLSearchParams} params @returns {Promise<Element[]>} */
export async function biasPanel(board, params) {
  await scriptFile("bias.js");
  const distributions = globalThis.isoglossBias?.distributions ?? [];
  if (!distributions.length) return [element("p", { class: "headline" }, "The file bias.js is missing.")];
  const task = chosenOf(params, "task", distributions);
  const inTask = distributions.filter((item) => item.task === task.chosen);
  const attribute = chosenOf(params, "attribute", inTask);
  const shown = inTask.filter((item) => item.attribute === attribute.chosen);
  const titles = new Map(inTask.map((item) => [item.attribute, item.title]));
  return [
    element(
      "div",
      { class: "controls roomy" },
      chosenSelect("task", "Task", task, (id) => taskTitle(board, id)),
      chosenSelect("attribute", "Attribute", attribute, (name) => `${name}: ${titles.get(name)}`),
    ),
    element("h2", {}, `${titles.get(attribute.chosen)}, ${plural(shown.length, "language")}`),
    shown[0].discrete ? shareTable(board, shown) : boxChart(board, shown),
    biasFiles(board, shown),
  ];
}

// One row per language, by descending median.
/** @param {Board} board @param {Distribution[]} shown */
function boxChart(board, shown) {
  const boxes = [...shown]
    .sort((a, b) => b.quartiles[2] - a.quartiles[2])
    .map(({ language, n, mean, quartiles }) => ({ name: languageName(board, language), n, mean, quartiles }));
  const words = "Boxes show the middle half of the examples, strokes the median, dots the mean, lines the whole range.";
  const scale = hasLongTail(boxes) ? `${words} The scale is square-root.` : words;
  return element("div", {}, boxPlot(boxes, "Quartiles by language"), element("p", { class: "soft" }, scale));
}

/** @param {Board} board @param {Distribution[]} shown */
function shareTable(board, shown) {
  const values = [...new Set(shown.flatMap(({ shares }) => Object.keys(shares)))].slice(0, 40);
  return heatTable({
    rows: shown,
    columns: values,
    caption: "Percentage of examples with item value",
    rowHead: ({ language: code }) => {
      const language = board.language.get(code);
      return language ? languageLink(language) : code;
    },
    columnHead: (value) => value,
    value: ({ shares }, value) => 100 * (shares[value] ?? 0),
    paintOf: (share) => scorePaint(100 - share),
    text: (share) => String(Math.round(share)),
    tip: ({ language, n }, value, share) => [
      `${languageName(board, language)}, ${value}: ${scoreText(share)} %`,
      `of ${plural(n, "example")}`,
    ],
  });
}

/** @param {Board} board @param {Distribution[]} shown */
function biasFiles(board, shown) {
  const columns = [
    fileColumn("task", "Task", (row) => row.task),
    fileColumn("language", "Language", (row) => row.language),
    fileColumn("attribute", "Attribute", (row) => row.attribute),
    fileColumn("n", "Examples", (row) => row.n, true),
    fileColumn("mean", "Mean", (row) => row.mean ?? null, true),
    ...["Minimum", "25 %", "Median", "75 %", "Maximum"].map((title, at) =>
      fileColumn(`q${at}`, title, (row) => row.quartiles?.[at] ?? null, true),
    ),
    fileColumn("shares", "Shares", (row) =>
      Object.entries(row.shares ?? {})
        .map(([name, share]) => `${name}: ${digits(share)}`)
        .join("; "),
    ),
  ];
  return exportButtons("dataset-bias", board, () => ({ columns, rows: shown }));
}
