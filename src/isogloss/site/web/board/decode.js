import { otherLanguage } from "../page/dom.js";
import { redraw } from "../page/state.js";

// Scores are packed as hundredths in 14 bits each; the largest number means missing.
const SCORE_BITS = 14;
const NO_SCORE = 2 ** SCORE_BITS - 1;

/** @param {string} text */
function unpacked(text) {
  const bytes = atob(text);
  const scores = new Float64Array(Math.floor((8 * bytes.length) / SCORE_BITS));
  for (let at = 0; at < scores.length; at++) {
    const bit = at * SCORE_BITS;
    const from = bit >> 3;
    const word = bytes.charCodeAt(from) | (bytes.charCodeAt(from + 1) << 8) | (bytes.charCodeAt(from + 2) << 16);
    const hundredths = (word >> (bit & 7)) & NO_SCORE;
    scores[at] = hundredths === NO_SCORE ? NaN : hundredths / 100;
  }
  return scores;
}

/** @param {Float64Array} scores */
export const scoresIn = (scores) => scores.reduce((sum, score) => sum + (Number.isNaN(score) ? 0 : 1), 0);

// Papers report some tasks per language in one metric only, but the average in all. Per-language views use that metric for
// all systems, so that they are comparable.
/** @param {TaskData} task @param {Float64Array} scores @param {Map<string, Float64Array>} single */
function languageScores(task, scores, single) {
  let best = { cells: scores, cellMetric: "" };
  for (const metric of task.metrics && task.metrics.length > 1 ? task.metrics : []) {
    const other = single.get(`${task.id}:${metric}`);
    if (other && scoresIn(other) > scoresIn(best.cells)) best = { cells: other, cellMetric: metric };
  }
  return best;
}

// The single metrics of tasks that average several; the last one follows from the mean and the others.
/** @param {BoardData} data */
function singleMetrics(data) {
  const single = new Map(
    Object.keys(data.cells)
      .filter((name) => name.includes(":"))
      .map((name) => [name, unpacked(data.cells[name])]),
  );
  for (const { id, metrics = [] } of data.tasks.filter((task) => data.cells[task.id])) {
    const others = metrics.slice(0, -1).flatMap((name) => single.get(`${id}:${name}`) ?? []);
    if (!others.length || others.length < metrics.length - 1) continue;
    single.set(
      `${id}:${metrics.at(-1)}`,
      unpacked(data.cells[id]).map((mean, at) =>
        others.reduce((rest, scores) => rest - scores[at], metrics.length * mean),
      ),
    );
  }
  return single;
}

// Names for narrow columns: the title up to its colon, or the id if several titles start alike.
/** @param {TaskData[]} tasks */
function shortNames(tasks) {
  const begun = tasks.map(({ name }) => name.split(":")[0]);
  return begun.map((name, at) =>
    begun.indexOf(name) === begun.lastIndexOf(name) ? name : tasks[at].id.replace(/^[^-]*-/, "").replaceAll("-", " "),
  );
}

// Systems as records. The full name includes the regime if several systems share a name.
/** @param {BoardData} data */
function openSystems(data) {
  /** @type {System[]} */
  const systems = data.systems.map((values, at) => {
    /** @type {any} */
    const system = Object.fromEntries(values.map((value, place) => [data.system_fields[place], value]));
    return { ...system, at, name: system.name.trim() || system.id };
  });
  const seen = new Set();
  const shared = new Set(systems.map(({ name }) => name).filter((name) => seen.has(name) || !seen.add(name)));
  for (const system of systems)
    system.fullName = shared.has(system.name) && system.regime ? `${system.name} (${system.regime})` : system.name;
  return systems;
}

// Open the board's data: unpack scores and index everything by id.
/** @param {Maybe<BoardData>} data @returns {Board} */
export function openBoard(data) {
  if (data?.schema !== 3) throw new Error("data.js is missing or has another version");
  const systems = openSystems(data);
  /** @param {number} length */
  const none = (length) => new Float64Array(length).fill(NaN);
  const single = singleMetrics(data);
  const names = shortNames(data.tasks);
  const tasks = data.tasks.map((task, at) => {
    const scores = data.cells[task.id] ? unpacked(data.cells[task.id]) : none(systems.length * task.languages.length);
    return {
      ...task,
      name: names[at],
      title: task.name,
      scores,
      ...languageScores(task, scores, single),
      place: new Map(task.languages.map((code, index) => [code, index])),
    };
  });
  const averages = new Map(
    Object.entries(data.averages).map(([name, columns]) => [
      name,
      {
        value: unpacked(columns.value),
        low: columns.low ? unpacked(columns.low) : none(systems.length),
        high: columns.high ? unpacked(columns.high) : none(systems.length),
      },
    ]),
  );
  for (const system of systems) system.cells = tasks.reduce((sum, task) => sum + scoresIn(systemCells(task, system)), 0);
  const used = new Set(tasks.flatMap((task) => task.languages));
  const languages = data.languages
    .filter((language) => used.has(language.code))
    .sort((a, b) => a.name.localeCompare(b.name));
  return {
    ...data,
    tasks,
    averages,
    systems,
    languages,
    single,
    task: new Map(tasks.map((task) => [task.id, task])),
    system: new Map(systems.map((system) => [system.id, system])),
    language: new Map(languages.map((language) => [language.code, language])),
    cellCount: tasks.reduce((sum, task) => sum + task.languages.length, 0),
  };
}

