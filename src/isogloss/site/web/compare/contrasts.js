// Two systems as contrasts: differences of scores, turned so that a positive lead means that the first is better.
import { cellScore, cellTitle, languageName } from "../board/decode.js";
import { categoryTitle } from "../board/describe.js";
import { testedCounts } from "../board/tested_order.js";
import { groupedBy, overallFigure, weightedMean } from "../board/ranking.js";
import { missing } from "../page/dom.js";
import { ALPHA } from "../statistics/distributions.js";
import { MOST_LETTERED } from "../statistics/ordering.js";
import { columnTable, orderAmong, wholeFigure } from "./column_tables.js";

/** @type {Pick<Contrast, "low" | "high" | "p" | "test" | "winner" | "among">} */
const UNTESTED_CONTRAST = { low: null, high: null, p: null, test: "", winner: "", among: 0 };

/** @param {boolean} lower @param {number} first @param {number} second */
export const leadOf = (lower, first, second) => (lower ? second - first : first - second);

// A paired test (first minus second) as a contrast.
/** @param {PairedTest} test @param {boolean} lower @returns {Partial<Contrast>} */
export function testedContrast({ difference, low, high, p }, lower) {
  const ends = [low, high].map((end) => (missing(end) ? null : lower ? -end : end));
  const [from, to] = lower ? ends.reverse() : ends;
  const lead = lower ? -difference : difference;
  const winner = p < ALPHA && lead ? (lead > 0 ? "first" : "second") : "";
  return { lead, low: from, high: to, p, test: "examples", winner, among: 0 };
}

// The verdict of a tested order on two systems: those that share a group are not significantly different.
/** @param {TestedOrder} order @param {System[]} pair @param {number} lead @returns {Partial<Contrast>} */
export function orderedContrast(order, [first, second], lead) {
  const isTested = (/** @type {System} */ { id }) => order.ranges.has(id) && !order.untested.has(id);
  if (!order.test || !isTested(first) || !isTested(second)) return {};
  const tied = order.groups.some((group) => group.includes(first.id) && group.includes(second.id));
  const winner = tied || !lead ? "" : lead > 0 ? "first" : "second";
  return { test: order.test, winner, among: testedCounts(order).tested };
}

// A column of the leaderboard with the leaderboard's own verdict. More systems than have letters are not tested together:
// then the compared ones are.
/**
 * @param {ComparedPair} compared
 * @param {Pick<Contrast, "level" | "id" | "title"> & Partial<Contrast>} about
 * @returns {Contrast | null}
 */
function columnContrast({ board, pair, systems, tests }, about) {
  const [first, second] = pair.map((system) => wholeFigure(board, system, about.id));
  if (first === null || second === null) return null;
  const table = columnTable(board, about.id);
  const lower = Boolean(table.by.lower);
  const lead = leadOf(lower, first, second);
  const paired = tests.get(about.id);
  const own = () => {
    const others = systems.filter((system) => wholeFigure(board, system, about.id) !== null);
    if (table.ranked <= MOST_LETTERED) return orderedContrast(table.order, pair, lead);
    return {
      ...orderedContrast(
        orderAmong(table, others, ({ at }) => table.values[at]),
        pair,
        lead,
      ),
      alone: true,
    };
  };
  // One plot has one population: pairs with predictions are tested on examples.
  const tested = paired ? testedContrast(paired, lower) : tests.size ? {} : own();
  return { ...UNTESTED_CONTRAST, shared: 0, of: 0, lower, first, second, lead, ...about, ...tested };
}

