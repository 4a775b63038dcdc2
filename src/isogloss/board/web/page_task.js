import { categoryTitle, systemWithRegime } from "./describe.js";
import { directedPaint } from "./colour.js";
import { cellDetail, cellMetricText, cellScore, cellTitle, metricTitle, metricsText } from "./decode.js";
import { countText, drawn, drawnToWidth, element, link, missing, plural, scoreText } from "./dom.js";
import { heatTable, scoreKey, scoreRange } from "./heatmap.js";
import {
  autonym,
  cellTip,
  crumbs,
  facts,
  languageLink,
  nothing,
  pageHead,
  pointsOf,
  stripChart,
  systemTable,
  taskLink,
} from "./parts.js";
import { mark } from "./plots.js";
import { hashOf } from "./state.js";
import { withTip } from "./tips.js";

const MOST_ROWS = 40;
const testSize = (task, code) => task.n[task.languages.indexOf(code)] || null;

// What the task is, and who leads it.
function taskHead(task, ranked) {
  const sizes = task.n.filter(Boolean);
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
      [
        "Test examples",
        sizes.length
          ? Math.min(...sizes) === Math.max(...sizes)
            ? `${countText(sizes[0])} per language`
            : `${countText(Math.min(...sizes))} to ${countText(Math.max(...sizes))} per language`
          : null,
      ],
    ]),
  );
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
    hint: [board.language.get(each)?.name ?? each, cellMetricText(task)],
    of: (system) => cellScore(task, system, each),
    says: (system) => cellTip(board, system, task, each).slice(1),
  })),
];

export function taskPage(board, [id, code]) {
  const task = board.task.get(id);
  if (!task) return nothing("There is no such task on this board.");
  if (code !== undefined) return taskLanguagePage(board, task, code);
  const ranked = pointsOf(board, (system) => board.averages.get(id)?.value[system.at], task.name, task.lower_is_better);
  const some = ranked.length
    ? ranked
    : pointsOf(
        board,
        (system) => (task.languages.some((each) => !Number.isNaN(cellScore(task, system, each))) ? 0 : NaN),
        "",
      );
  if (!some.length) return nothing("No system has a score on this task.");
  const codes = task.languages.filter((each) =>
    board.systems.some((system) => !Number.isNaN(cellScore(task, system, each))),
  );
  const lines = codes
    .map((each) => ({
      label: board.language.get(each)?.name ?? each,
      href: hashOf(["task", id, each]),
      points: pointsOf(board, (system) => cellScore(task, system, each), task.name, task.lower_is_better),
    }))
    .sort((a, b) => (task.lower_is_better ? -1 : 1) * (b.points[0].value - a.points[0].value));
  const columns = taskColumns(board, task, codes);
  const place = element("div");
  const scored = some.filter(({ system }) => codes.some((each) => !Number.isNaN(cellScore(task, system, each))));
  const systems = scored.slice(0, MOST_ROWS).map(({ system }) => system);
  const range = scoreRange(systems.flatMap((system) => codes.map((each) => cellScore(task, system, each))));
  const node = element(
    "div",
    {},
    crumbs(link("#/", "Leaderboard"), task.name),
    taskHead(task, ranked),
    element("h2", {}, `Languages, hardest last${task.cellMetric ? `, in ${metricTitle(task.cellMetric)}` : ""}`),
    stripChart({ lines, description: `Scores of all systems on ${task.name}, by language` }),
    element("h2", {}, "Systems by language"),
    scoreKey(...range, directedPaint(task.lower_is_better, range)),
    heatTable({
      rows: systems,
      columns: codes,
      caption: `${cellTitle(task)}: ${systems.length < scored.length ? `the best ${systems.length} of ${scored.length} systems` : "systems"} by language`,
      rowHead: systemWithRegime,
      columnHead: (each) =>
        withTip(link(hashOf(["task", id, each]), each), () => [board.language.get(each)?.name ?? each]),
      value: (system, each) => cellScore(task, system, each),
      tip: (system, each) => cellTip(board, system, task, each),
      paintOf: directedPaint(task.lower_is_better, range),
    }),
    element("h2", {}, "All systems"),
    place,
  );
  return {
    node,
    title: task.name,
    update: (params) =>
      place.replaceChildren(
        systemTable(board, {
          columns,
          main: ranked.length ? "mean" : codes[0],
          params,
          name: `task-${id}`,
          label: `Systems on ${task.name}`,
        }).node,
      ),
  };
}

