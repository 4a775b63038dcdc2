import { categoryTitle } from "../board/describe.js";
import { coveragePatterns } from "../board/coverage.js";
import { countText, element, link, listed, nameOf, plural } from "../page/dom.js";
import { taskLink } from "../board/parts.js";
import { groupedBy } from "../board/ranking.js";
import { hashOf } from "../page/state.js";

const MOST_PATTERNS = 60;
const MOST_NAMED = 3;

// Which systems cover which tasks: a row per group of systems with the same cells, a column per task.
/** @param {Board} board @param {System[]} systems */
export function coverageMatrix(board, systems) {
  const all = coveragePatterns(board, systems);
  const patterns = all.slice(0, MOST_PATTERNS);
  const groups = [...groupedBy(board.tasks, ({ category }) => category)];
  const tasks = groups.flatMap(([, own]) => own);
  const starts = new Set(groups.map(([, own]) => own[0]));
  /** @param {Task} task */
  const side = (task) => (starts.has(task) ? " starts" : "");
  const head = element(
    "thead",
    {},
    element(
      "tr",
      { class: "groups" },
      element("td"),
      groups.map(([name, own]) => element("th", { colspan: own.length, scope: "colgroup" }, categoryTitle(name))),
    ),
    element(
      "tr",
      {},
      element("th", { scope: "col", class: "system" }, "Systems"),
      tasks.map((task) =>
        element(
          "th",
          { scope: "col", class: side(task).trim() || null },
          taskLink(task),
          element("span", { class: "of" }, plural(task.languages.length, "language")),
        ),
      ),
    ),
  );
  /** @param {CoveragePattern} pattern */
  const row = (pattern) =>
    element(
      "tr",
      { "data-key": pattern.systems[0].id },
      element("th", { scope: "row", class: "system" }, patternName(board, pattern)),
      tasks.map((task) => coverageCell(pattern.tasks[board.tasks.indexOf(task)], side(task))),
    );
  return element(
    "div",
    { class: "coverage" },
    matrixKey(),
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Coverage of the tasks" },
      element("table", { class: "data cover" }, head, element("tbody", {}, patterns.map(row))),
    ),
    all.length > patterns.length
      ? element("p", { class: "soft" }, `Showing the ${MOST_PATTERNS} widest of ${countText(all.length)} patterns.`)
      : null,
  );
}

/** @param {TaskCoverage} coverage @param {string} side */
function coverageCell({ n, of, average }, side) {
  if (!n && !average) return element("td", { class: `cell untested${side}` }, element("span", { class: "sr" }, "none"));
  if (average) return element("td", { class: `cell average${side}` }, "average");
  const cell = element("td", { class: `cell ${n === of ? "full" : "part"}${side}` }, n === of ? "all" : `${n}/${of}`);
  cell.style.setProperty("--share", `${Math.round((100 * n) / of)}%`);
  return cell;
}

const matrixKey = () =>
  element(
    "p",
    { class: "legend" },
    [
      ["full", "all languages"],
      ["part", "some languages"],
      ["average", "only a published average"],
      ["untested", "no results"],
    ].map(([name, text]) => element("span", {}, element("i", { class: `square ${name}` }), text)),
  );

// One system is named; several are counted, with the tasks that they cover, and unfold to their names.
/** @param {Board} board @param {CoveragePattern} pattern */
function patternName(board, { systems, tasks }) {
  /** @param {System} system */
  const named = (system) => link(hashOf(["system", system.id]), nameOf(system.fullName));
  if (systems.length === 1) return named(systems[0]);
  return element(
    "details",
    {},
    element(
      "summary",
      {},
      element("b", {}, plural(systems.length, "system")),
      " ",
      element("span", { class: "under" }, coveredText(board, tasks)),
    ),
    element("ul", {}, systems.map((system) => element("li", {}, named(system)))),
  );
}

// "Tatoeba only", "XNLI, XCOPA", "all tasks", "all tasks but XNLI", "all tasks, WikiANN in part".
/** @param {Board} board @param {TaskCoverage[]} coverage */
export function coveredText({ tasks }, coverage) {
  const isPart = coverage.map(({ n, of, average }) => n > 0 && n < of && !average);
  const covered = tasks.filter((_, at) => coverage[at].n || coverage[at].average);
  const parts = tasks.filter((_, at) => isPart[at]).map(({ name }) => `${name} in part`);
  const absent = tasks.filter((task) => !covered.includes(task));
  const more = parts.length ? `, ${parts.length > MOST_NAMED ? `${parts.length} in part` : listed(parts)}` : "";
  if (!covered.length) return "no results";
  if (!absent.length) return `all tasks${more}`;
  if (absent.length === 1 && covered.length > MOST_NAMED) return `all tasks but ${absent[0].name}${more}`;
  if (covered.length === 1) return parts.length ? parts[0] : `${covered[0].name} only`;
  const names = covered.map(({ name }) => name);
  return listed(
    names.map((name) => (parts.includes(`${name} in part`) ? `${name} in part` : name)),
    MOST_NAMED,
  );
}
