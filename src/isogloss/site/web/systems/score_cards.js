import { intervalStrip, stripAxis } from "../charts/interval.js";
import { intervalText, shortScoreTitle } from "../board/describe.js";
import { columnScale } from "../board/score_scale.js";
import { element, link, missing, scoreText } from "../page/dom.js";
import { hashOf } from "../page/state.js";
import { rankWords, rankingBy } from "../board/rank_words.js";

const AXIS_TICKS = 4;

// The columns that show what a system covers: the overall score, each category with an average, and single tasks of the others.
/** @param {ScoreColumn[]} shown @param {Standing} row */
export function coveredColumns(shown, row) {
  /** @param {ScoreColumn} column */
  const isKnown = ({ id }) => !missing(row.figures.get(id)?.value);
  const whole = new Set(shown.filter((column) => column.kind === "category" && isKnown(column)).map(({ id }) => id));
  return shown.filter((column) => isKnown(column) && !(column.kind === "task" && whole.has(column.category ?? "")));
}

/** @param {Board} board @param {Standings} table @param {Standing} row */
export function scoreCards(board, table, row) {
  const columns = coveredColumns(table.shown, row);
  if (!columns.length) return null;
  return element(
    "div",
    { class: "cards" },
    columns.map((column) => scoreCard(board, column, row)),
  );
}

/** @param {Board} board @param {ScoreColumn} column @param {Standing} row */
function scoreCard(board, column, row) {
  const figure = row.figures.get(column.id);
  const scale = columnScale(board, column.id);
  const title = shortScoreTitle(column);
  return element(
    "div",
    { class: column.kind === "overall" ? "figure main" : "figure", "data-key": `card-${column.id}` },
    element("span", {}, column.kind === "task" ? link(hashOf(["task", column.id]), title) : title),
    element("strong", {}, scoreText(figure.value), figure.partial ? "°" : ""),
    element("div", { class: "card-strip", "aria-hidden": "true" }, intervalStrip(figure, scale), stripAxis(scale, AXIS_TICKS)),
    figure.partial
      ? element("small", {}, `° ${figure.n} of ${figure.of} languages; not ranked`)
      : [
          element("small", {}, rankWords(rankingBy(board, column.id), row.system)),
          missing(figure.low) ? null : element("small", {}, intervalText(figure)),
        ],
    taskNotes(board, row.system, column.id),
  );
}

// Footnotes of a system's task.
/** @param {Board} board @param {System} system @param {string} id */
export const taskNotes = (board, system, id) =>
  (board.footnotes ?? [])
    .filter((note) => note.system === system.id && note.task === id)
    .map((note) => element("small", {}, `† ${note.text}`));
