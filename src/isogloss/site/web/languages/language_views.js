import { figureColours, figureShare, figureText, hatchedText, isSingle } from "./basis.js";
import { cellScore } from "../board/decode.js";
import { countText, element, missing, plural, scriptName } from "../page/dom.js";
import { exportButtons, fileColumn } from "../page/export.js";
import { scoreKey } from "../charts/heatmap.js";
import { relativeLines, relativeText, tipLines } from "./language_words.js";
import { autonym, familyLink, languageLink } from "../board/parts.js";
import { weightedMean } from "../board/ranking.js";
import { dataTable, sortRows } from "../page/table.js";
import { familyTree } from "./tree.js";

// A system's score in a language: the mean over the given tasks that have it.
/** @param {Task[]} tasks @param {System} system @param {string} code @returns {number | undefined} */
export function scoreIn(tasks, system, code) {
  const own = tasks.filter((task) => task.place.has(code));
  return own.length ? weightedMean(own.map((task) => cellScore(task, system, code))) : undefined;
}

/** @param {Board} board @param {Basis} basis */
export function treeView(board, basis) {
  const { scale, unit, paint, of } = figureColours(board, basis);
  return [
    scoreKey(...scale, paint, `${unit ? `% of ${basis.reference}; ` : ""}hatched: ${hatchedText(basis)}`, Boolean(unit)),
    familyTree(basis.languages, {
      valueOf: ({ code }) => of(code),
      textOf: ({ code }) => `${figureText(basis, code)}${isSingle(basis, code) ? " *" : ""}`,
      linesOf: (language) => tipLines(basis, language),
      paintOf: paint,
      ends: unit ? [0, 110] : scale,
      description: "Families, branches and languages",
    }),
    basis.few ? element("p", { class: "soft" }, "* rests on one task only.") : null,
  ];
}

// Download buttons for the figures that a map or a tree draws, in the order of the list.
/** @param {Board} board @param {Basis} basis */
export const languageFiles = (board, basis) =>
  exportButtons("languages", board, () => {
    const columns = listColumns(board, basis);
    const column = columns.find(({ id }) => id === "share");
    return { columns, rows: sortRows(basis.languages, { column, descending: true, natural: "desc" }) };
  });

/** @param {Board} board @param {Basis} basis @param {URLSearchParams} params */
export function listView(board, basis, params) {
  const columns = listColumns(board, basis);
  const table = dataTable({
    columns,
    rows: basis.languages,
    params,
    start: "share",
    label: "Languages",
    rowKey: ({ code }) => code,
  });
  const line = element(
    "div",
    { class: "line" },
    element("span", { class: "soft" }, plural(basis.languages.length, "language")),
    exportButtons("languages", board, () => ({ columns, rows: table.sorted })),
  );
  return [line, table.node];
}

/** @param {Board} board @param {Basis} basis @returns {TableColumn<Language>[]} */
function listColumns(board, basis) {
  /** @param {Language} language */
  const partsOf = ({ code }) => basis.relative.get(code)?.parts ?? [];
  const { task, reference } = basis;
  return [
    {
      id: "name",
      title: "Language",
      heads: true,
      value: ({ name }) => name,
      show: (language) => [languageLink(language), " ", autonym(language)],
    },
    { ...fileColumn("code", "Code", ({ code }) => code), onlyInFiles: true },
    {
      id: "share",
      title: `% of ${reference}`,
      numeric: true,
      className: "number",
      value: ({ code }) => 100 * (basis.relative.get(code)?.share ?? NaN),
      show: ({ code }) => (basis.relative.has(code) ? figureShare(basis.relative.get(code)?.share ?? NaN) : "–"),
      score: true,
    },
    {
      id: "tasks",
      title: `Tasks with ${reference}`,
      numeric: true,
      className: "number",
      value: (language) => partsOf(language).length,
    },
    {
      id: "speakers",
      title: "Speakers",
      numeric: true,
      className: "number",
      value: ({ speakers }) => speakers,
      show: ({ speakers }) => (missing(speakers) ? "unknown" : countText(speakers)),
    },
    { id: "family", title: "Family", value: ({ family }) => family, show: ({ family }) => familyLink(family) },
    { id: "script", title: "Script", value: ({ script }) => scriptName(script) },
    {
      id: "parts",
      title: task ? "Score and system" : "Every score",
      className: "parts",
      value: (language) => partsOf(language).map(relativeText).join("; "),
      show: (language) => (partsOf(language).length ? relativeLines(partsOf(language), language.code) : "no score to compare"),
    },
  ];
}
