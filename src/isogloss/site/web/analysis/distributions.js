import { unevenText } from "./unevenness.js";
import { boxPlot, hasLongTail } from "../charts/box_plot.js";
import { scorePaint } from "../charts/colour.js";
import { heatTable, scoreKey } from "../charts/heatmap.js";
import { languageName, taskName } from "../board/decode.js";
import { languageLink } from "../board/parts.js";
import { digitsText, element, plural, scoreText } from "../page/dom.js";
import { exportButtons, fileColumn } from "../page/export.js";

const MOST_SHARES = 40;
/** @param {number} share */
const sharePaint = (share) => scorePaint(100 - share);

// The distribution of an attribute in every language, without any system.
/** @param {Board} board @param {Distribution[]} shown @param {string} title @returns {Child[]} */
export function distributionPanel(board, shown, title) {
  if (!shown.length) return [];
  const named = shown.map((item) => ({ ...item, name: languageName(board, item.language) }));
  return [
    element("h2", {}, `${title}, ${plural(shown.length, "language")}`),
    element("p", { class: "headline" }, unevenText(title, named)),
    shown[0].discrete ? valueTable(board, shown) : boxChart(board, shown),
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
function valueTable(board, shown) {
  const values = [...new Set(shown.flatMap(({ shares }) => Object.keys(shares)))].slice(0, MOST_SHARES);
  return [
    scoreKey(0, 100, sharePaint),
    heatTable({
      rows: shown,
      columns: values,
      caption: "Percentage of examples with each value",
      rowHead: ({ language: code }) => {
        const language = board.language.get(code);
        return language ? languageLink(language) : code;
      },
      columnHead: (value) => value,
      value: ({ shares }, value) => 100 * (shares[value] ?? 0),
      paintOf: sharePaint,
      text: (share) => String(Math.round(share)),
      tip: ({ language, n }, value, share) => [
        `${languageName(board, language)}, ${value}: ${scoreText(share)} %`,
        `of ${plural(n, "example")}`,
      ],
    }),
  ];
}

/** @param {Board} board @param {Distribution[]} shown */
function biasFiles(board, shown) {
  const columns = [
    fileColumn("task", "Task", (row) => taskName(board, row.task)),
    fileColumn("language", "Language", (row) => languageName(board, row.language)),
    fileColumn("attribute", "Attribute", (row) => row.attribute),
    fileColumn("n", "Examples", (row) => row.n, true),
    fileColumn("mean", "Mean", (row) => row.mean ?? null, true),
    ...["Minimum", "25 %", "Median", "75 %", "Maximum"].map((title, at) =>
      fileColumn(`q${at}`, title, (row) => row.quartiles?.[at] ?? null, true),
    ),
    fileColumn("shares", "Shares", (row) =>
      Object.entries(row.shares ?? {})
        .map(([name, share]) => `${name}: ${digitsText(share)}`)
        .join("; "),
    ),
  ];
  return exportButtons("dataset-bias", board, () => ({ columns, rows: shown }));
}
