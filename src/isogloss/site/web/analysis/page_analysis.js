import { analysedCells, builtCharts } from "./built_charts.js";
import { biasPanels } from "./bias_panels.js";
import { bucketFigures } from "./bucket_figure.js";
import { builtSet, liveSet, markSignificant } from "./bucket_sets.js";
import { noExamplesText, preselected } from "./candidates.js";
import { cellStatistics } from "./cell_examples.js";
import { exampleSection } from "./example_list.js";
import { ANALYSES, analysesPage } from "./page_analyses.js";
import { systemPicker } from "./system_picker.js";
import { MARK_WORDS } from "../charts/bars.js";
import { chosenOf, chosenSelect } from "../page/controls.js";
import { languageName, systemDetail, taskName, taskTitle } from "../board/decode.js";
import { element, link, nameOf, plural } from "../page/dom.js";
import { exportButtons, fileColumn } from "../page/export.js";
import { folded } from "../page/fold.js";
import { crumbs, nothing, pageHead } from "../board/parts.js";
import { changeParams, hashOf } from "../page/state.js";

/** @param {Board} board @param {string[]} path @returns {Page} */
export function analysisPage(board, [mode]) {
  if (mode === undefined) return analysesPage(board);
  const analysis = ANALYSES.find((each) => each.mode === mode);
  if (!analysis) return nothing("This analysis does not exist.");
  const head = () => [
    crumbs(link("#/analysis", "Analyses"), analysis.title),
    pageHead(analysis.title),
    element("p", { class: "soft prose" }, analysis.hint),
  ];
  /** @param {URLSearchParams} params */
  const view = async (params) => {
    const nodes = mode === "bias" ? await biasPanels(board, params) : await panels(board, mode, params);
    return [...head(), ...nodes];
  };
  /** @param {URLSearchParams} params */
  const title = (params) => {
    const named = params.getAll("system").flatMap((id) => board.system.get(id)?.fullName ?? []);
    return named.length ? `${analysis.title} of ${named.join(" and ")}` : analysis.title;
  };
  return { title, view };
}

// The reason why there is nothing to show, or "".
/** @param {Board} board @param {System[]} systems @param {number} count @param {any[]} cells */
function obstacleText(board, systems, count, cells) {
  if (!systems.length) return `${noExamplesText(board)} `;
  if (systems.length < count) return "This board has no second system with the same examples. ";
  if (cells.length) return "";
  const without = systems.find((system) => !system.has_predictions);
  if (without) return `${without.fullName} has no analyses: they need its predictions, and this board has only scores. `;
  const names = systems.map(({ fullName }) => fullName).join(" and ");
  return `No analyses of ${names} on this board${board.no_examples ? `: ${board.no_examples}` : " use public labels"}. `;
}

// The systems of the address; those that are missing are the best-ranked ones.
/** @param {Board} board @param {URLSearchParams} params @param {number} count */
async function chosenSystems(board, params, count) {
  const ids = [...new Set(params.getAll("system"))];
  const named = ids.map((id) => board.system.get(id)).filter(Boolean).slice(0, count);
  return named.length < count ? preselected(board, count, named) : named;
}

/** @param {Board} board @param {string} mode @param {URLSearchParams} params @returns {Promise<Child[]>} */
async function panels(board, mode, params) {
  const count = mode === "pairwise" ? 2 : 1;
  const systems = await chosenSystems(board, params, count);
  const details = await Promise.all(systems.map(({ id }) => systemDetail(id)));
  const cells = analysedCells(details);
  const charts = builtCharts(mode, systems, details);
  const why = obstacleText(board, systems, count, [...cells, ...charts]);
  const picker = systemPicker(board, systems, count, (ids) => changeParams({ system: ids }));
  if (why)
    return [
      systems.length ? element("div", { class: "controls roomy" }, picker) : null,
      element("p", { class: "headline" }, why, link("#/analysis", "All analyses")),
    ];
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
  const { sets, own } = bucketSets(
    about,
    live,
    cellCharts.filter((chart) => chart.metric === metric.chosen),
    metric.chosen,
  );
  return [
    analysisHeadline(board, mode, systems, task.chosen, metric.chosen),
    controls(board, picker, { task, language, metric }),
    element("p", { class: "soft" }, originText(live), " ", significanceText(sets, mode), " Select a row to show its examples."),
    element(
      "div",
      { class: "charts", "data-key": [task.chosen, language.chosen, metric.chosen].join() },
      bucketFigures(about, sets, own),
    ),
    exampleSection(),
    exportFigures(about, metric.chosen, sets),
  ];
}

