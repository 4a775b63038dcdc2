import { download, element, missing, printable, printedScore, scoreText } from "./dom.js";
import { arrowKeys } from "./keys.js";

// Spreadsheets run such cells as formulas: quote them.
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
/** @type {Record<string, string>} */
const LATEX_SIGNS = {
  "&": "\\&",
  "%": "\\%",
  $: "\\$",
  "#": "\\#",
  _: "\\_",
  "{": "\\{",
  "}": "\\}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "\\": "\\textbackslash{}",
  "<": "$<$",
  ">": "$>$",
  "–": "--",
  "−": "$-$",
  "…": "\\dots{}",
};

/** @param {any} value */
function csvCell(value) {
  if (missing(value)) return "";
  if (typeof value === "number") return String(value);
  const text =
    FORMULA.test(value) || FORMULA.test(String(value).trimStart()) ? `'${printable(value)}` : printable(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {any} value */
export const latexCell = (value) =>
  missing(value)
    ? "--"
    : typeof value === "number"
      ? String(value)
      : printable(value).replace(/[&%$#_{}~^\\<>–−…]/g, (sign) => LATEX_SIGNS[sign]);

/** @param {any} score */
const shownScore = (score) => (typeof score === "number" ? printedScore(score) : score);

// Digits of other fractions, such as p-values, in files for people.
const DIGITS = 4;

/** @param {number} value */
const readable = (value) => (Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS)));

// The number of a file: scores as on the page, other numbers in the unit of the heading. Files for programs have all digits.
/** @param {TableColumn} column @param {any} row @param {boolean} exact */
function fileValue(column, row, exact) {
  const value = column.value?.(row);
  if (typeof value !== "number") return value;
  if (column.score) return printedScore(value);
  if (column.unit) return Number((value / column.unit.of).toPrecision(12));
  return exact ? value : readable(value);
}

/** @param {TableColumn} column */
const fileTitle = ({ fileTitle: own, title, unit }) => (own ?? title) + (unit ? ` (${unit.title})` : "");

/** @param {TableColumn} column @param {any[]} rows */
const hasIntervals = ({ interval }, rows) => Boolean(interval) && rows.some((row) => !missing(interval?.(row)?.low));

/** @param {unknown} value */
const blank = (value) => missing(value) || value === "";

/** @param {TableColumn} column @param {any[]} rows */
const isBlank = ({ value }, rows) => rows.length > 0 && rows.every((row) => blank(value?.(row)));

// The columns of a file, each with its interval, if any row has one. Files for people have no column that is blank in every row,
// such as the ranks of an untested order.
/** @param {Columns} columns @param {any[]} rows @param {boolean} exact @returns {{ id: string, title: string, of: (row: any) => any }[]} */
const fileColumns = (columns, rows, exact) =>
  columns
    .filter(({ value, inFiles = true }) => value && inFiles)
    .filter((column) => exact || !isBlank(column, rows))
    .flatMap((column) => {
      const [id, title] = [column.id, fileTitle(column)];
      const own = { id, title, of: (/** @type {any} */ row) => fileValue(column, row, exact) };
      if (!hasIntervals(column, rows)) return [own];
      return [
        own,
        { id: `${id}_low`, title: `${title}, 95 % from`, of: (row) => shownScore(column.interval?.(row)?.low) },
        { id: `${id}_high`, title: `${title}, 95 % to`, of: (row) => shownScore(column.interval?.(row)?.high) },
      ];
    });

// Rows without any score say nothing.
/** @param {Columns} columns @param {any[]} rows */
export function scoredRows(columns, rows) {
  const scores = columns.filter(({ score }) => score);
  return scores.length ? rows.filter((row) => scores.some(({ value }) => !missing(value?.(row)))) : rows;
}

/** @param {Columns} columns @param {any[]} rows */
export function asCsv(columns, rows) {
  const shown = fileColumns(columns, rows, false);
  return [shown.map(({ title }) => csvCell(title)), ...rows.map((row) => shown.map(({ of }) => csvCell(of(row))))]
    .map((cells) => `${cells.join(",")}\n`)
    .join("");
}

/** @param {Columns} columns @param {any[]} rows @param {Record<string, unknown>} about */
export function asJson(columns, rows, about) {
  const shown = fileColumns(columns, rows, true);
  /** @param {any} value */
  const known = (value) => (missing(value) ? null : value);
  return JSON.stringify(
    {
      ...about,
      columns: shown.map(({ id, title }) => ({ id, title })),
      rows: rows.map((row) => Object.fromEntries(shown.map(({ id, of }) => [id, known(of(row))]))),
    },
    null,
    1,
  );
}

// A score with its interval and the marks of the page; other numbers as people read them.
/** @param {TableColumn} column @param {any} row */
function latexFigure(column, row) {
  const value = column.value?.(row);
  if (column.latex) return column.latex(row);
  if (typeof value !== "number" || Number.isNaN(value)) return latexCell(value);
  if (!column.score) return latexCell(column.text ? column.text(value) : String(readable(value)));
  const mark = column.mark?.(row);
  const score = scoreText(value).replace("-", "$-$");
  const { low, high } = column.interval?.(row) ?? {};
  return [
    mark === "best" ? `\\textbf{${score}}` : score,
    mark === "partial" ? "$^{\\circ}$" : "",
    missing(low) || missing(high) || !column.axis ? "" : ` {\\scriptsize ${scoreText(low)}--${scoreText(high)}}`,
  ].join("");
}

/** @param {Columns} columns @param {any[]} rows @param {{ page: string, test?: string, figures?: string }} about */
export function asLatex(columns, rows, about) {
  const shown = columns.filter(({ value, onlyInFiles, inFiles = true }) => value && inFiles && !onlyInFiles);
  const notes = columns.find(({ id }) => id === "notes");
  const named = columns.find(({ heads }) => heads);
  const lines = rows.map((row) => `${shown.map((column) => latexFigure(column, row)).join(" & ")} \\\\`);
  return [
    `% ${printable(about.page)}`,
    ...[about.test, about.figures].filter(Boolean).map((text) => `% ${printable(text)}`),
    ...(lines.some((line) => line.includes("\\textit{")) ? ["% In italics: not tested."] : []),
    `\\begin{tabular}{${shown.map(({ numeric }) => (numeric ? "r" : "l")).join("")}}`,
    "\\toprule",
    `${shown.map(({ title, fileTitle: own }) => latexCell(own ?? title)).join(" & ")} \\\\`,
    "\\midrule",
    ...lines,
    "\\bottomrule",
    "\\end{tabular}",
    ...rows.filter((row) => notes?.value?.(row)).map((row) => `% ${printable(named?.value?.(row))}: ${printable(notes?.value?.(row))}`),
    "",
  ].join("\n");
}

// A column for files only.
/**
 * @param {string} id
 * @param {string} title
 * @param {(row: any) => any} value
 * @param {boolean} [numeric]
 * @returns {TableColumn}
 */
export const fileColumn = (id, title, value, numeric = false) => ({ id, title, value, numeric });

/** @typedef {[title: string, ending: string, type: string, make: () => string]} FileKind */

// Buttons that make files.
/** @param {string} name @param {FileKind[]} kinds */
function fileButtons(name, kinds) {
  const group = element(
    "div",
    { class: "files", role: "toolbar", "aria-label": "Download" },
    kinds.map(([title, ending, type, make]) =>
      element(
        "button",
        {
          type: "button",
          "data-key": `file-${name}-${ending}`,
          click: () => download(`${name}.${ending}`, type, make()),
        },
        title,
      ),
    ),
  );
  arrowKeys(group);
  return group;
}

/** @param {Board} board */
const aboutFile = (board) => ({ page: location.href, made: board.made, isogloss: board.isogloss, suite: board.suite });

/** @param {{ columns: Columns, rows: any[], more?: Record<string, any> }} current */
const filed = ({ columns, rows, more }) => ({ columns, rows: scoredRows(columns, rows), more });

/** @param {Board} board @param {() => { columns: Columns, rows: any[], more?: Record<string, any> }} current @returns {FileKind[]} */
const dataKinds = (board, current) => [
  [
    "CSV",
    "csv",
    "text/csv",
    () => {
      const { columns, rows } = filed(current());
      return asCsv(columns, rows);
    },
  ],
  [
    "JSON",
    "json",
    "application/json",
    () => {
      const { columns, rows, more } = filed(current());
      return asJson(columns, rows, { ...aboutFile(board), ...more });
    },
  ],
];

// Download buttons for a table; `current()` returns its columns, its rows in order, and further facts. Rows without any score
// are left out.
/** @param {string} name @param {Board} board @param {() => { columns: Columns, rows: any[], more?: Record<string, any> }} current */
export const exportButtons = (name, board, current) =>
  fileButtons(name, [
    ...dataKinds(board, current),
    [
      "LaTeX",
      "tex",
      "text/x-tex",
      () => {
        const { columns, rows, more } = filed(current());
        return asLatex(columns, rows, { ...aboutFile(board), ...more });
      },
    ],
  ]);
