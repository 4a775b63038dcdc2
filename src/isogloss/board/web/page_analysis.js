import { analysedCells, builtCharts } from "./analyses.js";
import { biasPanels } from "./bias_histograms.js";
import { cellStatistics } from "./cell_examples.js";
import { chosenOf, chosenSelect } from "./controls.js";
import { languageName, systemDetail, taskTitle } from "./decode.js";
import { element, link, nameOf } from "./dom.js";
import { exportButtons } from "./export.js";
import { builtFigure, liveFigure } from "./bucket_figure.js";
import { crumbs, nothing, pageHead } from "./parts.js";
import { hashOf } from "./state.js";

const MODES = { bias: "Dataset bias", single: "Single analysis", pairwise: "Pairwise analysis" };
const HINTS = {
  bias: "How the examples of a test fall into buckets: a test with few long contexts says little about long contexts. Languages stand side by side.",
  single:
    "The score in each bucket of examples, with its 95 % interval. The best and the worst bucket are marked; those with too few examples for an interval are not among them.",
  pairwise:
    "The first system minus the second in each bucket, with the 95 % interval of the difference, unless it has too few examples.",
};

export function analysisPage(board, [mode]) {
  if (!MODES[mode]) return nothing("There is no such analysis.");
  const place = element("div", {}, element("p", { class: "soft" }, "loading…"));
  let [shownFor, figures, turn] = [null, [], 0];
  const update = async (params) => {
    const rest = new URLSearchParams(params);
    rest.delete("cut");
    // A change of edges alone touches the charts, and leaves the handle that is being dragged where it is.
    if (rest.toString() === shownFor) {
      for (const figure of figures) figure.sync(params);
      return;
    }
    const own = ++turn;
    const made = mode === "bias" ? await biasPanels(board, params) : await panels(board, mode, params);
    if (own !== turn) return;
    [shownFor, figures] = [rest.toString(), made.figures];
    for (const figure of figures) figure.sync(params);
    place.replaceChildren(...made.nodes);
  };
  return {
    node: element(
      "div",
      {},
      crumbs(link("#/", "Leaderboard"), MODES[mode]),
      pageHead(MODES[mode]),
      element("p", { class: "soft" }, HINTS[mode]),
      place,
    ),
    title: MODES[mode],
    update,
  };
}

const refusal = (why) => ({
  figures: [],
  nodes: [element("p", { class: "headline" }, why, " ", link("#/", "To the leaderboard"))],
});

// Why there is nothing to show; "" if there is.
function lacking(board, mode, systems, cells, charts) {
  if (mode === "pairwise" && systems.length < 2) return "Tick two systems on the leaderboard.";
  if (!systems.length) return "Tick a system on the leaderboard.";
  if (cells.length || charts.length) return "";
  const without = systems.find((system) => !system.has_predictions);
  if (without)
    return `There are no analyses of ${without.fullName}: they need its answers, and only figures are known.`;
  return `There are no analyses of ${systems.map(({ fullName }) => fullName).join(" and ")} on this board${board.no_examples ? `: ${board.no_examples}` : ", of labels that anyone can have"}.`;
}

