import { chosenOf, drawnSelect } from "./controls.js";
import { systemDetail } from "./decode.js";
import { countText, element, link, missing, nameOf, plural, scoreText, signedText } from "./dom.js";
import { exportButtons } from "./export.js";
import { biasPanel } from "./page_bias.js";
import { crumbs, nothing, pageHead } from "./parts.js";
import { barChart } from "./plots.js";
import { hashOf } from "./state.js";

const MODES = { bias: "Dataset bias", single: "Single analysis", pairwise: "Pairwise analysis" };
const HINTS = {
  bias: "How the examples of a test fall into buckets: a test with few long contexts says little about long contexts. Languages stand side by side.",
  single: "The score in each bucket of examples, with its 95 % interval. The best and the worst bucket are marked.",
  pairwise: "The first system minus the second in each bucket: above zero the first is better.",
};
const bucketOf = ([name, edges, n, value, low, high, ids]) => ({ name, edges, n, value, low, high, ids });
const contrastOf = ([name, edges, n, own, other, value, low, high, p, flips, ids]) => ({
  name,
  edges,
  n,
  own,
  other,
  value,
  low,
  high,
  p,
  flips,
  ids,
});

export function analysisPage(board, [mode]) {
  if (!MODES[mode]) return nothing("There is no such analysis.");
  const place = element("div", {}, element("p", { class: "soft" }, "loading…"));
  let asked = "";
  let found = null;
  const update = async (params) => {
    if (mode === "bias" && board.has_bias) {
      place.replaceChildren(...(await biasPanel(board, params)));
      return;
    }
    const systems = params
      .getAll("system")
      .map((id) => board.system.get(id))
      .filter(Boolean);
    const key = systems.map(({ id }) => id).join(" ");
    if (key !== asked) {
      asked = key;
      found = await Promise.all(systems.map(({ id }) => systemDetail(id)));
    }
    place.replaceChildren(...shownAnalysis(board, mode, systems, found ?? [], params));
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

// The charts of a mode, their buckets unpacked; or why there are none.
function chartsOf(mode, systems, details) {
  const [first, second] = systems;
  if (!first || (mode === "pairwise" && !second))
    return { why: mode === "pairwise" ? "Tick two systems on the leaderboard." : "Tick a system on the leaderboard." };
  const without = systems.findIndex((system, at) => !details[at]?.analyses?.single?.length);
  if (without >= 0)
    return {
      why: `There are no analyses of ${systems[without].name} on this board: ${systems[without].has_predictions ? "isogloss explain makes them" : "they need its answers, and only figures are known"}.`,
    };
  if (mode !== "pairwise")
    return { charts: details[0].analyses.single.map((chart) => ({ ...chart, bars: chart.bars.map(bucketOf) })) };
  const tested = details[0].analyses.pairwise?.[second.id];
  if (tested) return { tested: true, charts: tested.map((chart) => ({ ...chart, bars: chart.bars.map(contrastOf) })) };
  return { charts: differences(details) };
}

// Without a paired analysis: differences of buckets that are the same in both, which have no interval then.
function differences(details) {
  const key = (chart) => [chart.task, chart.language, chart.metric, chart.attribute].join("/");
  const others = new Map(details[1].analyses.single.map((chart) => [key(chart), chart]));
  return details[0].analyses.single
    .filter((chart) => others.has(key(chart)))
    .map((chart) => {
      const other = new Map(
        others
          .get(key(chart))
          .bars.map(bucketOf)
          .map((bar) => [`${bar.name} ${bar.edges} ${bar.n}`, bar]),
      );
      const bars = chart.bars
        .map(bucketOf)
        .filter((bar) => other.has(`${bar.name} ${bar.edges} ${bar.n}`))
        .map((bar) => {
          const theirs = other.get(`${bar.name} ${bar.edges} ${bar.n}`).value;
          return { ...bar, own: bar.value, other: theirs, value: bar.value - theirs, low: null, high: null };
        });
      return { ...chart, insight: "", bars };
    })
    .filter(({ bars }) => bars.length);
}

function shownAnalysis(board, mode, systems, details, params) {
  const { why, charts, tested } = chartsOf(mode, systems, details);
  if (why) return [element("p", { class: "headline" }, why, " ", link("#/", "To the leaderboard"))];
  const choose = (key, among) => chosenOf(params, key, among);
  const task = choose("task", charts);
  const inTask = charts.filter((chart) => chart.task === task.chosen);
  const metric = choose("metric", inTask);
  const ofMetric = inTask.filter((chart) => chart.metric === metric.chosen);
  const language = mode === "bias" ? { values: [], chosen: "" } : choose("language", ofMetric);
  const attribute = mode === "bias" ? choose("attribute", ofMetric) : { values: [], chosen: "" };
  const select = (key, label, { values, chosen }, text) =>
    values.length < 2
      ? null
      : drawnSelect(
          key,
          label,
          values.map((value) => [value, text(value)]),
          chosen,
        );
  const shown = ofMetric.filter((chart) =>
    mode === "bias" ? chart.attribute === attribute.chosen : chart.language === language.chosen,
  );
  const examples = element("div", { class: "examples", tabindex: "-1", "aria-live": "polite" });
  const title = (chart) =>
    mode === "bias"
      ? (board.language.get(chart.language)?.name ?? chart.language)
      : `${chart.attribute}: ${chart.title}`;
  const names = systems.map((system) => link(hashOf(["system", system.id]), nameOf(system.name)));
  return [
    element(
      "p",
      { class: "headline" },
      mode === "bias"
        ? `${board.task.get(task.chosen)?.title ?? task.chosen}, ${attribute.chosen}: ${shown[0]?.title ?? ""}`
        : [names[0], mode === "pairwise" ? [" minus ", names[1]] : ""],
    ),
    mode === "pairwise" && !tested
      ? element("p", { class: "soft" }, "These two were not analysed as a pair: differences without intervals.")
      : "",
    element(
      "div",
      { class: "controls roomy" },
      select("task", "Task", task, (id) => board.task.get(id)?.title ?? id),
      select("language", "Language", language, (code) => board.language.get(code)?.name ?? code),
      select("metric", "Metric", metric, (name) => name),
      select("attribute", "Attribute", attribute, (name) => name),
    ),
    element(
      "div",
      { class: "charts" },
      shown.map((chart) =>
        element(
          "figure",
          {},
          element("figcaption", {}, title(chart)),
          barChart({
            records: records(mode, chart),
            signed: mode === "pairwise",
            marked: mode === "single",
            description: title(chart),
            click:
              mode === "bias"
                ? null
                : (record) => listExamples(board, chart, record.bucket, systems, details, examples),
          }),
          chart.insight && mode === "single" ? element("p", { class: "insight" }, chart.insight) : null,
        ),
      ),
    ),
    mode === "bias" ? "" : element("p", { class: "soft" }, "Choose a bar for its examples."),
    examples,
    filesOf(board, mode, shown),
  ];
}

function records(mode, chart) {
  const total = chart.bars.reduce((sum, { n }) => sum + n, 0);
  return chart.bars.map((bucket) => {
    const value = mode === "bias" ? (100 * bucket.n) / total : bucket.value;
    const text =
      mode === "bias"
        ? `${scoreText(value)} % of ${plural(total, "example")}`
        : mode === "pairwise"
          ? `${signedText(value)} (${scoreText(bucket.own)} and ${scoreText(bucket.other)})`
          : scoreText(value);
    const bounds =
      mode === "bias" || missing(bucket.low)
        ? ""
        : `95 % interval ${mode === "pairwise" ? `${signedText(bucket.low)} to ${signedText(bucket.high)}` : `${scoreText(bucket.low)}–${scoreText(bucket.high)}`}`;
    return {
      bucket,
      label: bucket.edges || bucket.name,
      value,
      n: bucket.n,
      low: mode === "bias" ? null : bucket.low,
      high: mode === "bias" ? null : bucket.high,
      lines: [
        `${bucket.name}${bucket.edges ? ` (${bucket.edges})` : ""}: ${text}`,
        bounds,
        plural(bucket.n, "example"),
        bucket.flips ? "here the order of the two turns" : "",
      ],
    };
  });
}

// Examples come with the board only where labels are open; an id alone says nothing of them.
function listExamples(board, chart, bucket, systems, details, place) {
  const cell = `${chart.task}/${chart.language}`;
  const known = details.map((detail) => detail?.analyses?.examples?.[cell] ?? {});
  const items = (bucket.ids ?? []).map((id) => {
    const case0 = known.map((cases) => cases[id]).find(Boolean);
    if (!case0) return element("li", {}, element("bdi", { class: "code" }, id));
    const said = systems.map((system, at) => [system.name, known[at]?.[id]]).filter(([, example]) => example);
    return element(
      "li",
      {},
      element("bdi", { class: "code" }, id),
      element(
        "dl",
        {},
        [
          ...Object.entries(case0.inputs),
          ["gold", case0.gold],
          ...said.map(([name, { answer, score }]) => [
            `${name}${missing(score) ? "" : ` (${Math.round(score)})`}`,
            answer,
          ]),
        ].map(([name, text]) => [
          element("dt", {}, nameOf(name)),
          element("dd", { dir: "auto", lang: chart.language }, text),
        ]),
      ),
    );
  });
  place.replaceChildren(
    element(
      "h2",
      {},
      `${board.task.get(chart.task)?.name ?? chart.task}, ${board.language.get(chart.language)?.name ?? chart.language}, ${chart.attribute} ${bucket.name}${bucket.edges ? ` (${bucket.edges})` : ""}`,
    ),
    element(
      "p",
      { class: "soft" },
      items.length
        ? `${items.length} of ${countText(bucket.n)} examples, the worst first.`
        : "No examples are on this board: they are never shown where labels are hidden.",
    ),
    element("ol", {}, items),
  );
  place.focus();
}

function filesOf(board, mode, charts) {
  const rows = charts.flatMap((chart) => chart.bars.map((bucket) => ({ chart, bucket })));
  const of = (id, title, value, numeric = false) => ({ id, title, value, numeric });
  const columns = [
    of("task", "Task", ({ chart }) => chart.task),
    of("language", "Language", ({ chart }) => chart.language),
    of("attribute", "Attribute", ({ chart }) => chart.attribute),
    of("bucket", "Bucket", ({ bucket }) => bucket.name),
    of("edges", "Edges", ({ bucket }) => bucket.edges),
    of("n", "Examples", ({ bucket }) => bucket.n, true),
    ...(mode === "bias"
      ? []
      : [
          of("value", mode === "pairwise" ? "Difference" : "Score", ({ bucket }) => bucket.value, true),
          of("low", "Low", ({ bucket }) => bucket.low ?? null, true),
          of("high", "High", ({ bucket }) => bucket.high ?? null, true),
        ]),
  ];
  return exportButtons(`${mode}-analysis`, board, () => ({ columns, rows }));
}
