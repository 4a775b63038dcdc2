import { systemWithRegime } from "../board/describe.js";
import { cellMetricText, cellOf, cellScore, cellTitle, loadedDetail, metricsText } from "../board/decode.js";
import { drawn, drawnToWidth, element, missing, plural, scoreText } from "../page/dom.js";
import { autonym, cellTip, crumbs, languageLink, nothing, pageHead, taskLink } from "../board/parts.js";
import { mark } from "../charts/plots.js";
import { hashOf } from "../page/state.js";
import { pointsOf } from "../charts/strip_chart.js";
import { systemTable } from "../leaderboard/system_table.js";
import { withTip } from "../page/tips.js";

const MOST_DRAWN = 40;
const FOREST_ROW = 24;
const FOREST_TOP = 24;

/** @param {Board} board @param {Task} task @param {string} code @returns {Page} */
export function taskLanguagePage(board, task, code) {
  const language = board.language.get(code);
  const points = pointsOf(board, (system) => cellScore(task, system, code), "", task.lower_is_better);
  if (!language || !points.length) return nothing("No system has a score on this task in this language.");
  const table = {
    columns: cellColumns(board, task, code),
    main: "score",
    name: `${task.id}-${code}`,
    label: `Systems on ${task.name} in ${language.name}`,
    task: task.id,
  };
  /** @param {URLSearchParams} params */
  const view = (params) => [
    crumbs(taskLink(task), languageLink(language)),
    cellHead(task, language, points),
    cellChart(board, task, language, points.slice(0, MOST_DRAWN)),
    points.length > MOST_DRAWN
      ? element("p", { class: "soft" }, `Showing the best ${MOST_DRAWN}; the table has all ${points.length}.`)
      : null,
    element("h2", {}, "All systems"),
    systemTable(board, params, table),
  ];
  return { title: `${task.name} in ${language.name}`, view };
}

/** @param {Task} task @param {Language} language @param {Point[]} options2 */
function cellHead(task, language, [best, ...others]) {
  const size = task.n[task.languages.indexOf(language.code)];
  return pageHead(
    [`${cellTitle(task)} in ${language.name} `, autonym(language)],
    element(
      "p",
      { class: "headline" },
      systemWithRegime(best.system),
      others.length ? " has the best score, " : " scores ",
      element("strong", {}, scoreText(best.value)),
      `, out of ${plural(1 + others.length, "system")}`,
      size ? `, on ${plural(size, "test example")}.` : ".",
      missing(task.human) || task.cellMetric ? "" : ` Human performance on the task: ${scoreText(task.human)}.`,
    ),
  );
}

/** @param {Board} board @param {Task} task @param {string} code @returns {SystemColumn[]} */
function cellColumns(board, task, code) {
  const average = board.averages.get(task.id);
  /** @type {SystemColumn} */
  const score = {
    id: "score",
    title: cellTitle(task),
    hint: [task.title, cellMetricText(task)],
    lower: task.lower_is_better,
    of: (system) => cellScore(task, system, code),
    says: (system) => cellTip(board, system, task, code).slice(1),
  };
  /** @type {SystemColumn} */
  const mean = {
    id: "mean",
    title: "All languages",
    note: task.cellMetric ? metricsText(task) : "",
    hint: ["All languages", `The task average: ${metricsText(task)}.`],
    lower: task.lower_is_better,
    of: (system) => average?.value[system.at],
  };
  return average ? [score, mean] : [score];
}

// Scores with the intervals from each system's file, once it is loaded.
/** @param {Board} board @param {Task} task @param {Language} language @param {Point[]} points */
function cellChart(board, task, language, points) {
  const located = points.map((point) => {
    const detail = point.system.reported ? null : loadedDetail(point.system.id);
    const { low = null, high = null } = cellOf(detail, task, language.code) ?? {};
    return { ...point, low, high, lines: cellTip(board, point.system, task, language.code) };
  });
  return forest(located, `Scores on ${task.name} in ${language.name}, best first`);
}

// A forest plot: systems in order with their intervals.
/** @param {Point[]} points @param {string} description */
function forest(points, description) {
  const ends = points.flatMap(({ value, low, high }) => [value, low, high]).filter((value) => !missing(value));
  const from = Math.max(0, Math.floor(Math.min(...ends) / 10) * 10);
  const to = Math.min(100, Math.ceil(Math.max(...ends) / 10) * 10);
  const height = FOREST_TOP + FOREST_ROW * points.length;
  return drawnToWidth(element("div", { class: "plot" }), (width) => {
    const left = Math.min(230, width * 0.42);
    /** @param {number} value */
    const x = (/** @type {Maybe<number>} */ value) =>
      left + 12 + (((value ?? NaN) - from) / (to - from || 1)) * (width - left - 64);
    const svg = drawn("svg", { width, height, role: "group", "aria-label": description });
    for (let tick = from; tick <= to; tick += 10)
      svg.append(
        drawn("line", { x1: x(tick), x2: x(tick), y1: 20, y2: height, class: "grid" }),
        drawn("text", { x: x(tick), y: 13, "text-anchor": "middle" }, String(tick)),
      );
    points.forEach((point, at) => {
      const y = FOREST_TOP + FOREST_ROW * (at + 0.5);
      svg.append(withTip(forestRow(point, y, { left, x, width }), () => point.lines));
    });
    return svg;
  });
}

/**
 * @param {Point} options
 * @param {number} y
 * @param {{ left: number, x: (value: Maybe<number>) => number, width: number }} options2
 */
function forestRow({ system, value, low, high, kind }, y, { left, x, width }) {
  const name = system.fullName;
  const label = name.length * 6.8 > left ? `${name.slice(0, Math.floor(left / 6.8) - 1)}…` : name;
  return drawn(
    "a",
    { href: hashOf(["system", system.id]) },
    drawn("text", { x: left, y: y + 4, "text-anchor": "end" }, label),
    missing(low) ? null : drawn("line", { x1: x(low), x2: x(high), y1: y, y2: y, class: "whisker" }),
    mark(kind, x(value), y),
    drawn("text", { x: width - 2, y: y + 4, "text-anchor": "end", class: "value" }, scoreText(value)),
  );
}