/** @param {ComparedPair} compared @param {Task} task @param {string} code @returns {Contrast} */
function cellContrast({ board, pair, tests }, task, code) {
  const test = tests.get(`${task.id}/${code}`);
  // Tests are of the main score, also if other systems have only one of its metrics in languages.
  const place = task.languages.indexOf(code);
  const [first, second] = pair.map((system) =>
    test ? task.scores[system.at * task.languages.length + place] : cellScore(task, system, code),
  );
  const lower = task.lower_is_better;
  const about = { level: "cell", id: `${task.id}/${code}`, title: languageName(board, code), task, code };
  const lead = leadOf(lower, first, second);
  const tested = test ? testedContrast(test, lower) : {};
  return { ...UNTESTED_CONTRAST, ...about, shared: 1, of: 1, lower, first, second, lead, ...tested };
}

/** @param {Task} task @param {System[]} systems */
export const sharedCodes = (task, systems) =>
  task.languages.filter((code) => systems.every((system) => !Number.isNaN(cellScore(task, system, code))));

// The paired test of an average over what both systems have: marked by a star, as in `isogloss compare`.
/** @param {ComparedPair["tests"]} tests @param {string} id @param {boolean} lower @returns {Partial<Contrast>} */
function partialTest(tests, id, lower) {
  const test = tests.get(`${id}*`);
  return test ? testedContrast(test, lower) : {};
}

// A task: its complete average, or its mean over the languages that both systems have.
/** @param {ComparedPair} compared @param {Task} task @param {Contrast[]} cells @returns {Contrast | null} */
function taskContrast(compared, task, cells) {
  const counts = { task, shared: cells.length, of: task.languages.length };
  const whole = columnContrast(compared, { level: "task", id: task.id, title: task.name, ...counts });
  if (whole || !cells.length) return whole;
  const [first, second] = [weightedMean(cells.map((c) => c.first)), weightedMean(cells.map((c) => c.second))];
  const lower = task.lower_is_better;
  // Tested cells have the main score, whatever other systems have.
  const title = cells.every(({ test }) => test) ? task.name : cellTitle(task);
  const about = { level: "task", id: task.id, title, lower, first, second, lead: leadOf(lower, first, second) };
  return { ...UNTESTED_CONTRAST, ...about, ...counts, ...partialTest(compared.tests, task.id, lower) };
}

// The average of what two systems share, by the suite's rule, if they do not share everything.
/** @param {ComparedPair} compared @param {Contrast[]} tasks @returns {Contrast | null} */
function sharedContrast({ board, pair, systems, tests }, tasks) {
  if (!tasks.length) return null;
  const table = columnTable(board, "overall");
  const mixed = new Set(tasks.map(({ lower }) => lower)).size > 1;
  const lower = !mixed && tasks[0].lower;
  const columns = tasks.flatMap(({ task, ...contrast }) => (task ? [sharedColumnOf(board, task, contrast, pair)] : []));
  /** @param {"first" | "second"} side */
  const figure = (side) =>
    overallFigure(
      board.rule.name,
      columns.map(({ task, codes }, at) => {
        const value = tasks[at][side];
        return {
          id: task.id,
          category: task.category,
          codes,
          scores: [],
          figure: mixed && task.lower_is_better ? 100 - value : value,
        };
      }),
      { language: board.language },
    );
  const [first, second] = [figure("first"), figure("second")];
  const lead = leadOf(lower, first, second);
  const title = tasks.length === 1 ? sharedTitle(board, tasks[0], columns[0]) : `Average of ${tasks.length} shared tasks`;
  const about = {
    level: "shared",
    id: "shared",
    title,
    lower,
    first,
    second,
    lead,
    shared: tasks.length,
    of: board.tasks.length,
  };
  // One plot has one population: pairs with predictions are tested on examples. Three and more systems share other cells
  // than two, so that only two are tested over the languages of theirs.
  const choice = { ...table.choice, ranking: board.rule.name, narrowed: true };
  const by = /** @type {ScoreColumn} */ ({ ...table.by, id: "shared", kind: "overall", lower });
  const values = new Map([
    [pair[0], first],
    [pair[1], second],
  ]);
  const testable = !mixed && !tests.size && systems.length === 2;
  const order = testable
    ? orderAmong({ ...table, columns, choice, by }, pair, (system) => Number(values.get(system)))
    : null;
  const single = tasks.length === 1 && tasks[0].test ? tasks[0] : null;
  return {
    ...UNTESTED_CONTRAST,
    ...about,
    ...(order ? { ...orderedContrast(order, pair, lead), alone: true } : {}),
    ...(single ? testOf(single) : partialTest(tests, "overall", lower)),
  };
}

