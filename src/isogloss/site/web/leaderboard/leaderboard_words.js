import { shortScoreTitle, systemWithRegime } from "../board/describe.js";
import { languageName, taskName } from "../board/decode.js";
import { countText, element, listed, nameOf, plural, scoreText } from "../page/dom.js";
import { segmentPlace } from "../board/segments.js";
import { population, lackingTestText } from "../board/tested_on.js";
import { testedCounts } from "../board/tested_order.js";

const MOST_FOOTNOTES = 200;

// The headline: the best score, what the test says about the first place, and how many systems are complete.
/** @param {Standings} table */
export function leaderSentence(table) {
  const ranked = table.rows.filter((row) => row.rank !== null).sort((a, b) => Number(a.rank) - Number(b.rank));
  const lead = ranked[0];
  if (!lead) return element("p", { class: "headline" }, emptyText(table));
  const figure = lead.figures.get(table.by.id);
  const { verb, before, after } = firstPlace(table);
  return element(
    "p",
    { class: "headline" },
    systemWithRegime(lead.system),
    ` ${verb} ${leadText(table)}${before} `,
    element("strong", {}, scoreText(figure.value)),
    Number.isNaN(figure.low) ? "" : ` (${scoreText(figure.low)}–${scoreText(figure.high)})`,
    table.by.lower ? "; lower is better" : "",
    after ? `; ${after}` : "",
    ". ",
    element("span", { class: "covers" }, `${coverageText(table, ranked.length, ...otherCounts(table))}.`),
  );
}

// How many systems are complete, below a finding that names the first.
/** @param {Standings} table */
export const coverageSentence = (table) =>
  element("p", { class: "headline" }, `${coverageText(table, table.ranked, ...otherCounts(table))}.`);

// How many matching systems are not ranked: with some scores, and without any.
/** @param {Standings} table @returns {[number, number]} */
export function otherCounts({ rows, dropped, shown }) {
  const hasScores = (/** @type {Standing} */ { figures }) =>
    shown.some(({ id }) => !Number.isNaN(figures.get(id).value));
  const others = [...rows.filter((row) => row.rank === null), ...dropped];
  const partial = others.filter(hasScores).length;
  return [partial, others.length - partial];
}

// Words on the first place: a system leads only if the test leaves rank 1 open to no other.
/** @param {Standings} table */
export function firstPlace({ order, ranked, testRanks }) {
  const best = { verb: "has the best score", before: "," };
  if (ranked === 1) return { verb: "scores", before: "", after: "" };
  if (testRanks) return { ...best, after: "" };
  if (!order.test) return { ...best, after: "the order is not tested" };
  const { first } = testedCounts(order);
  if (order.untested.size) return { ...best, after: lackingTestText(order.untested.size) };
  if (first > 1) return { ...best, after: `${tiedText(first - 1)} ${population(order.test)}` };
  return { verb: "leads", before: " with", after: `significantly ahead of all others ${population(order.test)}` };
}

/** @param {number} others */
const tiedText = (others) =>
  `${countText(others)} ${others === 1 ? "other is" : "others are"} statistically tied for first`;

// "3 systems cover the full benchmark; 232 have partial results".
/** @param {Standings} table @param {number} complete @param {number} partial @param {number} [empty] */
export function coverageText({ by, choice }, complete, partial, empty = 0) {
  const isSegment = !choice.filtered && (by.kind === "overall" || choice.segment.tasks.length === 1);
  const have = (/** @type {number} */ count) => `${countText(count)} ${count === 1 ? "has" : "have"}`;
  return [
    `${plural(complete, "system")} ${complete === 1 ? "covers" : "cover"} ${isSegment ? choice.segment.words : "this selection"}`,
    partial ? `${have(partial)} partial results` : "",
    empty ? `${have(empty)} none` : "",
  ]
    .filter(Boolean)
    .join("; ");
}

// "overall", "on XNLI", "by “Flat”", "on TyDiQA-GoldP in Swahili", "in question answering".
/** @param {Standings} table */
export function leadText({ by, choice, columns, board }) {
  if (by.kind === "task" && by.part.codes.length === by.part.task.languages.length) return `on ${by.title}`;
  if (by.kind === "category") return `on ${shortScoreTitle(by)}`;
  if (choice.ranking !== board.rule.name && by.kind === "overall") return `by “${choice.title}”`;
  return choice.filtered ? `on ${selectionText(board, by.kind === "task" ? [by.part] : columns)}` : segmentPlace(choice.segment);
}

