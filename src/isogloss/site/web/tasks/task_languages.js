import { cellOf, cellScore, cellTitle, languageName, metricTitle } from "../board/decode.js";
import { familyBands, languageLines } from "../board/families.js";
import { cellTip } from "../board/parts.js";
import { memoized } from "../board/ranking.js";
import { SERVED_SHARE } from "../board/relative.js";
import { dotChart, dotLegend } from "../charts/dot_chart.js";
import { detailsTogether } from "./loaded_details.js";
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
  const details = detailsTogether(codes.map((code) => bestInCell(board, task, code).system).filter(Boolean));
  const bands = orderedBands(board, task, languages, order).map(({ name, languages: own }) => ({
    name,
    rows: own.map((language) => bestScoreRow(board, task, language, details)),
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

/** @param {Board} board @param {Task} task @param {Language} language @param {Map<string, Detail>} details @returns {DotRow} */
function bestScoreRow(board, task, language, details) {
  const { code, name } = language;
  const { value, system } = bestInCell(board, task, code);
  const { low = null, high = null } = cellOf(details.get(system?.id ?? ""), task, code) ?? {};
  return {
    label: name,
    href: hashOf(["task", task.id, code]),
    figure: { value, low, high },
    others: otherScores(board, task, code),
    text: scoreText(value),
    lines: [...(system ? cellTip(board, system, task, code) : [`${cellTitle(task)} in ${name}`]), ...languageLines(language)],
  };
}

/** @type {(board: Board) => Map<string, number[]>} */
const sampledOthers = memoized(() => new Map());

// The scores of the systems behind the best one, sampled evenly by rank.
/** @param {Board} board @param {Task} task @param {string} code */
function otherScores(board, task, code) {
  const key = `${task.id}/${code}`;
  const known = sampledOthers(board).get(key);
  if (known) return known;
  const { system } = bestInCell(board, task, code);
  const scores = board.systems.filter((other) => other !== system).map((other) => cellScore(task, other, code));
  const sorted = Float64Array.from(scores.filter((score) => !missing(score))).sort();
  const step = (sorted.length - 1) / (MOST_OTHERS - 1);
  const sample =
    sorted.length <= MOST_OTHERS
      ? [...sorted]
      : Array.from({ length: MOST_OTHERS }, (_, at) => sorted[Math.round(at * step)]);
  sampledOthers(board).set(key, sample);
  return sample;
}

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
