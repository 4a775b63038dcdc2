import { badges, disclosed } from "../board/describe.js";
import { cellMetricText, cellOf, loadedDetail, metricsText } from "../board/decode.js";
import { countText, element, link, listed, missing, nameOf, plural, scoreText, sizeText, wholePercent } from "../page/dom.js";
import { ENGLISH, goodness, referenceOf } from "../board/relative.js";
import { columnScale } from "../board/score_scale.js";
import { intervalStrip, stripAxis } from "../charts/interval.js";
import { hashOf } from "../page/state.js";
import { joinedNames, scoreName } from "./finder_words.js";

// A score as a share of the best score in English and of the human score; NaN if they are unknown or no comparison. Human
// scores are in the metrics of the whole task.
/** @param {Board} board @param {Task} task @param {number} value @param {Language | null} language */
export function contextShares(board, task, value, language) {
  const english = language && language.code !== ENGLISH && task.place.has(ENGLISH);
  const best = english ? referenceOf(task, board.systems).value : NaN;
  const human = language && task.cellMetric ? NaN : (task.human ?? NaN);
  return [best, human].map((other) =>
    goodness(task, other) > 0 ? goodness(task, value) / goodness(task, other) : NaN,
  );
}

/** @param {Board} board @param {Task} task @param {number} value @param {Language | null} language */
function contextTexts(board, task, value, language) {
  const [english, human] = contextShares(board, task, value, language);
  return [
    missing(english) ? "" : `${wholePercent(english)} of the best score in English`,
    missing(human) ? "" : `${wholePercent(human)} of human performance`,
  ].filter(Boolean);
}

// A score's interval: of an average it is on the board, in one language in the system's file.
/** @param {Board} board @param {System} system @param {Task} task @param {number} value @param {Language | null} language */
function withInterval(board, system, task, value, language) {
  const average = board.averages.get(task.id);
  if (!language) return { value, low: average?.low[system.at], high: average?.high[system.at] };
  const cell = system.reported ? null : cellOf(loadedDetail(system.id), task, language.code);
  return { value, low: cell?.low ?? null, high: cell?.high ?? null };
}

/** @param {{ value: number, low?: Maybe<number>, high?: Maybe<number> }} figure @param {Interval} scale */
const onScale = (figure, scale) =>
  element("span", { class: "scale", "aria-hidden": "true" }, stripAxis(scale, 4), intervalStrip(figure, scale));

/** @param {{ low?: Maybe<number>, high?: Maybe<number> }} figure */
const rangeText = ({ low, high }) =>
  missing(low) || missing(high)
    ? null
    : element("span", { class: "soft" }, ` 95 % interval ${scoreText(low)}–${scoreText(high)}`);

// Where a score of a task is shown: the cell or the task.
/** @param {Task} task @param {Language | null} language @param {...Child} children */
export const cellLink = (task, language, ...children) =>
  link(hashOf(language ? ["task", task.id, language.code] : ["task", task.id]), ...children);

// The card's main score with its axis; the scale is that of the column on every page.
/** @param {Board} board @param {Wish} wish @param {PickGroup} group @param {FinderPick} pick */
function mainScore(board, wish, { tasks }, pick) {
  const [task] = tasks;
  const single = tasks.length === 1;
  const figure = single ? withInterval(board, pick.system, task, pick.value, wish.language) : pick;
  const name = single
    ? `${wish.language ? cellMetricText(task) : metricsText(task)} on ${task.name}`
    : wish.kind === "any"
      ? "overall score"
      : `mean over ${plural(tasks.length, "task")}`;
  const lower = tasks.every((one) => one.lower_is_better) ? "; lower is better" : "";
  return [
    element(
      "p",
      { class: "pick-score" },
      element("strong", {}, scoreText(pick.value)),
      ` ${name}${lower}`,
      rangeText(figure),
    ),
    onScale(figure, columnScale(board, single ? task.id : wish.id)),
    single ? contextLine(contextTexts(board, task, pick.value, wish.language)) : null,
  ];
}

/** @param {string[]} texts */
const contextLine = (texts) => (texts.length ? element("p", { class: "context soft" }, texts.join(" · ")) : null);