// The buckets of every attribute: from single examples if the site has them, otherwise as built.
/** @param {AnalysisContext} about @param {LiveCell | null} live @param {Chart[]} charts @param {string} metric */
function bucketSets(about, live, charts, metric) {
  const byName = new Map(charts.map((chart) => [chart.attribute, chart]));
  const metrics = live?.systems.flatMap((system) => system.metrics.find(({ name }) => name === metric) ?? []) ?? [];
  const own = live && metrics.length > 0 && metrics.length === live.systems.length ? { live, metrics } : null;
  const attributes = own?.live.examples.attributes ?? [];
  const sets = own
    ? attributes.map((attribute) => liveSet(about.params, own.live, metrics, attribute, byName.get(attribute.name) ?? null))
    : [];
  const done = new Set(attributes.map(({ name }) => name));
  sets.push(...charts.filter(({ attribute }) => !done.has(attribute)).map(builtSet));
  markSignificant(sets, about.mode);
  return { sets, own };
}

/** @param {LiveCell | null} live */
export const originText = (live) =>
  live
    ? `From ${plural(live.examples.ids.length, "example")}; 95 % intervals${live.examples.source ? ` clustered by ${live.examples.source}` : ""}. Drag markers to re-bucket.`
    : "From isogloss explain. Buckets are fixed: this board has no per-example results for this cell.";

// Tests are corrected for their number, intervals are not: a difference can be grey although its interval is beyond zero.
/** @param {BucketSet[]} sets @param {string} mode */
function significanceText(sets, mode) {
  const buckets = sets.reduce((sum, { bars }) => sum + bars.length, 0);
  const family = sets.some(({ built }) => built)
    ? "all that isogloss explain tested"
    : mode === "pairwise"
      ? plural(buckets, "bucket")
      : plural(sets.length, "attribute");
  return mode === "pairwise"
    ? `Grey: not significant at a false discovery rate of 5 % over ${family}; intervals are those of single buckets.`
    : `Marked and stated: significant at a false discovery rate of 5 % over ${family}.`;
}

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
        : ` · ${metric}${lower ? ": lower is better" : ""}`,
    ),
  );
}

/** @param {Board} board @param {Child[]} picker @param {{ task: Chosen, language: Chosen, metric: Chosen }} choices */
function controls(board, picker, { task, language, metric }) {
  /** @param {string} key @param {string} label @param {Chosen} choice @param {(value: string) => string} [text] */
  const select = (key, label, choice, text) =>
    choice.values.length < 2 ? null : chosenSelect(key, label, choice, text);
  return folded(
    "Systems, task and language",
    0,
    element(
      "div",
      { class: "controls roomy" },
      picker,
      select("task", "Task", task, (id) => taskTitle(board, id)),
      select("language", "Language", language, (code) => languageName(board, code)),
      select("metric", "Metric", metric),
    ),
  );
}

/** @param {AnalysisContext} options @param {string} metric @param {BucketSet[]} sets */
function exportFigures({ board, mode, systems, task, language }, metric, sets) {
  const isPair = mode === "pairwise";
  const columns = [
    ...systems.map(({ fullName }, at) => fileColumn(`system${at + 1}`, at ? "Minus system" : "System", () => fullName)),
    fileColumn("task", "Task", () => taskName(board, task)),
    fileColumn("language", "Language", () => languageName(board, language)),
    fileColumn("metric", "Metric", () => metric),
    fileColumn("attribute", "Attribute", ({ attribute }) => attribute),
    fileColumn("bucket", "Bucket", ({ bucket }) => bucket.name),
    fileColumn("edges", "Edges", ({ bucket }) => bucket.edges),
    fileColumn("n", "Examples", ({ bucket }) => bucket.n, true),
    fileColumn("value", isPair ? "Difference" : "Score", ({ bucket }) => bucket.value, true),
    fileColumn("low", "95 % low", ({ bucket }) => bucket.low ?? null, true),
    fileColumn("high", "95 % high", ({ bucket }) => bucket.high ?? null, true),
    fileColumn("significant", "Significant", ({ bucket }) =>
      isPair ? (bucket.sure ? "yes" : "no") : (MARK_WORDS[bucket.mark] ?? ""),
    ),
  ];
  const rows = () => sets.flatMap(({ attribute, bars }) => bars.map((bucket) => ({ attribute, bucket })));
  return exportButtons(`${mode}-analysis`, board, () => ({ columns, rows: rows() }));
}
