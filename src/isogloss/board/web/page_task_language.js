import { systemWithRegime } from "./describe.js";
import { cellDetail, cellMetricText, cellScore, cellTitle, metricsText } from "./decode.js";
import { countText, drawn, drawnToWidth, element, missing, plural, scoreText } from "./dom.js";
import { autonym, cellTip, crumbs, languageLink, nothing, pageHead, taskLink } from "./parts.js";
import { mark } from "./plots.js";
import { hashOf } from "./state.js";
import { pointsOf } from "./strip_chart.js";
import { systemTable } from "./system_table.js";
import { withTip } from "./tips.js";

const MOST_DRAWN = 40;
const FOREST_ROW = 24;
const FOREST_TOP = 24;

export function taskLanguagePage(board, task, code) {
  const language = board.language.get(code);
  const points = pointsOf(board, (system) => cellScore(task, system, code), "", task.lower_is_better);
  if (!language || !points.length) return nothing("No system has a score on this task in this language.");
  const table = systemTable(board, {
    columns: cellColumns(board, task, code),
    main: "score",
    name: `${task.id}-${code}`,
    label: `Systems on ${task.name} in ${language.name}`,
  });
  const node = element(
    "div",
    {},
    crumbs(taskLink(task), languageLink(language)),
    cellHead(task, language, points),
    cellChart(board, task, language, points.slice(0, MOST_DRAWN)),
    points.length > MOST_DRAWN
      ? element("p", { class: "soft" }, `The best ${MOST_DRAWN} are drawn; all are in the table.`)
      : null,
    element("h2", {}, "All systems"),
    table.node,
  );
  return { node, title: `${task.name} in ${language.name}`, update: table.update };
}

function cellHead(task, language, [best, ...others]) {
  const size = task.n[task.languages.indexOf(language.code)];
  return pageHead(
    [`${cellTitle(task)} in ${language.name} `, autonym(language)],
    element(
      "p",
      { class: "headline" },
      systemWithRegime(best.system),
      " is best with ",
      element("strong", {}, scoreText(best.value)),
      ` of ${plural(1 + others.length, "system")}`,
      size ? `, on ${countText(size)} test examples.` : ".",
      missing(task.human) || task.cellMetric ? "" : ` Humans, as published for the task: ${scoreText(task.human)}.`,
    ),
  );
}

function cellColumns(board, task, code) {
  const average = board.averages.get(task.id);
  const score = {
    id: "score",
    title: cellTitle(task),
    hint: [task.title, cellMetricText(task)],
    lower: task.lower_is_better,
    of: (system) => cellScore(task, system, code),
    says: (system) => cellTip(board, system, task, code).slice(1),
  };
  const mean = {
    id: "mean",
    title: "All languages",
    note: task.cellMetric ? metricsText(task) : "",
    hint: ["All languages", `The task's own figure: ${metricsText(task)}.`],
    lower: task.lower_is_better,
    of: (system) => average.value[system.at],
  };
  return average ? [score, mean] : [score];
}

// Scores are drawn at once, and again with their intervals, which come with each system's own file.
function cellChart(board, task, language, points) {
  const chart = element("div");
  for (const point of points) point.lines = cellTip(board, point.system, task, language.code);
  const draw = () => chart.replaceChildren(forest(points, `Scores on ${task.name} in ${language.name}, best first`));
  draw();
  Promise.all(points.map((point) => addInterval(point, task, language.code))).then((found) => {
    if (found.some(Boolean)) draw();
  });
  return chart;
}

// Whether there is one.
async function addInterval(point, task, code) {
  const cell = await cellDetail(point.system, task, code);
  if (missing(cell?.low)) return false;
  Object.assign(point, { low: cell.low, high: cell.high });
  return true;
}

// Systems in their order with their intervals: a forest plot.
function forest(points, description) {
  const ends = points.flatMap(({ value, low, high }) => [value, low, high]).filter((each) => !missing(each));
  const from = Math.max(0, Math.floor(Math.min(...ends) / 10) * 10);
  const to = Math.min(100, Math.ceil(Math.max(...ends) / 10) * 10);
  const height = FOREST_TOP + FOREST_ROW * points.length;
  return drawnToWidth(element("div", { class: "plot" }), (width) => {
    const left = Math.min(230, width * 0.42);
    const x = (value) => left + 12 + ((value - from) / (to - from || 1)) * (width - left - 64);
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