// The scores that a mean is made of.
/** @param {Board} board @param {Wish} wish @param {FinderPick} pick */
const partList = (board, wish, pick) =>
  element(
    "ul",
    { class: "pick-parts" },
    pick.parts
      .filter(({ value }) => !missing(value))
      .map(({ task, value }) =>
        element(
          "li",
          {},
          cellLink(task, wish.language, scoreName(task, wish.language)),
          element("strong", {}, scoreText(value)),
          onScale(withInterval(board, pick.system, task, value, wish.language), columnScale(board, task.id)),
          contextLine(contextTexts(board, task, value, wish.language)),
        ),
      ),
  );

// "499 examples", or "1,190 examples in each of 11 languages".
/** @param {Task} task @param {Language | null} language */
function examplesText(task, language) {
  const counts = language ? [task.n[task.languages.indexOf(language.code)]] : [...new Set(task.n)];
  if (!counts[0]) return "";
  const where = language ? "" : `${counts.length > 1 ? "" : " each"} in ${plural(task.languages.length, "language")}`;
  const number =
    counts.length > 1 ? `${countText(Math.min(...counts))}–${countText(Math.max(...counts))}` : countText(counts[0]);
  return `${number} ${number === "1" ? "example" : "examples"}${where}`;
}

/** @param {PickGroup} group @param {Wish} wish */
const testedText = ({ tasks }, wish) =>
  tasks.length > 4
    ? `${tasks.length} tasks, all their languages`
    : joinedNames(
        tasks.map((task) => {
          const count = examplesText(task, wish.language);
          return count ? `${task.name} (${count})` : task.name;
        }),
      );

// What the reader asked for but is not measured: tasks that this system lacks, and tasks without data in the language.
/** @param {Board} board @param {Wish} wish @param {FinderPick} pick */
function untestedText(board, wish, pick) {
  const { language } = wish;
  const absent =
    wish.kind === "category" && language ? wish.tasks.filter((task) => !task.place.has(language.code)) : [];
  return [
    pick.lacking.length
      ? `${listed(
          pick.lacking.map(({ name }) => name),
          4,
        )}: no score`
      : "",
    absent.length
      ? `${listed(
          absent.map(({ name }) => name),
          4,
        )}: no ${language?.name} data`
      : "",
    pick.system.cells < board.cellCount
      ? `no score in ${countText(board.cellCount - pick.system.cells)} of the board’s ${countText(board.cellCount)} cells`
      : "",
  ].filter(Boolean);
}

/** @param {Board} board @param {Wish} wish @param {PickGroup} group @param {FinderPick} pick @param {FinderVerdict} verdict */
export function pickCard(board, wish, group, pick, { order }) {
  const { system } = pick;
  const range = order?.ranges.get(system.id);
  const untested = untestedText(board, wish, pick);
  const ranks =
    range && range[0] !== range[1]
      ? element("span", { class: "soft" }, ` (ranks ${range[0]}–${range[1]} possible${order?.untested.has(system.id) ? ", not tested" : ""})`)
      : null;
  return element(
    "li",
    { class: "pick", "data-key": `pick-${system.id}` },
    element(
      "h3",
      {},
      element("span", { class: "place" }, String(pick.rank)),
      link(hashOf(["system", system.id]), nameOf(system.name, { class: "name" })),
    ),
    element(
      "p",
      { class: "who soft" },
      nameOf(system.regime ?? ""),
      system.year ? ` · ${system.year}` : "",
      " ",
      badges(system),
      ranks,
    ),
    mainScore(board, wish, group, pick),
    group.tasks.length > 1 && group.tasks.length < 6 ? partList(board, wish, pick) : null,
    element(
      "dl",
      { class: "pick-facts" },
      [
        ["Tested on", testedText(group, wish)],
        ["Not tested", untested.length ? untested.map((text) => element("span", { class: "lack" }, text)) : "–"],
        [
          "Scores",
          system.reported ? ["reported, ", nameOf(system.source || system.paper || "source unknown")] : "scored here",
        ],
        ["Size", disclosed(system.parameters, (value) => `${sizeText(value)} parameters`)],
        ["Open weights", disclosed(system.open_weights)],
        ["Licence", disclosed(system.licence, (value) => value)],
      ].map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
    ),
  );
}
