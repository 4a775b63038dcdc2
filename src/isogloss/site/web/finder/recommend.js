import { cellScore } from "../board/decode.js";
import { missing, printedScore } from "../page/dom.js";
import { ranksOf, weightedMean } from "../board/ranking.js";

// Systems shown for a wish.
const MOST_PICKS = 3;
const OVERALL = "overall";

// What a reader asks for, from the address. Unknown tasks and languages and invalid sizes count as "any".
/** @param {Board} board @param {URLSearchParams} params @returns {Wish} */
export function wishOf(board, params) {
  const id = params.get("task") ?? "";
  const category = board.categories.find(({ name }) => name === id);
  const task = board.task.get(id);
  const millions = Number(params.get("pmax"));
  const asked = {
    language: board.language.get(params.get("language") ?? "") ?? null,
    open: params.get("open") === "yes",
  };
  const most = Number.isFinite(millions) && millions > 0 ? millions : null;
  if (category)
    return {
      ...asked,
      most,
      kind: "category",
      id,
      tasks: category.tasks.flatMap((name) => board.task.get(name) ?? []),
    };
  if (task) return { ...asked, most, kind: "task", id, tasks: [task] };
  return { ...asked, most, kind: "any", id: OVERALL, tasks: board.tasks };
}

// The parameters of a wish, without those that are "any".
/** @param {Wish} wish @returns {Record<string, string>} */
export const wishParams = ({ kind, id, language, open, most }) =>
  Object.fromEntries(
    [
      ["task", kind === "any" ? "" : id],
      ["language", language?.code ?? ""],
      ["open", open ? "yes" : ""],
      ["pmax", missing(most) ? "" : String(most)],
    ].filter(([, value]) => value),
  );

// Whether a system meets the wish for open weights and size; undefined if it does not disclose them.
/** @param {System} system @param {Wish} wish @returns {boolean | undefined} */
export function meets({ open_weights: isOpen, parameters }, { open, most }) {
  const unknown = (open && missing(isOpen)) || (most !== null && missing(parameters));
  const fails = (open && isOpen === false) || (most !== null && (parameters ?? 0) > 1e6 * most);
  return fails ? false : unknown ? undefined : true;
}

// A system's score on a task in the wanted language, or its average over all languages of the task.
/** @param {Board} board @param {Task} task @param {System} system @param {Language | null} language */
const wantedScore = (board, task, system, language) =>
  language ? cellScore(task, system, language.code) : (board.averages.get(task.id)?.value[system.at] ?? NaN);

// The wanted tasks that have data in the wanted language.
/** @param {Wish} wish */
export const possibleTasks = ({ tasks, language }) =>
  language ? tasks.filter((task) => task.place.has(language.code)) : tasks;

// The mean over tasks. Next to scores, error rates count as 100 minus the rate.
/** @param {Task[]} tasks @param {number[]} values */
function meanOver(tasks, values) {
  const mixed = new Set(tasks.map((task) => task.lower_is_better)).size > 1;
  return weightedMean(values.map((value, at) => (mixed && tasks[at].lower_is_better ? 100 - value : value)));
}

/** @param {Task[]} tasks */
export const isLower = (tasks) => tasks.every((task) => task.lower_is_better);

// The published average of the whole wish over all its languages, or null.
/** @param {Board} board @param {Wish} wish */
const wholeAverage = (board, { language, kind, id }) =>
  language || kind === "task" ? null : (board.averages.get(id) ?? null);

/** @param {Board} board @param {Wish} wish @param {Task[]} tasks @param {System} system @returns {FinderPick} */
function pickOf(board, wish, tasks, system) {
  const parts = tasks.map((task) => ({ task, value: wantedScore(board, task, system, wish.language) }));
  const whole = tasks.length === wish.tasks.length ? wholeAverage(board, wish) : null;
  const average = whole ?? (!wish.language && tasks.length === 1 ? board.averages.get(tasks[0].id) : null);
  return {
    system,
    parts,
    value: average
      ? average.value[system.at]
      : meanOver(
          tasks,
          parts.map(({ value }) => value),
        ),
    low: average ? average.low[system.at] : NaN,
    high: average ? average.high[system.at] : NaN,
    rank: 0,
    lacking: [],
  };
}

// Systems with a score on all tasks, best first; equal printed scores share a rank.
/** @param {Board} board @param {Wish} wish @param {Task[]} tasks @param {System[]} systems @returns {FinderPick[]} */
function rankedOn(board, wish, tasks, systems) {
  const lower = isLower(tasks);
  const picks = systems
    .map((system) => pickOf(board, wish, tasks, system))
    .filter(({ value }) => !missing(value))
    .sort((a, b) => (lower ? a.value - b.value : b.value - a.value) || b.system.cells - a.system.cells);
  const ranks = ranksOf(
    picks.map(({ value }) => printedScore(value)),
    lower,
  );
  return picks.map((pick, at) => ({ ...pick, rank: ranks[at] ?? 0 }));
}

