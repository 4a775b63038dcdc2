import { intervalText, provenanceLines, unparsedText } from "./describe.js";
import { cellDetail, cellMetricText, cellScore, languageName } from "./decode.js";
import { element, link, plural, scoreText } from "../page/dom.js";
import { hashOf } from "../page/state.js";

/** @param {Language} language */
export const languageLink = (language) => link(hashOf(["language", language.code]), language.name);
/** @param {string} name */
export const familyLink = (name) => link(hashOf(["family", name]), name);
/** @param {Task} task */
export const taskLink = (task) => link(hashOf(["task", task.id]), task.name);
/** @param {Language} language */
export const autonym = (language) =>
  language.autonym && language.autonym !== language.name
    ? element("bdi", { lang: language.code, dir: language.rtl ? "rtl" : "ltr", class: "autonym" }, language.autonym)
    : null;

// Order languages by family, branch and name.
/** @param {Language} a @param {Language} b */
export const byFamily = (a, b) =>
  a.family.localeCompare(b.family) || a.branch.localeCompare(b.branch) || a.name.localeCompare(b.name);

/** @param {Child[][]} pairs */
export const facts = (pairs) =>
  element(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
  );

/** @param {...Child} parts */
export const crumbs = (...parts) =>
  element(
    "nav",
    { class: "crumbs", "aria-label": "Breadcrumbs" },
    parts.flatMap((part, at) => (at ? [" › ", part] : [part])),
  );

/** @param {Board} board @param {System} system @param {Task} task @param {string} code @returns {TipLine[]} */
export const cellTip = (board, system, task, code) => {
  const score = cellScore(task, system, code);
  return [
    `${system.name} · ${task.name} · ${languageName(board, code)}: ${scoreText(score)}`,
    `${cellMetricText(task)}; ${plural(task.n[task.languages.indexOf(code)] || NaN, "test example")}`,
    ...provenanceLines(board, system, task, code),
    cellDetail(system, task, code).then((cell) => cell && [intervalText(cell), unparsedText(cell.unparsed)]),
  ];
};

/** @param {string} text @returns {Page} */
export const nothing = (text) => ({
  title: "Not found",
  view: () => [element("h1", {}, "Not found"), element("p", {}, text, " ", link("#/", "Back to the leaderboard"))],
});

/** @param {Child} title @param {...Child} more */
export const pageHead = (title, ...more) => element("header", {}, element("h1", {}, title), more);

// A table without sorting, from rows of cells. A tall one scrolls. Headings after the first `words` columns are those of
// numbers.
/** @param {string} label @param {Child[]} headings @param {Child[][]} rows @param {{ tall?: boolean, words?: number }} [options3] */
export const plainTable = (label, headings, rows, { tall = false, words = headings.length } = {}) =>
  framedTable(
    label,
    headings,
    rows.map((cells) => element("tr", {}, cells)),
    { className: tall ? "tall" : "", isNumber: (at) => at >= words },
  );

// The same from rows that are elements.
/**
 * @param {string} label
 * @param {Child[]} headings
 * @param {HTMLElement[]} rows
 * @param {{ className?: string, isNumber: (at: number) => boolean }} options3
 */
export const framedTable = (label, headings, rows, { className = "", isNumber }) =>
  element(
    "div",
    { class: `scroll ${className}`.trim(), tabindex: "0", role: "region", "aria-label": label },
    element(
      "table",
      { class: "data plain" },
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          headings.map((heading, at) => element("th", { scope: "col", class: isNumber(at) ? "number" : null }, heading)),
        ),
      ),
      element("tbody", {}, rows),
    ),
  );
