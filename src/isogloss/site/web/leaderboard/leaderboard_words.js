import { shortScoreTitle, systemWithRegime } from "../board/describe.js";
import { languageName, taskName } from "../board/decode.js";
import { countText, element, listed, nameOf, plural, scoreText } from "../page/dom.js";
import { firstPlaceWords } from "../board/tested_on.js";

const MOST_FOOTNOTES = 200;

// The headline: the best score, what the test says about the first place, and how many systems are complete.
/** @param {Standings} table */
export function leaderSentence(table) {
  const ranked = table.rows.filter((row) => row.rank !== null).sort((a, b) => Number(a.rank) - Number(b.rank));
  const lead = ranked[0];
  if (!lead) return element("p", { class: "headline" }, emptyText(table));
  const figure = lead.figures.get(table.by.id);
  const hasScores = (/** @type {Standing} */ { figures }) =>
    table.shown.some(({ id }) => !Number.isNaN(figures.get(id).value));
  const partial = table.rows.filter((row) => row.rank === null && hasScores(row)).length;
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
    `. ${coverageText(table, ranked.length, partial, table.rows.length - ranked.length - partial)}.`,
  );
}

// Words on the first place: a system leads only if the test leaves rank 1 open to no other.
/** @param {Standings} table */
export function firstPlace({ order, ranked, testRanks }) {
  const best = { verb: "has the best score", before: "," };
  if (ranked === 1) return { verb: "scores", before: "", after: "" };
  if (testRanks) return { ...best, after: "" };
  if (!order.test) return { ...best, after: "the order is not tested" };
  const first = [...order.ranges.values()].filter(([low]) => low === 1).length;
  const untested = ranked - order.ranges.size;
  if (untested) {
    const names = `the ${first} tested systems that could be first`;
    const verdict = first > 1 ? `${firstPlaceWords(names, first, order.test)}, and ` : "";
    return { ...best, after: `${verdict}${plural(untested, "system")} without scores per language cannot be tested` };
  }
  const after = firstPlaceWords(`the ${first} systems that could be first`, first, order.test);
  return first > 1 ? { ...best, after } : { verb: "leads", before: " with", after };
}

// "3 systems cover the full benchmark; 232 have partial results".
/** @param {Standings} table @param {number} complete @param {number} partial @param {number} [empty] */
export function coverageText({ by, choice }, complete, partial, empty = 0) {
  const whole = by.kind === "overall" && !choice.narrowed ? "the full benchmark" : "this selection";
  const have = (/** @type {number} */ count) => `${countText(count)} ${count === 1 ? "has" : "have"}`;
  return [
    `${plural(complete, "system")} ${complete === 1 ? "covers" : "cover"} ${whole}`,
    partial ? `${have(partial)} partial results` : "",
    empty ? `${have(empty)} none` : "",
  ]
    .filter(Boolean)
    .join("; ");
}

// "overall", "on XNLI", "by “Flat”", "on TyDiQA-GoldP in Swahili".
/** @param {Standings} table */
export function leadText(table) {
  if (table.by.kind !== "overall") return `on ${shortScoreTitle(table.by)}`;
  if (table.choice.ranking !== table.board.rule.name) return `by “${table.choice.title}”`;
  return table.choice.narrowed ? `on ${selectionText(table)}` : "overall";
}

// Explain an empty ranking: nothing matches, the tasks lack the languages, or no system is complete.
/** @param {Standings} options */
export function emptyText({ board, rows, columns, choice }) {
  if (!board.systems.length) return "This board has no systems yet.";
  if (!rows.length) return "No system matches these filters.";
  if (!columns.length) return missingDataText(board, choice);
  return "No system has results for every selected task and language. Select fewer of them to get a ranking.";
}

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

// The ranking's definition, and the selection it averages over.
/** @param {Standings} table */
export const rankingText = (table) =>
  table.choice.narrowed && table.columns.length
    ? `${table.choice.hint} Averaged over ${partOfSuite(table)}.`
    : table.choice.hint;

/** @param {Standings} options */
function partOfSuite({ board, columns }) {
  const codes = new Set(columns.flatMap((column) => column.codes));
  return `${columns.length} of ${plural(board.tasks.length, "task")} and ${codes.size} of ${plural(board.languages.length, "language")}`;
}

// Name up to two tasks and two languages; count more.
/** @param {Standings} table */
function selectionText(table) {
  const { board, columns } = table;
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
      {},
      "Hover over or focus a score for its interval, scorer and data.",
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