// Systems in their order with their intervals: a forest plot. Intervals come with each system's own file.
function forest(points, description) {
  const place = element("div", { class: "plot" });
  const height = 24;
  return drawnToWidth(place, (width) => {
    const left = Math.min(230, width * 0.42);
    const ends = points.flatMap(({ value, low, high }) => [value, low, high]).filter((each) => !missing(each));
    const [from, to] = [
      Math.max(0, Math.floor(Math.min(...ends) / 10) * 10),
      Math.min(100, Math.ceil(Math.max(...ends) / 10) * 10),
    ];
    const x = (value) => left + 12 + ((value - from) / (to - from || 1)) * (width - left - 64);
    const svg = drawn("svg", { width, height: 24 + height * points.length, role: "group", "aria-label": description });
    for (let tick = from; tick <= to; tick += 10)
      svg.append(
        drawn("line", { x1: x(tick), x2: x(tick), y1: 20, y2: 24 + height * points.length, class: "grid" }),
        drawn("text", { x: x(tick), y: 13, "text-anchor": "middle" }, String(tick)),
      );
    points.forEach(({ system, value, low, high, kind, lines }, at) => {
      const y = 24 + height * at + height / 2;
      const name = system.fullName;
      const label = name.length * 6.8 > left ? `${name.slice(0, Math.floor(left / 6.8) - 1)}…` : name;
      svg.append(
        withTip(
          drawn(
            "a",
            { href: hashOf(["system", system.id]) },
            drawn("text", { x: left, y: y + 4, "text-anchor": "end" }, label),
            missing(low) ? null : drawn("line", { x1: x(low), x2: x(high), y1: y, y2: y, class: "whisker" }),
            mark(kind, x(value), y),
            drawn("text", { x: width - 2, y: y + 4, "text-anchor": "end", class: "value" }, scoreText(value)),
          ),
          () => lines,
        ),
      );
    });
    return svg;
  });
}

function taskLanguagePage(board, task, code) {
  const language = board.language.get(code);
  const points = pointsOf(board, (system) => cellScore(task, system, code), "", task.lower_is_better);
  if (!language || !points.length) return nothing("No system has a score on this task in this language.");
  const chart = element("div");
  const shown = points.slice(0, MOST_ROWS);
  for (const point of shown) point.lines = cellTip(board, point.system, task, code);
  const draw = () => chart.replaceChildren(forest(shown, `Scores on ${task.name} in ${language.name}, best first`));
  draw();
  Promise.all(
    shown
      .filter(({ system }) => !system.reported)
      .map(async (point) => {
        const cell = await cellDetail(point.system, task, code);
        if (missing(cell?.low)) return false;
        Object.assign(point, { low: cell.low, high: cell.high });
        return true;
      }),
  ).then((found) => {
    if (found.some(Boolean)) draw();
  });
  const rest = points.length - shown.length;
  const columns = [
    {
      id: "score",
      title: cellTitle(task),
      hint: [task.title, cellMetricText(task)],
      lower: task.lower_is_better,
      of: (system) => cellScore(task, system, code),
      says: (system) => cellTip(board, system, task, code).slice(1),
    },
    ...(board.averages.get(task.id)
      ? [
          {
            id: "mean",
            title: "All languages",
            note: task.cellMetric ? metricsText(task) : "",
            hint: ["All languages", `The task's own figure: ${metricsText(task)}.`],
            lower: task.lower_is_better,
            of: (system) => board.averages.get(task.id).value[system.at],
          },
        ]
      : []),
  ];
  const place = element("div");
  const node = element(
    "div",
    {},
    crumbs(taskLink(task), languageLink(language)),
    pageHead(
      [`${cellTitle(task)} in ${language.name} `, autonym(language)],
      element(
        "p",
        { class: "headline" },
        systemWithRegime(points[0].system),
        " is best with ",
        element("strong", {}, scoreText(points[0].value)),
        ` of ${plural(points.length, "system")}`,
        testSize(task, code) ? `, on ${countText(testSize(task, code))} test examples.` : ".",
        missing(task.human) || task.cellMetric ? "" : ` Humans, as published for the task: ${scoreText(task.human)}.`,
      ),
    ),
    chart,
    rest > 0 ? element("p", { class: "soft" }, `The best ${MOST_ROWS} are drawn; all are in the table.`) : null,
    element("h2", {}, "All systems"),
    place,
  );
  return {
    node,
    title: `${task.name} in ${language.name}`,
    update: (params) =>
      place.replaceChildren(
        systemTable(board, {
          columns,
          main: "score",
          params,
          name: `${task.id}-${code}`,
          label: `Systems on ${task.name} in ${language.name}`,
        }).node,
      ),
  };
}
