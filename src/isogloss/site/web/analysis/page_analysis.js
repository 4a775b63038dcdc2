import { analysedCells, builtCharts } from "./analyses.js";
import { biasPanels } from "./bias_histograms.js";
import { cellStatistics } from "./cell_examples.js";
import { chosenOf, chosenSelect } from "../page/controls.js";
import { languageName, systemDetail, taskTitle } from "../board/decode.js";
import { element, link, nameOf, plural } from "../page/dom.js";
import { exampleSection } from "./example_list.js";
import { exportButtons, fileColumn } from "../page/export.js";
import { builtFigure, liveFigure } from "./bucket_figure.js";
import { crumbs, nothing, pageHead } from "../board/parts.js";
import { hashOf } from "../page/state.js";

/** @type {Record<string, string>} */
const MODES = { bias: "Dataset bias", single: "Single analysis", pairwise: "Pairwise analysis" };
/** @type {Record<string, string>} */
const HINTS = {
  bias: "The distribution of test examples over buckets, by language. A test set with few long contexts says little about long contexts.",
  single:
    "The score in each bucket of examples with its 95 % interval. Colours mark the best and worst observed scores, tied ones alike; only sentences are tested. Buckets with too few examples have no interval and no mark.",
  pairwise:
    "The difference between two systems in each bucket with its 95 % interval. Buckets with too few examples have no interval.",
};

/** @param {Board} board @param {string[]} options1 @returns {Page} */
export function analysisPage(board, [mode]) {
  if (!MODES[mode]) return nothing("This analysis does not exist.");
  const head = () => [
    crumbs(link("#/", "Leaderboard"), MODES[mode]),
    pageHead(MODES[mode]),
    element("p", { class: "soft" }, HINTS[mode]),
  ];
  /** @param {URLSearchParams} params */
  const view = async (params) => {
    const nodes = mode === "bias" ? await biasPanels(board, params) : await panels(board, mode, params);
    return [...head(), ...nodes];
  };
  return { title: MODES[mode], view };
}

// The reason why there is nothing to show, or "".
/** @param {Board} board @param {string} mode @param {System[]} systems @param {any[]} cells @param {Chart[]} charts */
function obstacleText(board, mode, systems, cells, charts) {
  if (mode === "pairwise" && systems.length < 2) return "Select two systems on the leaderboard.";
  if (!systems.length) return "Select a system on the leaderboard.";
  if (cells.length || charts.length) return "";
  const without = systems.find((system) => !system.has_predictions);
  if (without) return `${without.fullName} has no analyses: they need its predictions, and this board has only scores.`;
  const names = systems.map(({ fullName }) => fullName).join(" and ");
  return `No analyses of ${names} on this board${board.no_examples ? `: ${board.no_examples}` : " use public labels"}.`;
}

/** @param {Board} board @param {string} mode @param {URLSearchParams} params @returns {Promise<Child[]>} */
async function panels(board, mode, params) {
  const systems = params
    .getAll("system")
    .map((id) => board.system.get(id))
    .filter(Boolean)
    .slice(0, mode === "pairwise" ? 2 : 1);
  const details = await Promise.all(systems.map(({ id }) => systemDetail(id)));
  const cells = analysedCells(details);
  const charts = builtCharts(mode, systems, details);
  const why = obstacleText(board, mode, systems, cells, charts);
  if (why) return [element("p", { class: "headline" }, why, " ", link("#/", "Back to the leaderboard"))];
  const task = chosenOf(params, "task", [...cells, ...charts]);
  /** @param {any} item */
  const inTask = (item) => item.task === task.chosen;
  const language = chosenOf(params, "language", [...cells, ...charts].filter(inTask));
  /** @param {any} item */
  const inCell = (item) => inTask(item) && item.language === language.chosen;
  const live = cells.some(inCell) ? await cellStatistics(task.chosen, language.chosen, systems) : null;
  const cellCharts = charts.filter(inCell);
  const metrics = [...(live?.systems[0].metrics.map(({ name }) => ({ metric: name })) ?? []), ...cellCharts];
  const metric = chosenOf(params, "metric", metrics);
  const about = { board, mode, params, systems, details, task: task.chosen, language: language.chosen };
  const chosenCharts = cellCharts.filter((chart) => chart.metric === metric.chosen);
  const figures = chartFigures(about, live, chosenCharts, metric.chosen);
  return [
    analysisHeadline(board, mode, systems, task.chosen, metric.chosen),
    selects(board, { task, language, metric }),
    element("p", { class: "soft" }, originText(live)),
    element(
      "div",
      { class: "charts", "data-key": [task.chosen, language.chosen, metric.chosen].join() },
      figures.map(({ node }) => node),
    ),
    element("p", { class: "soft" }, "Select a bar to list its examples."),
    exampleSection(),
    exportFigures(about, metric.chosen, figures),
  ];
}

