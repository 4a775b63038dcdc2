import { builtCharts } from "./built_charts.js";
import { attributeTitle } from "./attribute_title.js";
import { histogramPanel, shareFigures } from "./bias_histograms.js";
import { biasItems, boardDistributions } from "./bias_items.js";
import { noExamplesText, preselected } from "./candidates.js";
import { distributionPanel } from "./distributions.js";
import { balancedText } from "./unevenness.js";
import { chosenOf, chosenSelect } from "../page/controls.js";
import { languageName, systemDetail, taskName, taskTitle } from "../board/decode.js";
import { element, link } from "../page/dom.js";
import { folded } from "../page/fold.js";

// Dataset bias: the distribution of examples by language, from isogloss explain and from single examples. It opens on the
// most uneven attribute. Without either, the bucket sizes of an analysed system.
/** @param {Board} board @param {URLSearchParams} params @returns {Promise<Child[]>} */
export async function biasPanels(board, params) {
  const items = await biasItems(board);
  if (!items.length) return explainedShares(board, params);
  const task = chosenOf(params, "task", items);
  const inTask = items.filter((item) => item.task === task.chosen && item.attribute);
  const histograms = await histogramPanel(board, params, task.chosen, inTask);
  const attributes = inTask.length ? inTask : histograms.attributes;
  const attribute = chosenOf(params, "attribute", attributes);
  const titles = new Map(attributes.map((item) => [item.attribute, item.title]));
  const shown = (await boardDistributions(board)).filter(
    (item) => item.task === task.chosen && item.attribute === attribute.chosen,
  );
  const balanced = balancedText(items);
  return [
    folded(
      "Task and attribute",
      0,
      element(
        "div",
        { class: "controls roomy" },
        chosenSelect("task", "Task", task, (id) => taskTitle(board, id)),
        chosenSelect("attribute", "Attribute, most uneven first", attribute, (name) => attributeTitle(titles.get(name) ?? name)),
        histograms.control,
      ),
    ),
    balanced ? element("p", { class: "soft" }, balanced) : null,
    ...distributionPanel(board, shown, `${taskName(board, task.chosen)}: ${titles.get(attribute.chosen) ?? attribute.chosen}`),
    ...histograms.nodes(attribute.chosen, shown.length > 0),
  ];
}

// The bucket sizes of a system's analyses.
/** @param {Board} board @param {URLSearchParams} params @returns {Promise<Child[]>} */
async function explainedShares(board, params) {
  const named = board.system.get(params.get("system") ?? "");
  const [system] = named ? [named] : await preselected(board, 1);
  const charts = system ? builtCharts("single", [], [await systemDetail(system.id)]) : [];
  if (!charts.length)
    return [element("p", { class: "headline" }, noExamplesText(board), " ", link("#/analysis", "All analyses"))];
  const task = chosenOf(params, "task", charts);
  const taskCharts = charts.filter((chart) => chart.task === task.chosen);
  const attribute = chosenOf(params, "attribute", taskCharts);
  const [{ metric }] = taskCharts;
  const shown = taskCharts.filter((chart) => chart.attribute === attribute.chosen && chart.metric === metric);
  const cells = shown.map(({ language, bars }) => ({ name: languageName(board, language), buckets: bars }));
  return [
    element(
      "div",
      { class: "controls roomy" },
      chosenSelect("task", "Task", task, (name) => taskTitle(board, name)),
      chosenSelect("attribute", "Attribute", attribute),
    ),
    element("div", { class: "charts" }, shareFigures(cells, null)),
  ];
}