// The only task that two systems share, with its languages if they are not all.
/** @param {Board} board @param {Contrast} task @param {Maybe<CellColumn>} column */
function sharedTitle(board, { title, shared, of }, column) {
  if (!shared || shared === of) return title;
  return `${title} in ${shared === 1 && column ? languageName(board, column.codes[0]) : `${shared} of ${of} languages`}`;
}

/** @param {Contrast} contrast */
const testOf = ({ low, high, p, test, winner, among, alone }) => ({ low, high, p, test, winner, among, alone });

/** @param {Board} board @param {Task} task @param {{ id: string }} contrast @param {System[]} pair @returns {CellColumn} */
function sharedColumnOf(board, task, { id }, pair) {
  const whole = pair.every((system) => wholeFigure(board, system, id) !== null);
  const codes = whole ? task.languages : sharedCodes(task, pair);
  const places = codes.map((code) => task.languages.indexOf(code));
  return { task, codes, places, whole, scores: whole ? task.scores : task.cells, metric: whole ? "" : task.cellMetric };
}

// A language: the mean lead over the tasks that both have in it. Only a single task has a test.
/** @param {Board} board @param {Contrast[]} cells @returns {Contrast[]} */
function languageContrasts(board, cells) {
  return [...groupedBy(cells, ({ code }) => code ?? "")].map(([code, own]) => ({
    ...UNTESTED_CONTRAST,
    level: "language",
    id: code,
    code,
    title: languageName(board, code),
    lower: own.every(({ lower }) => lower),
    first: weightedMean(own.map((c) => c.first)),
    second: weightedMean(own.map((c) => c.second)),
    lead: weightedMean(own.map((c) => c.lead)),
    shared: own.length,
    of: board.tasks.filter((task) => task.place.has(code)).length,
    ...(own.length === 1 ? testOf(own[0]) : {}),
    parts: own,
  }));
}

// All contrasts of two systems. `systems` are all that the page compares; `tests` holds the paired tests, first minus second.
/** @param {ComparedPair} compared @returns {PairContrasts} */
export function pairContrasts(compared) {
  const { board, pair, tests } = compared;
  const cellsOf = new Map(
    board.tasks.map((task) => [task, sharedCodes(task, pair).map((code) => cellContrast(compared, task, code))]),
  );
  const tasks = board.tasks.map((task) => taskContrast(compared, task, cellsOf.get(task) ?? [])).filter(Boolean);
  const categories = board.categories
    .filter(({ tasks: members }) => members.length > 1 && board.categories.length > 1)
    .map(({ name }) => columnContrast(compared, { level: "category", id: name, title: categoryTitle(name) }))
    .filter(Boolean);
  const whole = columnContrast(compared, { level: "overall", id: "overall", title: "Overall" });
  // The test of the only task is that of the overall score.
  const only = board.tasks.length === 1 && tests.size && !tests.has("overall") ? tasks[0] : null;
  const overall = whole && only ? { ...whole, ...testOf(only) } : whole;
  const cells = [...cellsOf.values()].flat();
  const top = overall ?? sharedContrast(compared, tasks);
  return {
    top,
    complete: Boolean(overall),
    categories: overall ? categories : [],
    // A single task is all that they share: its verdict is the same.
    tasks: top && tasks.length === 1 ? [{ ...tasks[0], ...testOf(top) }] : tasks,
    cells,
    languages: languageContrasts(board, cells),
  };
}