async function panels(board, mode, params) {
  const systems = params
    .getAll("system")
    .map((id) => board.system.get(id))
    .filter(Boolean)
    .slice(0, mode === "pairwise" ? 2 : 1);
  const details = await Promise.all(systems.map(({ id }) => systemDetail(id)));
  const cells = analysedCells(details);
  const charts = builtCharts(mode, systems, details);
  const why = lacking(board, mode, systems, cells, charts);
  if (why) return refusal(why);
  const task = chosenOf(params, "task", [...cells, ...charts]);
  const inTask = (each) => each.task === task.chosen;
  const language = chosenOf(params, "language", [...cells, ...charts].filter(inTask));
  const inCell = (each) => inTask(each) && each.language === language.chosen;
  const live = cells.some(inCell) ? await cellStatistics(task.chosen, language.chosen, systems) : null;
  const ofCell = charts.filter(inCell);
  const metrics = [...(live?.systems[0].metrics.map(({ name }) => ({ metric: name })) ?? []), ...ofCell];
  const metric = chosenOf(params, "metric", metrics);
  const examples = element("div", { class: "examples", tabindex: "-1", "aria-live": "polite" });
  const about = { board, mode, systems, details, task: task.chosen, language: language.chosen, examples };
  const figures = chartFigures(
    about,
    live,
    ofCell.filter((chart) => chart.metric === metric.chosen),
    metric.chosen,
  );
  return {
    figures,
    nodes: [
      analysisHeadline(board, mode, systems, task.chosen, metric.chosen),
      selects(board, { task, language, metric }),
      element("p", { class: "soft" }, origin(live)),
      element(
        "div",
        { class: "charts" },
        figures.map(({ node }) => node),
      ),
      element("p", { class: "soft" }, "Choose a bar for its examples."),
      examples,
      filesOf(about, metric.chosen, figures),
    ],
  };
}

// A figure for each attribute: of single examples where the site has them, else as it was built.
function chartFigures(about, live, charts, metric) {
  const byName = new Map(charts.map((chart) => [chart.attribute, chart]));
  const chosen = live?.systems.map(({ metrics }) => metrics.find(({ name }) => name === metric)) ?? [];
  const usable = chosen.length && chosen.every(Boolean);
  const found = usable
    ? live.examples.attributes.map((attribute) =>
        liveFigure(about, live, chosen, attribute, byName.get(attribute.name) ?? null),
      )
    : [];
  const done = new Set(usable ? live.examples.attributes.map(({ name }) => name) : []);
  return [
    ...found,
    ...charts.filter(({ attribute }) => !done.has(attribute)).map((chart) => builtFigure(about, chart)),
  ];
}

const origin = (live) =>
  live
    ? `Made in your browser from ${live.examples.ids.length.toLocaleString("en-GB")} examples, by the arithmetic of isogloss explain: intervals tell how much each ${live.examples.source || "example"} moves the score. Edges can be moved.`
    : "As isogloss explain made them. The edges stay where they are: this board does not tell of single examples here.";

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
        ? ` · ${metric}: ${lower ? "below" : "above"} zero the first is better`
        : lower
          ? ` · ${metric}: lower is better`
          : "",
    ),
  );
}

function selects(board, { task, language, metric }) {
  const select = (key, label, found, text) => (found.values.length < 2 ? null : chosenSelect(key, label, found, text));
  return element(
    "div",
    { class: "controls roomy" },
    select("task", "Task", task, (id) => taskTitle(board, id)),
    select("language", "Language", language, (code) => languageName(board, code)),
    select("metric", "Metric", metric),
  );
}

function filesOf({ board, mode, systems, task, language }, metric, figures) {
  const of = (id, title, value, numeric = false) => ({ id, title, value, numeric });
  const columns = [
    ...systems.map(({ fullName }, at) => of(`system${at + 1}`, at ? "Minus system" : "System", () => fullName)),
    of("task", "Task", () => task),
    of("language", "Language", () => language),
    of("metric", "Metric", () => metric),
    of("attribute", "Attribute", ({ attribute }) => attribute),
    of("bucket", "Bucket", ({ bucket }) => bucket.name),
    of("edges", "Edges", ({ bucket }) => bucket.edges),
    of("n", "Examples", ({ bucket }) => bucket.n, true),
    of("value", mode === "pairwise" ? "Difference" : "Score", ({ bucket }) => bucket.value, true),
    of("low", "Low", ({ bucket }) => bucket.low ?? null, true),
    of("high", "High", ({ bucket }) => bucket.high ?? null, true),
  ];
  const rows = () => figures.flatMap(({ attribute, bars }) => bars().map((bucket) => ({ attribute, bucket })));
  return exportButtons(`${mode}-analysis`, board, () => ({ columns, rows: rows() }));
}
