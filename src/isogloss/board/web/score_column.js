import { betterShare } from "./colour.js";
import {
  categoryTitle,
  intervalText,
  lackText,
  provenanceLines,
  scoreTitle,
  shortScoreTitle,
  unparsedText,
} from "./describe.js";
import { metricTitle, metricsText } from "./decode.js";
import { element, missing, plural, scoreText } from "./dom.js";

// A column of the leaderboard with the scores overall, of a category or of a task; `best` is the best of them.
export function scoreColumn(table, column, best) {
  let [range, reach] = [
    [0, 100],
    [0, 100],
  ];
  const figure = (row) => row.figures.get(column.id);
  const bestText = scoreText(best);
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
    // Colours and strips compare the rows that are on the screen.
    prepare: (rows) => {
      range = spread(rows, column.id);
      reach = withIntervals(range, rows, column.id);
    },
    strength: (row) =>
      missing(figure(row).value) || figure(row).partial ? null : betterShare(figure(row).value, range, column.lower),
  };
}

// What the heading and files say beside the title: what a figure is of, if not of the whole suite by its own rule.
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

const averageHint = (table, column) =>
  column.kind === "overall"
    ? ["Overall", table.choice.hint]
    : [categoryTitle(column.id), `The mean over the category's tasks. ${column.lower ? "Lower" : "Higher"} is better.`];

const taskHint = ({ task, codes, metric }) => [
  task.title,
  `${metric ? metricTitle(metric) : metricsText(task)}; ${task.lower_is_better ? "lower" : "higher"} is better.`,
  codes.length < task.languages.length
    ? `Only ${codes.length} of its ${task.languages.length} languages: this is not the task's own figure.`
    : `Mean over ${plural(codes.length, "language")}.`,
];

function inBrackets(words) {
  const said = words.filter(Boolean).join(", ");
  return said ? `(${said})` : "";
}

function shownFigure(board, column, row, reach) {
  const found = row.figures.get(column.id);
  const text = found.partial ? `${scoreText(found.value)}°` : scoreText(found.value);
  if (column.kind === "overall") return missing(found.value) ? text : [text, intervalStrip(found, reach)];
  const noted = !missing(found.value) && footnoted(board).has(`${row.system.id} ${column.id}`);
  return noted ? [text, element("sup", {}, "†")] : text;
}

// A score with its interval on the scale of all that are shown.
function intervalStrip(figure, [from, to]) {
  const share = (value) => `${(5 + 90 * Math.min(1, Math.max(0, (value - from) / (to - from || 1)))).toFixed(1)}%`;
  const strip = element("i", { class: missing(figure.low) ? "strip" : "strip whiskered" });
  strip.style.setProperty("--at", share(figure.value));
  if (!missing(figure.low)) {
    strip.style.setProperty("--low", share(figure.low));
    strip.style.setProperty("--high", share(figure.high));
  }
  return strip;
}

function spread(rows, id) {
  const values = rows
    .map((row) => row.figures.get(id)?.value)
    .filter((value) => !missing(value))
    .sort((a, b) => a - b);
  // The lowest few would leave the others all alike.
  return [values[Math.floor(values.length / 20)] ?? 0, values.at(-1) ?? 100];
}

// As far as intervals reach: on a narrower scale figures that cannot be told apart would stand far from each other.
function withIntervals([from, to], rows, id) {
  const known = rows.map((row) => row.figures.get(id)).filter((figure) => figure && !missing(figure.low));
  const inside = known.filter(({ value }) => value >= from);
  return [Math.min(from, ...inside.map(({ low }) => low)), Math.max(to, ...inside.map(({ high }) => high))];
}

// Which figures have a footnote, found once.
const footnotedFigures = new WeakMap();

function footnoted(board) {
  if (!footnotedFigures.has(board))
    footnotedFigures.set(board, new Set((board.footnotes ?? []).map(({ system, task }) => `${system} ${task}`)));
  return footnotedFigures.get(board);
}

function scoreTip(table, column, row) {
  const { board } = table;
  const figure = row.figures.get(column.id);
  const title = shortScoreTitle(column);
  if (row.human)
    return [
      `Human performance · ${title}: ${scoreText(figure.value)}`,
      "As published with the dataset; often on English alone.",
    ];
  return [
    `${row.system.fullName} · ${title}: ${scoreText(figure.value)}`,
    certaintyText(board, row, column, figure),
    ...(column.kind === "overall" ? [unparsedText(row.system.unparsed)] : []),
    ...(column.kind === "task" ? taskLines(board, row.system, column.part) : []),
  ];
}

function certaintyText(board, row, column, figure) {
  if (figure.partial) return `partial: the mean of ${figure.n} of ${plural(figure.of, "language")}; has no rank`;
  if (missing(figure.value)) return lackText(board, row, column);
  return intervalText(figure) || (row.system.reported ? "no interval was reported" : "no interval");
}

function taskLines(board, system, { task, codes, metric }) {
  const languages =
    codes.length === task.languages.length
      ? plural(codes.length, "language")
      : `${codes.length} of ${plural(task.languages.length, "language")}`;
  return [
    `${metric ? metricTitle(metric) : metricsText(task)}, ${languages}`,
    ...provenanceLines(board, system, task, codes.length === 1 ? codes[0] : undefined),
    ...(board.footnotes ?? [])
      .filter((note) => note.system === system.id && (!note.task || note.task === task.id))
      .map((note) => `† ${note.text}`),
  ];
}