// Up to three systems, in groups that are ranked on the same tasks: first those with most tasks. Averages over different
// tasks are never in one ranking.
/** @param {Board} board @param {Wish} wish @param {Task[]} possible @param {System[]} systems @returns {PickGroup[]} */
function groupsOf(board, wish, possible, systems) {
  /** @type {Map<string, { tasks: Task[], count: number }>} */
  const sets = new Map();
  for (const system of systems) {
    const tasks = possible.filter((task) => !missing(wantedScore(board, task, system, wish.language)));
    const key = tasks.map(({ id }) => id).join("\n");
    if (tasks.length) sets.set(key, { tasks, count: (sets.get(key)?.count ?? 0) + 1 });
  }
  // Papers may print the average of a category without those of its tasks.
  const whole = wholeAverage(board, wish);
  if (whole && systems.some(({ at }) => !missing(whole.value[at]))) sets.set("", { tasks: possible, count: 0 });
  const ordered = [...sets.values()].sort((a, b) => b.tasks.length - a.tasks.length || b.count - a.count);
  /** @type {PickGroup[]} */
  const groups = [];
  const picked = new Set();
  for (const { tasks } of ordered) {
    const ranked = rankedOn(board, wish, tasks, systems);
    const picks = ranked.filter(({ system }) => !picked.has(system)).slice(0, MOST_PICKS - picked.size);
    for (const { system } of picks) picked.add(system);
    const lacking = possible.filter((task) => !tasks.includes(task));
    if (picks.length) groups.push({ tasks, total: ranked.length, picks: picks.map((pick) => ({ ...pick, lacking })) });
    if (picked.size === MOST_PICKS) break;
  }
  return groups;
}

// The best system on each task; of several with the same score the one with most results.
/** @param {Board} board @param {Wish} wish @param {Task[]} tasks @param {System[]} systems */
const bestByTask = (board, wish, tasks, systems) =>
  tasks.flatMap((task) => {
    const own = { ...wish, kind: "task", id: task.id, tasks: [task] };
    const ranked = rankedOn(board, own, [task], systems);
    return ranked.length ? [{ tasks: [task], total: ranked.length, picks: ranked.slice(0, 1) }] : [];
  });

// The systems with a score for a wish, whatever their weights and size.
/** @param {Board} board @param {Wish} wish */
function testedFor(board, wish) {
  const [average, tasks] = [wholeAverage(board, wish), possibleTasks(wish)];
  return board.systems.filter(
    (system) =>
      !missing(average?.value[system.at]) || tasks.some((task) => !missing(wantedScore(board, task, system, wish.language))),
  );
}

// The nearest language in which a system is tested on the wanted tasks: by likeness, then any of the family.
/** @param {Board} board @param {Wish} wish */
function nearestTested(board, wish) {
  const own = wish.language;
  if (!own) return null;
  const relatives = board.languages.filter(({ code, family }) => code !== own.code && family === own.family);
  const near = [...own.near.map((code) => board.language.get(code)), ...relatives];
  return near.find((language) => language && testedFor(board, { ...wish, language }).length) ?? null;
}

// Has a board a system for a wish, or for the same wish in a similar language?
/** @param {Board} board @param {Wish} wish */
export function hasAnswer(board, wish) {
  const tested = testedFor(board, wish);
  return tested.length ? tested.some((system) => meets(system, wish)) : nearestTested(board, wish) !== null;
}

// Find systems for a wish: in `groups` ranked on the same tasks; the best `byTask`, if tasks are not averaged or if another
// system is better on one of them; or what prevents an answer.
/** @param {Board} board @param {Wish} wish @returns {Recommendation} */
export function recommend(board, wish) {
  const tested = testedFor(board, wish);
  const near = tested.length ? null : nearestTested(board, wish);
  const kept = tested.filter((system) => meets(system, wish));
  const possible = possibleTasks(wish);
  const averaged = wish.kind !== "any" || !wish.language;
  // Without a task and a language, only complete systems are ranked.
  const groups = !averaged
    ? []
    : groupsOf(board, wish, possible, kept).filter(
        ({ tasks }) => wish.kind !== "any" || tasks.length === wish.tasks.length,
      );
  const picked = new Set(groups.flatMap(({ picks }) => picks.map(({ system }) => system)));
  const alone = possible.length > 1 ? bestByTask(board, wish, possible, kept) : [];
  /** @param {Partial<Wish>} change */
  const count = (change) => tested.filter((system) => meets(system, { ...wish, ...change })).length;
  return {
    wish,
    tested: tested.length,
    kept: kept.length,
    undisclosed: tested.filter((system) => meets(system, wish) === undefined).length,
    near,
    groups,
    byTask: groups.length ? alone.filter(({ picks: [best] }) => !picked.has(best.system)) : alone,
    without: {
      open: wish.open ? count({ open: false }) : 0,
      most: wish.most === null ? 0 : count({ most: null }),
      both: count({ open: false, most: null }),
    },
  };
}
