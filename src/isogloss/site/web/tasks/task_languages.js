import { cellOf, cellScore, cellTitle, languageName, loadedDetail, metricTitle } from "../board/decode.js";
import { familyBands, languageLines } from "../board/families.js";
import { cellTip } from "../board/parts.js";
import { SERVED_SHARE } from "../board/relative.js";
import { dotChart, dotLegend } from "../charts/dot_chart.js";
import { selectControl } from "../page/controls.js";
import { element, missing, scoreText } from "../page/dom.js";
import { folded } from "../page/fold.js";
import { hashOf } from "../page/state.js";
import { bestInCell, englishLine, englishReference, taskAxis } from "../board/best_cells.js";

// Most of the other systems per language, sampled evenly by score.
const MOST_OTHERS = 30;
const TASK_ORDERS = [
  ["", "by family"],
  ["score", "by best score"],
];

// The best score in each language with the others behind it, beside English and human performance.
/** @param {Board} board @param {Task} task @param {string[]} codes @param {URLSearchParams} params */
export function languagesSection(board, task, codes, params) {
  if (!codes.length) return null;
  const order = params.get("order") === "score" ? "score" : "";
  const languages = codes.map((code) => board.language.get(code)).filter(Boolean);
  const lines = comparedWith(board, task);
  const bands = orderedBands(board, task, languages, order).map(({ name, languages: own }) => ({
    name,
    rows: own.map((language) => bestScoreRow(board, task, language)),
  }));
  const hasIntervals = bands.some(({ rows }) => rows.some(({ figure }) => !missing(figure?.low)));
  return element(
    "section",
    { id: "languages" },
    element("h2", {}, `Best score by language${task.cellMetric ? ` (${metricTitle(task.cellMetric)})` : ""}`),
    folded(
      "Order of languages",
      Number(order !== ""),
      element("div", { class: "controls roomy" }, selectControl("order", "Order of languages", TASK_ORDERS, order, "")),
    ),
    dotChart({
      bands,
      scale: taskAxis(board, task),
      lines,
      upright: true,
      description: `Best scores on ${task.name} by language`,
    }),
    dotLegend({
      dot: hasIntervals ? "best score, with its 95 % interval where known" : "best score",
      hasIntervals,
      others: "other systems",
    }),
    task.human !== null && task.cellMetric
      ? element("p", { class: "notes" }, "Human performance is published in other metrics, so that it has no line here.")
      : null,
  );
}

/** @param {Board} board @param {Task} task @param {Language[]} languages @param {string} order @returns {FamilyBand[]} */
function orderedBands(board, task, languages, order) {
  if (!order) return familyBands(languages);
  const sign = task.lower_is_better ? 1 : -1;
  const best = (/** @type {Language} */ { code }) => bestInCell(board, task, code).value;
  return [{ name: "", languages: [...languages].sort((a, b) => sign * (best(a) - best(b))) }];
}

/** @param {Board} board @param {Task} task @param {Language} language @returns {DotRow} */
function bestScoreRow(board, task, language) {
  const { code, name } = language;
  const { value, system } = bestInCell(board, task, code);
  const detail = system && !system.reported ? loadedDetail(system.id) : null;
  const { low = null, high = null } = cellOf(detail, task, code) ?? {};
  return {
    label: name,
    href: hashOf(["task", task.id, code]),
    figure: { value, low, high },
    others: sampledScores(
      board.systems
        .filter((other) => other !== system)
        .map((other) => cellScore(task, other, code))
        .filter((score) => !missing(score))
        .sort((a, b) => a - b),
    ),
    text: scoreText(value),
    lines: [...(system ? cellTip(board, system, task, code) : [`${cellTitle(task)} in ${name}`]), ...languageLines(language)],
  };
}

/** @param {number[]} sorted */
const sampledScores = (sorted) =>
  sorted.length <= MOST_OTHERS
    ? sorted
    : Array.from(
        { length: MOST_OTHERS },
        (_, at) => sorted[Math.round((at * (sorted.length - 1)) / (MOST_OTHERS - 1))],
      );

// The best score in English, the share of it that serves a language, and people where they have the same metric.
/** @param {Board} board @param {Task} task @returns {DotLine[]} */
function comparedWith(board, task) {
  const { code, value } = englishReference(board, task);
  const served = task.lower_is_better ? 100 - SERVED_SHARE * (100 - value) : SERVED_SHARE * value;
  const share = { value: served, label: `${100 * SERVED_SHARE} % of ${languageName(board, code)}` };
  return [
    ...englishLine(board, task),
    ...(missing(value) ? [] : [share]),
    ...(missing(task.human) || task.cellMetric ? [] : [{ value: task.human, label: `people ${scoreText(task.human)}` }]),
  ];
}
