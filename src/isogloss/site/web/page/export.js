import { download, element, missing, printable, printedScore } from "./dom.js";

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
      : printable(value).replace(/[&%$#_{}~^\\<>–…]/g, (sign) => LATEX_SIGNS[sign]);

// Files contain the numbers as shown on the page.
/** @param {TableColumn} column @param {any} row */
const seenValue = (column, row) => {
  const value = column.value?.(row);
  return column.score && typeof value === "number" ? printedScore(value) : value;
};
/** @param {Columns} columns */
const fileColumns = (columns) => columns.filter(({ value, inFiles = true }) => value && inFiles);
/** @param {TableColumn} column */
const fileTitle = (column) => column.fileTitle ?? column.title;

/** @param {Columns} columns @param {any[]} rows */
export const asCsv = (columns, rows) =>
  [
    fileColumns(columns).map((column) => csvCell(fileTitle(column))),
    ...rows.map((row) => fileColumns(columns).map((column) => csvCell(seenValue(column, row)))),
  ]
    .map((cells) => `${cells.join(",")}\n`)
    .join("");

/** @param {Columns} columns @param {any[]} rows @param {Record<string, unknown>} about */
export const asJson = (columns, rows, about) =>
  JSON.stringify(
    {
      ...about,
      columns: fileColumns(columns).map((column) => ({ id: column.id, title: fileTitle(column) })),
      rows: rows.map((row) =>
        Object.fromEntries(
          fileColumns(columns).map((column) => {
            const value = seenValue(column, row);
            return [column.id, missing(value) ? null : value];
          }),
        ),
      ),
    },
    null,
    1,
  );

/** @param {Columns} columns @param {any[]} rows @param {{ page: string }} about */
export function asLatex(columns, rows, about) {
  const shown = fileColumns(columns);
  /** @param {TableColumn} column @param {any} row */
  const format = (column, row) => {
    const value = seenValue(column, row);
    const mark = column.mark?.(row) === "partial" ? "$^{\\circ}$" : "";
    return column.score && typeof value === "number" ? `${value.toFixed(1)}${mark}` : latexCell(value);
  };
  return [
    `% ${printable(about.page)}`,
    `\\begin{tabular}{${shown.map(({ numeric }) => (numeric ? "r" : "l")).join("")}}`,
    "\\toprule",
    `${shown.map((column) => latexCell(fileTitle(column))).join(" & ")} \\\\`,
    "\\midrule",
    ...rows.map((row) => `${shown.map((column) => format(column, row)).join(" & ")} \\\\`),
    "\\bottomrule",
    "\\end{tabular}",
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

// Download buttons for a table; `current()` returns its columns, its rows in order, and further facts for JSON.
/** @param {string} name @param {Board} board @param {() => { columns: Columns, rows: any[], more?: object }} current */
export function exportButtons(name, board, current) {
  const about = () => ({ page: location.href, made: board.made, isogloss: board.isogloss, suite: board.suite });
  /** @type {[string, string, string, (columns: Columns, rows: any[], more?: object) => string][]} */
  const kinds = [
    ["CSV", "csv", "text/csv", (columns, rows) => asCsv(columns, rows)],
    ["JSON", "json", "application/json", (columns, rows, more) => asJson(columns, rows, { ...about(), ...more })],
    ["LaTeX", "tex", "text/x-tex", (columns, rows) => asLatex(columns, rows, about())],
  ];
  return element(
    "div",
    { class: "files", role: "group", "aria-label": "Download" },
    kinds.map(([title, ending, type, text]) =>
      element(
        "button",
        {
          type: "button",
          click: () => {
            const { columns, rows, more } = current();
            download(`${name}.${ending}`, type, text(columns, rows, more));
          },
        },
        title,
      ),
    ),
  );
}
