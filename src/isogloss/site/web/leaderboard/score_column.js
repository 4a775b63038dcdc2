import { betterShare } from "../charts/colour.js";
import { intervalStrip } from "../charts/interval.js";
import {
  categoryTitle,
  intervalText,
  lackText,
  provenanceLines,
  scoreTitle,
  shortScoreTitle,
  unparsedText,
} from "../board/describe.js";
import { metricTitle, metricsText } from "../board/decode.js";
import { element, missing, plural, scoreText } from "../page/dom.js";
import { memoized } from "../board/ranking.js";

// A leaderboard column with overall, category or task scores; `best` is the best score.
/** @param {Standings} table @param {ScoreColumn} column @param {number} best @returns {TableColumn<Standing>} */
export function scoreColumn(table, column, best) {
  /** @type {Interval} */
  let range = [0, 100];
  let reach = range;
  /** @param {Standing} row */
  const figure = (row) => row.figures.get(column.id);
  const bestText = scoreText(best);
  /** @param {Standing} row */
  const isBest = (row) => !row.human && !missing(figure(row).value) && scoreText(figure(row).value) === bestText;
  return {
    ...headingTexts(table, column),
    id: column.id,
    title: column.title,
    numeric: true,
    score: true,
    lower: column.lower,
    className: `score ${column.kind}`,
    value: (row) => (missing(figure(row)?.value) ? null : figure(row).value),
    show: (row) => shownFigure(table.board, column, row, reach),
    mark: (row) => (figure(row).partial ? "partial" : isBest(row) ? "best" : null),
    tip: (row) => scoreTip(table, column, row),
    // Colours and strips compare the visible rows.
    prepare: (rows) => {
      range = spread(rows, column.id);
      reach = withIntervals(range, rows, column.id);
    },
    strength: (row) =>
      missing(figure(row).value) || figure(row).partial ? null : betterShare(figure(row).value, range, column.lower),
  };
}

// Notes in the heading and in files if the column covers only a selection or uses another ranking.
/** @param {Standings} table @param {ScoreColumn} column */
function headingTexts(table, column) {
  const { kind, part } = column;
  const ranking = kind === "overall" && table.choice.ranking !== table.board.rule.name ? table.choice.title : "";
  const metric = part && !part.whole ? part.metric.toUpperCase() : "";
  const share =
    part && part.codes.length < part.task.languages.length ? `${part.codes.length}/${part.task.languages.length}` : "";
  return {
    note: [metric, share, ranking].filter(Boolean).join(" "),
    hint: kind === "task" ? taskHint(part) : averageHint(table, column),
    fileTitle: [scoreTitle(column), inBrackets([metric, share && `${share} languages`, ranking])]
      .filter(Boolean)
      .join(" "),
    group: column.category ? categoryTitle(column.category) : "",
  };
}

/** @param {Standings} table @param {ScoreColumn} column */
const averageHint = (table, column) =>
  column.kind === "overall"
    ? ["Overall", table.choice.hint]
    : [categoryTitle(column.id), `Mean over the category's tasks. ${column.lower ? "Lower" : "Higher"} is better.`];

/** @param {CellColumn} options */
const taskHint = ({ task, codes, metric }) => [
  task.title,
  `${metric ? metricTitle(metric) : metricsText(task)}; ${task.lower_is_better ? "lower" : "higher"} is better.`,
  codes.length < task.languages.length
    ? `Mean over ${codes.length} of ${plural(task.languages.length, "language")} only.`
    : `Mean over ${plural(codes.length, "language")}.`,
];

/** @param {(string | undefined)[]} words */
function inBrackets(words) {
  const text = words.filter(Boolean).join(", ");
  return text ? `(${text})` : "";
}

/** @param {Board} board @param {ScoreColumn} column @param {Standing} row @param {Interval} reach */
function shownFigure(board, column, row, reach) {
  const figure = row.figures.get(column.id);
  const text = figure.partial ? `${scoreText(figure.value)}°` : scoreText(figure.value);
  if (column.kind === "overall") return missing(figure.value) ? text : [text, intervalStrip(figure, reach)];
  const noted = !missing(figure.value) && footnoted(board).has(`${row.system.id} ${column.id}`);
  return noted ? [text, element("sup", {}, "†")] : text;
}

/** @param {Standing[]} rows @param {string} id @returns {Interval} */
function spread(rows, id) {
  const values = rows
    .map((row) => row.figures.get(id)?.value)
    .filter((value) => !missing(value))
    .sort((a, b) => a - b);
  // The lowest scores would hide differences between the others.
  return [values[Math.floor(values.length / 20)] ?? 0, values.at(-1) ?? 100];
}

// Extend the range to the intervals: a narrower scale would exaggerate differences.
/** @param {Interval} options @param {Standing[]} rows @param {string} id @returns {Interval} */
function withIntervals([from, to], rows, id) {
  const withLow = rows.map((row) => row.figures.get(id)).filter((figure) => figure && !missing(figure.low));
  const inside = withLow.filter(({ value }) => value >= from);
  return [Math.min(from, ...inside.map(({ low }) => low)), Math.max(to, ...inside.map(({ high }) => high))];
}

const footnoted = memoized(
  (/** @type {Board} */ board) => new Set((board.footnotes ?? []).map(({ system, task }) => `${system} ${task}`)),
);

/** @param {Standings} table @param {ScoreColumn} column @param {Standing} row @returns {TipLine[]} */
function scoreTip(table, column, row) {
  const { board } = table;
  const figure = row.figures.get(column.id);
  const title = shortScoreTitle(column);
  if (row.human)
    return [
      `Human performance · ${title}: ${scoreText(figure.value)}`,
      "As published with the dataset, often for English only.",
    ];
  return [
    `${row.system.fullName} · ${title}: ${scoreText(figure.value)}`,
    certaintyText(board, row, column, figure),
    ...(column.kind === "overall" ? [unparsedText(row.system.unparsed)] : []),
    ...(column.kind === "task" ? taskLines(board, row.system, column.part) : []),
  ];
}

/** @param {Board} board @param {Standing} row @param {ScoreColumn} column @param {Figure} figure */
function certaintyText(board, row, column, figure) {
  if (figure.partial) return `partial: mean over ${figure.n} of ${plural(figure.of, "language")}; not ranked`;
  if (missing(figure.value)) return lackText(board, row, column);
  return intervalText(figure) || (row.system.reported ? "no interval was reported" : "no interval");
}

/** @param {Board} board @param {System} system @param {CellColumn} options2 */
function taskLines(board, system, { task, codes, metric }) {
  const languages =
    codes.length === task.languages.length
      ? plural(codes.length, "language")
      : `${codes.length} of ${plural(task.languages.length, "language")}`;
  return [
    `${metric ? metricTitle(metric) : metricsText(task)}, ${languages}`,
    ...provenanceLines(board, system, task, codes.length === 1 ? codes[0] : ""),
    ...(board.footnotes ?? [])
      .filter((note) => note.system === system.id && (!note.task || note.task === task.id))
      .map((note) => `† ${note.text}`),
  ];
}
