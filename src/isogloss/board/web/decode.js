// Scores travel as hundredths in 14 bits, one after the other; the largest number says that there is none.
const SCORE_BITS = 14;
const NO_SCORE = 2 ** SCORE_BITS - 1;

function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const scores = new Float64Array(Math.floor((8 * bytes.length) / SCORE_BITS));
  for (let at = 0; at < scores.length; at++) {
    const bit = at * SCORE_BITS;
    const from = bit >> 3;
    const word = bytes[from] | (bytes[from + 1] << 8) | (bytes[from + 2] << 16);
    const hundredths = (word >> (bit & 7)) & NO_SCORE;
    scores[at] = hundredths === NO_SCORE ? NaN : hundredths / 100;
  }
  return scores;
}

const scoresIn = (scores) => scores.reduce((sum, score) => sum + !Number.isNaN(score), 0);

// Papers print some tasks by language in one metric only, and their average in all. Wherever single languages are shown,
// such a task shows that metric for all systems, so that they can be compared.
function languageScores(task, scores, single) {
  let best = { cells: scores, cellMetric: "" };
  for (const metric of task.metrics?.length > 1 ? task.metrics : []) {
    const other = single.get(`${task.id}:${metric}`);
    if (other && scoresIn(other) > scoresIn(best.cells)) best = { cells: other, cellMetric: metric };
  }
  return best;
}

// The metrics of tasks that average several; the last one follows from the others and their mean.
function singleMetrics(data) {
  const found = new Map(
    Object.keys(data.cells)
      .filter((name) => name.includes(":"))
      .map((name) => [name, unpacked(data.cells[name])]),
  );
  for (const { id, metrics = [] } of data.tasks.filter((task) => data.cells[task.id])) {
    const others = metrics.slice(0, -1).map((name) => found.get(`${id}:${name}`));
    if (!others.length || others.some((scores) => !scores)) continue;
    found.set(
      `${id}:${metrics.at(-1)}`,
      unpacked(data.cells[id]).map((mean, at) =>
        others.reduce((rest, scores) => rest - scores[at], metrics.length * mean),
      ),
    );
  }
  return found;
}

// Names for narrow columns: a title may go on after a colon. Where several begin alike, their ids tell them apart.
function shortNames(tasks) {
  const begun = tasks.map(({ name }) => name.split(":")[0]);
  return begun.map((name, at) =>
    begun.indexOf(name) === begun.lastIndexOf(name) ? name : tasks[at].id.replace(/^[^-]*-/, "").replaceAll("-", " "),
  );
}

// Systems by the names of their fields. Where several have one name, the full name says the regime too.
function openSystems(data) {
  const systems = data.systems.map((values, at) => {
    const system = Object.fromEntries(values.map((value, place) => [data.system_fields[place], value]));
    return { ...system, at, name: system.name.trim() || system.id };
  });
  const seen = new Set();
  const shared = new Set(systems.map(({ name }) => name).filter((name) => seen.has(name) || !seen.add(name)));
  for (const system of systems)
    system.fullName = shared.has(system.name) && system.regime ? `${system.name} (${system.regime})` : system.name;
  return systems;
}

// The board as the pages use it: scores unpacked, everything found by its name.
export function openBoard(data) {
  if (data?.schema !== 2) throw new Error("data.js is missing, or made for another version of these pages");
  const systems = openSystems(data);
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
      place: new Map(task.languages.map((code, at) => [code, at])),
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
  for (const system of systems)
    system.cells = tasks.reduce((sum, task) => sum + task.languages.length - missingLanguages(task, system).length, 0);
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

// Names by ids; what is not on the board keeps its id.
export const languageName = (board, code) => board.language.get(code)?.name ?? code;
export const taskName = (board, id) => board.task.get(id)?.name ?? id;
export const taskTitle = (board, id) => board.task.get(id)?.title ?? id;

const METRIC_TITLES = { f1: "F1", em: "exact match", "map@20": "mAP@20" };
export const metricTitle = (name) => METRIC_TITLES[name] ?? name;
export const metricsOf = (task) => task.metrics ?? [task.metric];
export const metricsText = (task) => metricsOf(task).map(metricTitle).join(" and ");

export const cellMetricText = (task) => (task.cellMetric ? metricTitle(task.cellMetric) : metricsText(task));

// A task's name where single languages are shown, with the metric if that is not the task's own figure.
export const cellTitle = (task) => (task.cellMetric ? `${task.name} ${task.cellMetric.toUpperCase()}` : task.name);

export function cellScore(task, system, code) {
  const at = task.place.get(code);
  return at === undefined ? NaN : task.cells[system.at * task.languages.length + at];
}

// The languages of a task that a system has no score for.
const missingLanguages = (task, system) => task.languages.filter((code) => Number.isNaN(cellScore(task, system, code)));

export const tasksWith = (board, code) => board.tasks.filter((task) => task.place.has(code));

// Whether any system has a score on a task in a language.
export const hasScores = (board, task, code) =>
  board.systems.some((system) => !Number.isNaN(cellScore(task, system, code)));

const askedFiles = new Map();

// A script of the site, loaded once when it is needed: pages from disk cannot fetch. False where it is not there.
export function scriptFile(path) {
  if (!askedFiles.has(path)) {
    askedFiles.set(
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
  return askedFiles.get(path);
}

const systemDetails = new Map();
globalThis.isoglossSystem = (id, detail) => systemDetails.set(id, detail);

// What is known of one system beyond data.js; null where its file is not there.
export async function systemDetail(id) {
  await scriptFile(`systems/${encodeURIComponent(id)}.js`);
  return systemDetails.get(id) ?? null;
}

// A cell as the system's own file has it, with the interval of the score that is shown; null where that file has no such
// cell. Reported figures have no more than the board itself.
export async function cellDetail(system, task, code) {
  if (system.reported) return null;
  const detail = await systemDetail(system.id);
  const cell = detail?.cells?.find((each) => each.task === task.id && each.language === code);
  if (!cell) return null;
  const [, low = null, high = null] = cell.metrics[task.cellMetric || task.metric] ?? [];
  return { ...cell, low, high };
}
