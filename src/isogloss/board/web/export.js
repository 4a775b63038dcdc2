import { download, element, missing, printable, printedScore } from "./dom.js";

// A cell that a spreadsheet would run as a formula is made a text.
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
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

function csvCell(value) {
  if (missing(value)) return "";
  if (typeof value === "number") return String(value);
  const text =
    FORMULA.test(value) || FORMULA.test(String(value).trimStart()) ? `'${printable(value)}` : printable(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const latexCell = (value) =>
  missing(value)
    ? "--"
    : typeof value === "number"
      ? String(value)
      : printable(value).replace(/[&%$#_{}~^\\<>–…]/g, (sign) => LATEX_SIGNS[sign]);

// A number as it is seen: files hold what is on the screen.
const seenValue = (column, row) => {
  const value = column.value(row);
  return column.score && typeof value === "number" ? printedScore(value) : value;
};
const fileColumns = (columns) => columns.filter(({ value, inFiles = true }) => value && inFiles);
const fileTitle = (column) => column.fileTitle ?? column.title;

const asCsv = (columns, rows) =>
  [
    fileColumns(columns)
      .map((column) => csvCell(fileTitle(column)))
      .join(","),
    ...rows.map((row) =>
      fileColumns(columns)
        .map((column) => csvCell(seenValue(column, row)))
        .join(","),
    ),
  ].join("\n") + "\n";

const asJson = (columns, rows, about) =>
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

function asLatex(columns, rows, about) {
  const kept = fileColumns(columns);
  const format = (column, row) => {
    const value = seenValue(column, row);
    const mark = column.mark?.(row) === "partial" ? "$^{\\circ}$" : "";
    return column.score && typeof value === "number" ? `${value.toFixed(1)}${mark}` : latexCell(value);
  };
  return (
    [
      `% ${printable(about.page)}`,
      `\\begin{tabular}{${kept.map(({ numeric }) => (numeric ? "r" : "l")).join("")}}`,
      "\\toprule",
      `${kept.map((column) => latexCell(fileTitle(column))).join(" & ")} \\\\`,
      "\\midrule",
      ...rows.map((row) => `${kept.map((column) => format(column, row)).join(" & ")} \\\\`),
      "\\bottomrule",
      "\\end{tabular}",
    ].join("\n") + "\n"
  );
}

// Buttons for the files of a table; `current()` gives its columns and rows in the order that is seen.
export function exportButtons(name, board, current) {
  const about = () => ({ page: location.href, made: board.made, isogloss: board.isogloss, suite: board.suite });
  const kinds = [
    ["CSV", "csv", "text/csv", (columns, rows) => asCsv(columns, rows)],
    ["JSON", "json", "application/json", (columns, rows) => asJson(columns, rows, about())],
    ["LaTeX", "tex", "text/x-tex", (columns, rows) => asLatex(columns, rows, about())],
  ];
  return element(
    "div",
    { class: "files", role: "group", "aria-label": "Download what is shown" },
    kinds.map(([title, ending, type, text]) =>
      element(
        "button",
        {
          type: "button",
          click: () => {
            const { columns, rows } = current();
            download(`${name}.${ending}`, type, text(columns, rows));
          },
        },
        title,
      ),
    ),
  );
}
