import { categoryTitle, systemWithRegime } from "./describe.js";
import { directedPaint } from "./colour.js";
import { cellMetricText, cellScore, cellTitle, hasScores, languageName, metricsText, metricTitle } from "./decode.js";
import { countText, element, link, missing, plural, scoreText } from "./dom.js";
import { heatTable, scoreKey, scoreRange } from "./heatmap.js";
import { taskLanguagePage } from "./page_task_language.js";
import { cellTip, crumbs, facts, nothing, pageHead } from "./parts.js";
import { hashOf } from "./state.js";
import { pointsOf, stripChart } from "./strip_chart.js";
import { systemTable } from "./system_table.js";
import { withTip } from "./tips.js";

const MOST_ROWS = 40;

export function taskPage(board, [id, code]) {
  const task = board.task.get(id);
  if (!task) return nothing("There is no such task on this board.");
  if (code !== undefined) return taskLanguagePage(board, task, code);
  const ranked = pointsOf(board, (system) => board.averages.get(id)?.value[system.at], task.name, task.lower_is_better);
  const codes = task.languages.filter((each) => hasScores(board, task, each));
  if (!ranked.length && !codes.length) return nothing("No system has a score on this task.");
  const table = systemTable(board, {
    columns: taskColumns(board, task, codes),
    main: ranked.length ? "mean" : codes[0],
    name: `task-${id}`,
    label: `Systems on ${task.name}`,
  });
  const node = element(
    "div",
    {},
    crumbs(link("#/", "Leaderboard"), task.name),
    taskHead(task, ranked),
    taskChart(board, task, codes),
    taskHeatMap(board, task, codes, ranked.length ? ranked.map(({ system }) => system) : board.systems),
    element("h2", {}, "All systems"),
    table.node,
  );
  return { node, title: task.name, update: table.update };
}

// What the task is, and who leads it.
function taskHead(task, ranked) {
  return pageHead(
    task.title,
    ranked[0]
      ? element(
          "p",
          { class: "headline" },
          systemWithRegime(ranked[0].system),
          " leads with ",
          element("strong", {}, scoreText(ranked[0].value)),
          `, the best of ${plural(ranked.length, "system")} with an average over all ${plural(task.languages.length, "language")}.`,
          missing(task.human) ? "" : ` Humans: ${scoreText(task.human)}.`,
        )
      : null,
    facts([
      ["Category", categoryTitle(task.category)],
      ["Metric", `${metricsText(task)}; ${task.lower_is_better ? "lower" : "higher"} is better`],
      ["Languages", countText(task.languages.length)],
      ["Test examples", sizesText(task.n.filter(Boolean))],
    ]),
  );
}

function sizesText(sizes) {
  if (!sizes.length) return null;
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  return `${least === most ? countText(least) : `${countText(least)} to ${countText(most)}`} per language`;
}

const taskColumns = (board, task, codes) => [
  {
    id: "mean",
    title: "Mean",
    note: task.cellMetric ? metricsText(task) : "",
    hint: ["Mean", `${metricsText(task)}, over all ${task.languages.length} languages.`],
    lower: task.lower_is_better,
    of: (system) => board.averages.get(task.id)?.value[system.at],
  },
  ...codes.map((each) => ({
    id: each,
    title: each,
    note: task.cellMetric && metricTitle(task.cellMetric),
    lower: task.lower_is_better,
    hint: [languageName(board, each), cellMetricText(task)],
    of: (system) => cellScore(task, system, each),
    says: (system) => cellTip(board, system, task, each).slice(1),
  })),
];

function taskChart(board, task, codes) {
  const lines = codes
    .map((each) => ({
      label: languageName(board, each),
      href: hashOf(["task", task.id, each]),
      points: pointsOf(board, (system) => cellScore(task, system, each), task.name, task.lower_is_better),
    }))
    .sort((a, b) => (task.lower_is_better ? -1 : 1) * (b.points[0].value - a.points[0].value));
  return [
    element("h2", {}, `Languages, hardest last${task.cellMetric ? `, in ${metricTitle(task.cellMetric)}` : ""}`),
    stripChart({ lines, description: `Scores of all systems on ${task.name}, by language` }),
  ];
}

// Systems by language, in the order that is given, as far as they have any.
function taskHeatMap(board, task, codes, ordered) {
  const scored = ordered.filter((system) => codes.some((each) => !Number.isNaN(cellScore(task, system, each))));
  const systems = scored.slice(0, MOST_ROWS);
  const range = scoreRange(systems.flatMap((system) => codes.map((each) => cellScore(task, system, each))));
  const paintOf = directedPaint(task.lower_is_better, range);
  return [
    element("h2", {}, "Systems by language"),
    scoreKey(...range, paintOf),
    heatTable({
      rows: systems,
      columns: codes,
      caption: `${cellTitle(task)}: ${systems.length < scored.length ? `the best ${systems.length} of ${scored.length} systems` : "systems"} by language`,
      rowHead: systemWithRegime,
      columnHead: (each) => withTip(link(hashOf(["task", task.id, each]), each), () => [languageName(board, each)]),
      value: (system, each) => cellScore(task, system, each),
      tip: (system, each) => cellTip(board, system, task, each),
      paintOf,
    }),
  ];
}
