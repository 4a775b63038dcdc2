import { intervalText, provenanceLines, unparsedText } from "./describe.js";
import { cellDetail, cellMetricText, cellScore, languageName } from "./decode.js";
import { element, link, scoreText } from "./dom.js";
import { hashOf } from "./state.js";

export const languageLink = (language) => link(hashOf(["language", language.code]), language.name);
export const familyLink = (name) => link(hashOf(["family", name]), name);
export const taskLink = (task) => link(hashOf(["task", task.id]), task.name);
export const autonym = (language) =>
  language.autonym && language.autonym !== language.name
    ? element("bdi", { lang: language.code, dir: language.rtl ? "rtl" : "ltr", class: "autonym" }, language.autonym)
    : null;

// An order of languages in which neighbours stand together.
export const byFamily = (a, b) =>
  a.family.localeCompare(b.family) || a.branch.localeCompare(b.branch) || a.name.localeCompare(b.name);

export const facts = (pairs) =>
  element(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
  );

export const crumbs = (...parts) =>
  element(
    "nav",
    { class: "crumbs", "aria-label": "Where this is" },
    parts.flatMap((part, at) => (at ? [" › ", part] : [part])),
  );

export const cellTip = (board, system, task, code) => {
  const score = cellScore(task, system, code);
  return [
    `${system.name} · ${task.name} · ${languageName(board, code)}: ${scoreText(score)}`,
    `${cellMetricText(task)}; ${task.n[task.languages.indexOf(code)] || "?"} test examples`,
    ...provenanceLines(board, system, task, code),
    cellDetail(system, task, code).then((cell) => cell && [intervalText(cell), unparsedText(cell.unparsed)]),
  ];
};

export const nothing = (text) => ({
  node: element(
    "div",
    {},
    element("h1", {}, "Nothing here"),
    element("p", {}, text, " ", link("#/", "To the leaderboard")),
  ),
  title: "Nothing here",
});

export const pageHead = (title, ...more) => element("header", {}, element("h1", {}, title), more);

// A table to be read, not sorted: its rows are lists of cells, nodes or texts. A tall one scrolls in its place.
export const plainTable = (label, headings, rows, { tall = false } = {}) =>
  element(
    "div",
    { class: tall ? "scroll tall" : "scroll", tabindex: "0", role: "region", "aria-label": label },
    element(
      "table",
      { class: "data plain" },
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          headings.map((heading) => element("th", { scope: "col" }, heading)),
        ),
      ),
      element(
        "tbody",
        {},
        rows.map((cells) => element("tr", {}, cells)),
      ),
    ),
  );