// Explain an empty ranking: nothing matches, the tasks lack the languages, or no system is complete.
/** @param {Standings} table */
export function emptyText(table) {
  const { board, rows, dropped, columns, choice } = table;
  if (!board.systems.length) return "This board has no systems yet.";
  if (!rows.length && !dropped.length) return "No system matches these filters.";
  if (!columns.length) return missingDataText(board, choice);
  const [partial] = otherCounts(table);
  if (!choice.filtered)
    return `No matching system covers ${choice.segment.words}${partial ? `; ${partialText(partial)}` : ""}.`;
  return "No system has results for every selected task and language. Select fewer of them to get a ranking.";
}

/** @param {number} count */
export const partialText = (count) => `${plural(count, "system")} ${count === 1 ? "has" : "have"} partial results`;

// "XQuAD has no Swahili data. Try TyDiQA-GoldP or XNLI."
/** @param {Board} board @param {Choice} options1 */
function missingDataText(board, { tasks, languages }) {
  const codes = languages.map((code) => languageName(board, code));
  const others = board.tasks.filter((task) => languages.some((code) => task.place.has(code)));
  const names = tasks.map((id) => taskName(board, id));
  if (!names.length || !codes.length || !others.length) return "No task has data for this selection.";
  const verb = names.length === 1 ? "has" : "have";
  const suggestion = others
    .slice(0, 2)
    .map(({ name }) => name)
    .join(" or ");
  return `${listed(names, 3)} ${verb} no ${codes.slice(0, 3).join(" or ")} data. Try ${suggestion}.`;
}

// What the suite's own average is within a part of the benchmark.
/** @type {Record<string, string>} */
const OWN_AVERAGE = {
  category: "Mean over the category's tasks; a task's score is the mean over its languages.",
  task: "Mean over the task's languages.",
};

// The ranking's definition, and the selection it averages over.
/** @param {Standings} table */
export function rankingText(table) {
  const { board, choice, columns } = table;
  const hint = (choice.ranking === board.rule.name && OWN_AVERAGE[choice.segment.kind]) || choice.hint;
  return choice.filtered && columns.length ? `${hint} Averaged over ${partOfSuite(table)}.` : hint;
}

/** @param {Standings} options */
function partOfSuite({ board, columns }) {
  const codes = new Set(columns.flatMap((column) => column.codes));
  return `${columns.length} of ${plural(board.tasks.length, "task")} and ${codes.size} of ${plural(board.languages.length, "language")}`;
}

// Name up to two tasks and two languages; count more.
/** @param {Board} board @param {CellColumn[]} columns */
function selectionText(board, columns) {
  const codes = [...new Set(columns.flatMap((column) => column.codes))];
  /** @param {string[]} items @param {number} all @param {string} noun */
  const named = (items, all, noun) =>
    items.length <= 2 ? items.join(" and ") : `${items.length} of ${plural(all, noun)}`;
  const tasks = named(
    columns.map(({ task }) => task.name),
    board.tasks.length,
    "task",
  );
  if (
    codes.length === board.languages.length ||
    columns.every(({ task, codes: own }) => own.length === task.languages.length)
  )
    return tasks;
  const languages = codes.map((code) => languageName(board, code));
  return `${tasks} in ${named(languages, board.languages.length, "language")}`;
}

/** @param {Standings} options */
export function leaderboardNotes({ board, rows, order }) {
  return element(
    "div",
    { class: "notes" },
    element(
      "p",
      { class: "how-to" },
      "Select systems to compare them. Hover over or focus a score for its interval, scorer and data.",
    ),
    board.precision ? element("p", {}, board.precision) : null,
    order.note ? element("p", {}, order.note) : null,
    footnoteList(board, new Set(rows.map(({ system }) => system.id))),
  );
}

/** @param {Board} board @param {Set<string>} ids */
function footnoteList(board, ids) {
  const footnotes = (board.footnotes ?? []).filter((note) => ids.has(note.system));
  if (!footnotes.length) return null;
  /** @param {Footnote} note */
  const item = (note) =>
    element(
      "li",
      {},
      nameOf(board.system.get(note.system)?.name ?? note.system),
      note.task ? `, ${taskName(board, note.task)}` : "",
      `: ${note.text}`,
    );
  return element(
    "details",
    {},
    element("summary", {}, `† ${plural(footnotes.length, "footnote")}`),
    element("ul", {}, footnotes.slice(0, MOST_FOOTNOTES).map(item)),
  );
}
