// The scores of a submission, with what is missing from each average.
import { AVERAGES } from "./submit_labels.js";
import { byId, element } from "./submit_page.js";

const MOST_MISSING = 6;
/** @type {{ tasks: Record<string, string>, languages: Record<string, string> }} */
let names = { tasks: {}, languages: {} };

/** @param {{ tasks: Record<string, string>, languages: Record<string, string> }} given */
export const setNames = (given) => (names = given);

const scoreText = (/** @type {number | null | undefined} */ value) =>
  value === null || value === undefined ? "–" : value.toFixed(1);

const languageName = (/** @type {string} */ code) => names.languages[code] ?? code;

// A task's title up to its colon, or all of it if several start alike.
/** @param {string} id */
function taskName(id) {
  const title = names.tasks[id] ?? id;
  const beginning = (/** @type {string} */ text) => text.split(":")[0];
  const alike = Object.values(names.tasks).filter((other) => beginning(other) === beginning(title));
  return alike.length > 1 ? title : beginning(title);
}

// Name a task or a cell such as `xnli/sw`.
/** @param {string} cell */
function cellName(cell) {
  const [, task, code] = /^(.*)\/([^/]*)$/.exec(cell) ?? [];
  return code ? `${taskName(task)} in ${languageName(code)}` : taskName(cell);
}

// The averages of a submission: name, value per scorer version, and the missing cells of the newest.
/** @param {any[]} versions @returns {[string, (number | null)[], string[]][]} */
function averageRows(versions) {
  const { missing, incomplete, categories, tasks } = versions.at(-1);
  /**
   * @param {string} level
   * @param {string} id
   * @param {string} name
   * @param {(cell: string) => string} nameOf
   * @returns {[string, (number | null)[], string[]]}
   */
  const row = (level, id, name, nameOf) => [
    name,
    versions.map((version) => version[level][id]),
    (incomplete[id] || []).map(nameOf),
  ];
  return [
    [AVERAGES.overall, versions.map(({ overall }) => overall), missing.map(cellName)],
    ...Object.keys(categories).map((id) => row("categories", id, AVERAGES[id] ?? id, cellName)),
    ...Object.keys(tasks).map((id) => row("tasks", id, taskName(id), languageName)),
  ];
}

// One row per average, one column per scorer version.
/** @param {any} submission */
export function showScores({ scores: versions }) {
  const table = byId("scores");
  table.hidden = !versions.length;
  if (!versions.length) return;
  const head = element("tr");
  for (const text of ["Average", ...versions.map((/** @type {any} */ { scorer }) => scorer), "Missing"])
    element("th", text, head).scope = "col";
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren();
  for (const [name, values, missing] of averageRows(versions)) {
    const row = element("tr", undefined, table.tBodies[0]);
    element("th", name, row).scope = "row";
    for (const value of values) element("td", scoreText(value), row).className = "number";
    const more = missing.length > MOST_MISSING ? ` and ${missing.length - MOST_MISSING} more` : "";
    element("td", missing.slice(0, MOST_MISSING).join(", ") + more, row);
  }
}

