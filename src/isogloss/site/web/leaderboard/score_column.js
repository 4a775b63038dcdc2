import { betterShare } from "../charts/colour.js";
import { intervalStrip, stripAxis } from "../charts/interval.js";
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
import { scaleIn } from "../board/score_scale.js";

// With more columns, only the overall score has room for strips of intervals; a column alone always has.
const MOST_WITH_STRIPS = 8;

// Whether a column draws its scores with their intervals.
/** @param {Pick<Standings, "shown">} table @param {ScoreColumn} column */
export const isStripped = ({ shown }, { kind }) =>
  kind === "overall" || shown.length === 1 || (kind === "category" && shown.length <= MOST_WITH_STRIPS);

// A leaderboard column with overall, category or task scores; `best` is the best score. Colours and strips have the column's
// own scale, whatever is on screen.
/** @param {Standings} table @param {ScoreColumn} column @param {number} best @returns {TableColumn<Standing>} */
export function scoreColumn(table, column, best) {
  const scale = scaleIn(table, column);
  const isRanked = column.id === table.by.id;
  const hasStrips = isStripped(table, column);
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
    className: `score ${column.kind}${hasStrips ? " stripped" : ""}`,
    axis: hasStrips ? stripAxis(scale) : null,
    value: (row) => (missing(figure(row)?.value) ? null : figure(row).value),
    // The rows are in the order of the ranks, which the build takes from exact scores.
    place: isRanked ? (row) => row.rank : null,
    interval: figure,
    show: (row) => shownFigure(table.board, column, row, hasStrips ? scale : null),
    mark: (row) => markOf(column, row, isBest(row)),
    tip: (row) => scoreTip(table, column, row),
    strength: (row) =>
      missing(figure(row).value) || figure(row).partial ? null : betterShare(figure(row).value, scale, column.lower),
  };
}

// Nothing in a task, or in all tasks of a category, was tested.
/** @param {ScoreColumn} column @param {Standing} row */
function isUntested({ id, kind, parts = [] }, { figures, human }) {
  if (human || kind === "overall" || !missing(figures.get(id).value)) return false;
  return parts.every(({ task }) => missing(figures.get(task.id).value));
}

/** @param {ScoreColumn} column @param {Standing} row @param {boolean} isBest */
function markOf(column, row, isBest) {
  if (row.figures.get(column.id).partial) return "partial";
  if (isBest) return "best";
  return isUntested(column, row) ? "untested" : null;
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

/** @param {Board} board @param {ScoreColumn} column @param {Standing} row @param {Interval | null} scale */
function shownFigure(board, column, row, scale) {
  const figure = row.figures.get(column.id);
  if (missing(figure.value))
    return isUntested(column, row)
      ? element("span", { class: "sr" }, "no score")
      : element("span", { class: "soft" }, "–");
  const text = figure.partial ? `${scoreText(figure.value)}°` : scoreText(figure.value);
  const noted = footnoted(board).has(`${row.system.id} ${column.id}`);
  if (!noted && !scale) return text;
  const isDrawn = !figure.partial && !row.human;
  const strip = scale && (isDrawn ? intervalStrip(figure, scale) : element("i", { class: "strip blank" }));
  return [text, noted ? element("sup", {}, "†") : null, strip];
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
