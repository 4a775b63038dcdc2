import { scorePaint } from "./colour.js";
import { chosenOf, chosenSelect } from "./controls.js";
import { languageName, scriptFile, taskTitle } from "./decode.js";
import { countText, drawn, drawnToWidth, element, plural, scoreText } from "./dom.js";
import { exportButtons } from "./export.js";
import { heatTable } from "./heatmap.js";
import { languageLink } from "./parts.js";
import { niceTicks } from "./plots.js";
import { withTip } from "./tips.js";

const BOX_ROW = 26;
const BOXES_TOP = 26;
const digits = (value) => String(Number(value.toPrecision(3)));

// What the examples of a test are like, by language: known of the data alone, whatever systems answer.
export async function biasPanel(board, params) {
  await scriptFile("bias.js");
  const found = globalThis.isoglossBias?.distributions ?? [];
  if (!found.length) return [element("p", { class: "headline" }, "The file bias.js is not there.")];
  const task = chosenOf(params, "task", found);
  const ofTask = found.filter((each) => each.task === task.chosen);
  const attribute = chosenOf(params, "attribute", ofTask);
  const shown = ofTask.filter((each) => each.attribute === attribute.chosen);
  const titles = new Map(ofTask.map((each) => [each.attribute, each.title]));
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

// Minimum to maximum as a line, the middle half as a box, the median as a stroke.
function boxChart(board, shown) {
  const top = Math.max(...shown.map(({ quartiles }) => quartiles[3] * 1.6 || quartiles[4]));
  const bottom = Math.min(0, ...shown.map(({ quartiles }) => quartiles[0]));
  const sorted = [...shown].sort((a, b) => b.quartiles[2] - a.quartiles[2]);
  const height = BOXES_TOP + BOX_ROW * sorted.length;
  const place = drawnToWidth(element("div", { class: "plot" }), (width) => {
    const left = Math.min(150, width * 0.34);
    const x = (value) => left + 10 + Math.min(1, (value - bottom) / (top - bottom || 1)) * (width - left - 24);
    return drawn(
      "svg",
      { width, height, role: "group", "aria-label": "Quartiles by language" },
      niceTicks(bottom, top, Math.max(3, width / 120)).map((tick) => [
        drawn("line", { x1: x(tick), x2: x(tick), y1: 18, y2: height, class: "grid" }),
        drawn("text", { x: x(tick), y: 13, "text-anchor": "middle" }, digits(tick)),
      ]),
      sorted.map((each, at) => languageBox(board, each, BOXES_TOP + BOX_ROW * (at + 0.5), left, x)),
    );
  });
  return element(
    "div",
    {},
    place,
    element(
      "p",
      { class: "soft" },
      "The box holds the middle half of the examples, the stroke is the median; lines that go on at the right edge are cut.",
    ),
  );
}

function languageBox(board, { language, quartiles: [least, low, middle, high, most], mean, n }, y, left, x) {
  const name = languageName(board, language);
  const box = drawn(
    "g",
    { class: "box-plot", tabindex: "0", role: "img", "aria-label": `${name}: median ${digits(middle)}` },
    drawn("text", { x: left, y: y + 4, "text-anchor": "end" }, name),
    drawn("line", { x1: x(least), x2: x(most), y1: y, y2: y, class: "whisker" }),
    drawn("rect", { x: x(low), width: Math.max(1, x(high) - x(low)), y: y - 7, height: 14 }),
    drawn("line", { x1: x(middle), x2: x(middle), y1: y - 7, y2: y + 7, class: "median" }),
  );
  return withTip(box, () => [
    `${name}: median ${digits(middle)}`,
    `half of the examples from ${digits(low)} to ${digits(high)}; all from ${digits(least)} to ${digits(most)}`,
    `mean ${digits(mean)}; ${plural(n, "example")}`,
  ]);
}

function shareTable(board, shown) {
  const values = [...new Set(shown.flatMap(({ shares }) => Object.keys(shares)))].slice(0, 40);
  return heatTable({
    rows: shown,
    columns: values,
    caption: "Share of examples with each value, in per cent",
    rowHead: ({ language }) => (board.language.get(language) ? languageLink(board.language.get(language)) : language),
    columnHead: (value) => value,
    value: ({ shares }, value) => 100 * (shares[value] ?? 0),
    paintOf: (share) => scorePaint(100 - share),
    text: (share) => String(Math.round(share)),
    tip: ({ language, n }, value, share) => [
      `${languageName(board, language)}, ${value}: ${scoreText(share)} %`,
      `of ${countText(n)} examples`,
    ],
  });
}

function biasFiles(board, shown) {
  const of = (id, title, value, numeric = true) => ({ id, title, value, numeric });
  const columns = [
    of("task", "Task", (row) => row.task, false),
    of("language", "Language", (row) => row.language, false),
    of("attribute", "Attribute", (row) => row.attribute, false),
    of("n", "Examples", (row) => row.n),
    of("mean", "Mean", (row) => row.mean ?? null),
    ...["Minimum", "25 %", "Median", "75 %", "Maximum"].map((title, at) =>
      of(`q${at}`, title, (row) => row.quartiles?.[at] ?? null),
    ),
    of(
      "shares",
      "Shares",
      (row) =>
        Object.entries(row.shares ?? {})
          .map(([name, share]) => `${name}: ${digits(share)}`)
          .join("; "),
      false,
    ),
  ];
  return exportButtons("dataset-bias", board, () => ({ columns, rows: shown }));
}
