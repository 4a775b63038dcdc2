import { englishLine, taskAxis } from "../board/best_cells.js";
import { familyBands } from "../board/families.js";
import { cellScore, cellTitle } from "../board/decode.js";
import { dotChart, dotLegend } from "../charts/dot_chart.js";
import { selectControl } from "../page/controls.js";
import { element, missing, nameOf, plural, scoreText, signedText } from "../page/dom.js";
import { folded } from "../page/fold.js";
import { hashOf } from "../page/state.js";
import { profileSentence, relativeProfile, relativeTasks, taskProfile, widestGaps } from "./language_profile.js";

const RELATIVE = "all";
/** @type {Interval} */
const PROFILE_SCALE = [0, 110];
const RELATIVE_NOTE =
  "Per cent of the best score in English on the same task, averaged over the tasks that the system has in a language.";
const PROFILE_ORDERS = [
  ["", "by family"],
  ["gap", "by gap to the best"],
];

// A system's score in each language beside the best of any system.
/** @param {Board} board @param {System} system @param {URLSearchParams} params */
export function profileSection(board, system, params) {
  const choices = taskChoices(board, system);
  if (!choices.length) return null;
  const chosen = choices.find(([id]) => id === params.get("task"))?.[0] ?? choices[0][0];
  const task = board.task.get(chosen);
  const rows = task ? taskProfile(board, system, task) : relativeProfile(board, system);
  const isAlone = task ? onlyOne(board, task) : board.systems.length === 1;
  const hasIntervals = rows.some(({ low }) => !missing(low));
  const order = params.get("order") === "gap" && !isAlone ? "gap" : "";
  return element(
    "section",
    { id: "profile" },
    element("h2", {}, task ? `${cellTitle(task)} by language` : "All tasks by language, relative to English"),
    element("p", {}, profileSentence(rows, isAlone)),
    folded(
      "Task and order",
      Number(chosen !== choices[0][0]) + Number(order !== ""),
      element(
        "div",
        { class: "controls roomy" },
        choices.length > 1 ? selectControl("task", "Task", choices, chosen, choices[0][0]) : null,
        isAlone ? null : selectControl("order", "Order of languages", PROFILE_ORDERS, order, ""),
      ),
    ),
    profileChart(board, { system, task, rows, order, isAlone }),
    dotLegend({
      dot: hasIntervals ? "this system, 95 % interval" : "this system",
      hasIntervals,
      goal: isAlone ? "" : "best score of any system",
    }),
    task ? null : element("p", { class: "notes" }, RELATIVE_NOTE),
    isAlone ? null : element("p", { class: "notes" }, "Differences in single languages are not tested."),
  );
}

// Tasks by number of languages, and the mean over several relative to English.
/** @param {Board} board @param {System} system @returns {Option[]} */
function taskChoices(board, system) {
  const count = (/** @type {Task} */ task) =>
    task.languages.filter((code) => !missing(cellScore(task, system, code))).length;
  const tasks = board.tasks.filter(count).sort((a, b) => count(b) - count(a));
  const options = tasks.map((task) => [task.id, `${cellTitle(task)} (${plural(count(task), "language")})`]);
  return relativeTasks(board, system).length > 1 ? [...options, [RELATIVE, "All tasks, relative to English"]] : options;
}

/** @param {Board} board @param {Task} task */
const onlyOne = (board, task) =>
  board.systems.filter((system) => task.languages.some((code) => !missing(cellScore(task, system, code)))).length < 2;

/**
 * @param {Board} board
 * @param {{ system: System, task?: Task, rows: ProfileRow[], order: string, isAlone: boolean }} options
 */
function profileChart(board, { system, task, rows, order, isAlone }) {
  const notable = widestGaps(rows);
  const byLanguage = new Map(rows.map((row) => [row.language, row]));
  const bands = order
    ? [{ name: "", languages: [...rows].sort((a, b) => a.gap - b.gap).map(({ language }) => language) }]
    : familyBands(rows.map(({ language }) => language));
  /** @param {Language} language @returns {DotRow[]} */
  const dot = (language) => {
    const row = byLanguage.get(language);
    if (!row) return [];
    return [
      {
        label: language.name,
        href: hashOf(task ? ["task", task.id, language.code] : ["language", language.code]),
        figure: row,
        goal: isAlone ? undefined : row.best,
        text: scoreText(row.value),
        note: notable.has(row) ? signedText(row.gap) : "",
        lines: row.lines,
      },
    ];
  };
  return dotChart({
    bands: bands.map(({ name, languages }) => ({ name, rows: languages.flatMap(dot) })),
    scale: task ? taskAxis(board, task) : PROFILE_SCALE,
    lines: task ? englishLine(board, task) : [{ value: 100, label: "best English" }],
    upright: true,
    description: `${nameOf(system.name).textContent} and the best score by language`,
  });
}
