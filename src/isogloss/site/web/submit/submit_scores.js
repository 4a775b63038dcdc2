// The scores of a submission, with what is missing from each average.
import { categoryTitle } from "../board/describe.js";
import { byId, element, listed, scoreText } from "../page/dom.js";

const MOST_MISSING = 6;
/** @type {{ tasks: Record<string, string>, languages: Record<string, string> }} */
let names = { tasks: {}, languages: {} };

/** @param {{ tasks: Record<string, string>, languages: Record<string, string> }} given */
export const setNames = (given) => (names = given);

const languageTitle = (/** @type {string} */ code) => names.languages[code] ?? code;

// A task's title up to its colon, or all of it if several start alike.
/** @param {string} id */
function shortTaskTitle(id) {
  const title = names.tasks[id] ?? id;
  const beginning = (/** @type {string} */ text) => text.split(":")[0];
  const alike = Object.values(names.tasks).filter((other) => beginning(other) === beginning(title));
  return alike.length > 1 ? title : beginning(title);
}

// Name a task or a cell such as `xnli/sw`.
/** @param {string} cell */
function cellName(cell) {
  const [, task, code] = /^(.*)\/([^/]*)$/.exec(cell) ?? [];
  return code ? `${shortTaskTitle(task)} in ${languageTitle(code)}` : shortTaskTitle(cell);
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
    ["Overall", versions.map(({ overall }) => overall), missing.map(cellName)],
    ...Object.keys(categories).map((id) => row("categories", id, categoryTitle(id), cellName)),
    ...Object.keys(tasks).map((id) => row("tasks", id, shortTaskTitle(id), languageTitle)),
  ];
}

// One row per average, one column per scorer version.
/** @param {any} submission */
export function showScores({ scores: versions }) {
  const table = byId("scores");
  table.hidden = !versions.length;
  if (!versions.length) return;
  const heads = ["Average", ...versions.map((/** @type {any} */ { scorer }) => scorer), "Missing"];
  table.tHead.replaceChildren(
    element(
      "tr",
      {},
      heads.map((text) => element("th", { scope: "col" }, text)),
    ),
  );
  table.tBodies[0].replaceChildren(
    ...averageRows(versions).map(([name, values, missing]) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, name),
        values.map((value) => element("td", { class: "number" }, scoreText(value))),
        element("td", {}, listed(missing, MOST_MISSING)),
      ),
    ),
  );
}