// A figure per attribute: from single examples if the site has them, otherwise as built.
/** @param {AnalysisContext} about @param {LiveCell | null} live @param {Chart[]} charts @param {string} metric */
function chartFigures(about, live, charts, metric) {
  const byName = new Map(charts.map((chart) => [chart.attribute, chart]));
  const chosen = live?.systems.flatMap(({ metrics }) => metrics.find(({ name }) => name === metric) ?? []) ?? [];
  const usable = live !== null && chosen.length > 0 && chosen.length === live.systems.length;
  const liveFigures = usable
    ? live.examples.attributes.map((attribute) =>
        liveFigure(about, live, chosen, attribute, byName.get(attribute.name) ?? null),
      )
    : [];
  const done = new Set(usable ? live.examples.attributes.map(({ name }) => name) : []);
  return [
    ...liveFigures,
    ...charts.filter(({ attribute }) => !done.has(attribute)).map((chart) => builtFigure(about, chart)),
  ];
}

/** @param {LiveCell | null} live */
export const originText = (live) =>
  live
    ? `From ${plural(live.examples.ids.length, "example")}; 95 % intervals${live.examples.source ? ` clustered by ${live.examples.source}` : ""}. Drag markers to re-bucket.`
    : "From isogloss explain. Buckets are fixed: this board has no per-example results for this cell.";

/** @param {Board} board @param {string} mode @param {System[]} systems @param {string} task @param {string} metric */
function analysisHeadline(board, mode, systems, task, metric) {
  const names = systems.map((system) => link(hashOf(["system", system.id]), nameOf(system.fullName)));
  const lower = board.task.get(task)?.lower_is_better;
  return element(
    "p",
    { class: "headline" },
    names[0],
    mode === "pairwise" ? [" minus ", names[1]] : "",
    element(
      "span",
      { class: "soft" },
      mode === "pairwise"
        ? ` · ${metric}: the first is better ${lower ? "below" : "above"} zero`
        : lower
          ? ` · ${metric}: lower is better`
          : "",
    ),
  );
}

/** @param {Board} board @param {{ task: Chosen, language: Chosen, metric: Chosen }} options1 */
function selects(board, { task, language, metric }) {
  /** @param {string} key @param {string} label @param {Chosen} choice @param {(value: string) => string} [text] */
  const select = (key, label, choice, text) =>
    choice.values.length < 2 ? null : chosenSelect(key, label, choice, text);
  return element(
    "div",
    { class: "controls roomy" },
    select("task", "Task", task, (id) => taskTitle(board, id)),
    select("language", "Language", language, (code) => languageName(board, code)),
    select("metric", "Metric", metric),
  );
}

/** @param {AnalysisContext} options @param {string} metric @param {BucketFigure[]} figures */
function exportFigures({ board, mode, systems, task, language }, metric, figures) {
  const columns = [
    ...systems.map(({ fullName }, at) => fileColumn(`system${at + 1}`, at ? "Minus system" : "System", () => fullName)),
    fileColumn("task", "Task", () => task),
    fileColumn("language", "Language", () => language),
    fileColumn("metric", "Metric", () => metric),
    fileColumn("attribute", "Attribute", ({ attribute }) => attribute),
    fileColumn("bucket", "Bucket", ({ bucket }) => bucket.name),
    fileColumn("edges", "Edges", ({ bucket }) => bucket.edges),
    fileColumn("n", "Examples", ({ bucket }) => bucket.n, true),
    fileColumn("value", mode === "pairwise" ? "Difference" : "Score", ({ bucket }) => bucket.value, true),
    fileColumn("low", "Low", ({ bucket }) => bucket.low ?? null, true),
    fileColumn("high", "High", ({ bucket }) => bucket.high ?? null, true),
  ];
  const rows = () => figures.flatMap(({ attribute, bars }) => bars().map((bucket) => ({ attribute, bucket })));
  return exportButtons(`${mode}-analysis`, board, () => ({ columns, rows: rows() }));
}