// Return the name of an id, also of a language that is not on the board, or the id if it is unknown.
/** @param {Board} board @param {string} code */
export const languageName = (board, code) => board.language.get(code)?.name ?? otherLanguage(code);
/** @param {Board} board @param {string} id */
export const taskName = (board, id) => board.task.get(id)?.name ?? id;
/** @param {Board} board @param {string} id */
export const taskTitle = (board, id) => board.task.get(id)?.title ?? id;

/** @type {Record<string, string>} */
const METRIC_TITLES = { f1: "F1", em: "exact match", "map@20": "mAP@20" };
/** @param {string} name */
export const metricTitle = (name) => METRIC_TITLES[name] ?? name;
/** @param {Task} task */
export const metricsOf = (task) => task.metrics ?? [task.metric];
/** @param {Task} task */
export const metricsText = (task) => metricsOf(task).map(metricTitle).join(" and ");

/** @param {Task} task */
export const cellMetricText = (task) => (task.cellMetric ? metricTitle(task.cellMetric) : metricsText(task));

// A task's name in per-language views, with the metric if it is not the task's main score.
/** @param {Task} task */
export const cellTitle = (task) => (task.cellMetric ? `${task.name} ${task.cellMetric.toUpperCase()}` : task.name);

/** @param {Task} task @param {System} system @param {string} code */
export function cellScore(task, system, code) {
  const at = task.place.get(code);
  return at === undefined ? NaN : task.cells[system.at * task.languages.length + at];
}

/** @param {Pick<Task, "cells" | "languages">} task @param {System} system */
const systemCells = ({ cells, languages }, { at }) => cells.subarray(at * languages.length, (at + 1) * languages.length);

/** @param {Board} board @param {string} code */
export const tasksWith = (board, code) => board.tasks.filter((task) => task.place.has(code));

/** @param {Board} board @param {Task} task @param {string} code */
export const hasScores = (board, task, code) =>
  board.systems.some((system) => !Number.isNaN(cellScore(task, system, code)));

/** @type {Map<string, Load>} */
const scriptLoads = new Map();

// Load a script of the site once (pages opened from disk cannot fetch); resolve to false if it is missing.
/** @param {string} path @returns {Load} */
export function scriptFile(path) {
  if (!scriptLoads.has(path)) {
    scriptLoads.set(
      path,
      new Promise((resolve) => {
        const script = document.createElement("script");
        script.src = path;
        script.addEventListener("load", () => resolve(true));
        script.addEventListener("error", () => resolve(false));
        document.head.append(script);
      }),
    );
  }
  return scriptLoads.get(path) ?? Promise.resolve(false);
}

/** @type {Map<string, SystemDetail>} */
const systemDetails = new Map();
globalThis.isoglossSystem = (id, detail) => systemDetails.set(id, detail);

// Load the details of a system; null if its file is missing.
/** @param {string} id @returns {Promise<SystemDetail | null>} */
export async function systemDetail(id) {
  await scriptFile(`systems/${encodeURIComponent(id)}.js`);
  return systemDetails.get(id) ?? null;
}

/** @type {Map<string, Detail>} */
const loaded = new Map();

// The details of a system if they are loaded, null if its file is missing. Undefined while loading: the page redraws later.
/** @param {string} id @returns {Detail} */
export function loadedDetail(id) {
  if (!loaded.has(id)) {
    loaded.set(id, undefined);
    systemDetail(id).then((detail) => {
      loaded.set(id, detail);
      redraw();
    });
  }
  return loaded.get(id);
}

// A cell with the interval of its score; null if unknown. Reported systems have no details.
/** @param {System} system @param {Task} task @param {string} code */
export const cellDetail = async (system, task, code) =>
  system.reported ? null : cellOf(await systemDetail(system.id), task, code);

/**
 * @param {Detail} detail
 * @param {Task} task
 * @param {string} code
 * @returns {(SystemCell & { low: number | null, high: number | null }) | null}
 */
export function cellOf(detail, task, code) {
  const cell = detail?.cells?.find((item) => item.task === task.id && item.language === code);
  if (!cell) return null;
  const [, low = null, high = null] = cell.metrics[task.cellMetric || task.metric] ?? [];
  return { ...cell, low, high };
}
