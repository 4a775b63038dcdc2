import { taskName } from "../board/decode.js";
import { METADATA, disclosed, lackText, scoreTitle, shortScoreTitle, systemCell } from "../board/describe.js";
import { element, listed, missing, plural } from "../page/dom.js";
import { latexCell } from "../page/export.js";
import { rankColumn, rankColumnsInFiles } from "./rank_column.js";
import { scoreColumn } from "./score_column.js";
import { FAMILIES, TO_HUMAN, familyColumn, familyColumnsInFiles, humanColumn, profileChoices, roomBeside } from "./row_profiles.js";
import { changeParams } from "../page/state.js";

/** @param {URLSearchParams} params @returns {TableColumn<Standing>} */
function selectColumn(params) {
  const ids = params.getAll("tick");
  /** @param {Standing} options */
  const box = ({ system, human }) =>
    human
      ? ""
      : element("input", {
          type: "checkbox",
          checked: ids.includes(system.id),
          "aria-label": `select ${system.fullName}`,
          "data-id": system.id,
          "data-key": `select-${system.id}`,
          change: (event) =>
            changeParams({
              tick: event.target.checked ? [...ids, system.id] : ids.filter((id) => id !== system.id),
            }),
        });
  return { id: "tick", title: "", head: element("span", { class: "sr" }, "Select"), className: "tick", show: box };
}

// Next to the name on the page and in LaTeX; a separate column in other files, as several systems can share a name.
/** @param {{ system: System, human?: boolean }} row */
export const latexName = ({ system: { name, regime }, human }) => latexCell(regime && !human ? `${name} (${regime})` : name);

/** @type {TableColumn} */
export const REGIME_IN_FILES = {
  id: "system-regime",
  title: "Regime",
  onlyInFiles: true,
  value: (row) => row.system.regime ?? "",
};

// Marked with ° on the page, listed in files.
/** @param {ScoreColumn[]} shown @returns {TableColumn<Standing>} */
const partialInFiles = (shown) => ({
  id: "partial",
  title: "Partial averages",
  onlyInFiles: true,
  value: (row) => listed(shown.filter(({ id }) => row.figures.get(id).partial).map(shortScoreTitle)),
});

// Badges and footnotes of a system.
/** @param {Board} board @returns {TableColumn<Standing>} */
const notesInFiles = (board) => ({
  id: "notes",
  title: "Notes",
  onlyInFiles: true,
  value: ({ system, human }) =>
    human
      ? ""
      : [
          system.reported && `reported: ${system.source || system.paper || "source unknown"}`,
          system.contamination && `declared contamination: ${system.contamination}`,
          system.kind === "floor" && "floor baseline",
          ...(board.footnotes ?? [])
            .filter((note) => note.system === system.id)
            .map((note) => `† ${note.task ? `${taskName(board, note.task)}: ` : ""}${note.text}`),
        ]
          .filter(Boolean)
          .join("; "),
});

// Facts that are shown from the start if there is room, and their width in pixels.
const SHOWN_METADATA = ["parameters", "year"];
const METADATA_WIDTH = 180;

/** @param {Standings} table @param {any} column @returns {TableColumn<Standing>} */
function metadataColumn(table, column) {
  if (column.id === "coverage") {
    return {
      ...column,
      group: "About",
      className: "number",
      fileTitle: `Cells (of ${table.board.cellCount})`,
      text: (cells) => `${cells}/${table.board.cellCount}`,
      value: (row) => (row.human ? null : row.cells),
      show: (row) => (row.human ? "" : `${row.cells}/${table.board.cellCount}`),
      tip: (row) =>
        row.human
          ? [""]
          : [
              `${row.cells} of ${plural(table.board.cellCount, "cell")}`,
              row.lacking().length ? lackText(table.board, row) : "complete on this selection",
            ],
    };
  }
  return {
    ...column,
    group: "About",
    className: column.numeric ? "number" : "text",
    value: (row) => (row.human ? null : column.value(row.system)),
    show: (row) =>
      row.human
        ? ""
        : column.sparse && missing(column.value(row.system))
          ? "–"
          : disclosed(column.value(row.system), column.text, "n.d."),
  };
}

// Columns that can be hidden or added: the parameters `hide` and `also` list the changes.
/** @param {Standings} table */
export function columnChoices(table) {
  const metadata = METADATA.filter(
    ({ value, sparse }) => !sparse || table.board.systems.some((system) => value?.(system) > 0),
  );
  const room = roomBeside(table);
  const isPartial = table.rows.some(({ rank }) => rank === null);
  /** @param {{ id: string, sparse?: boolean }} options */
  const start = ({ id, sparse }) =>
    Boolean(sparse) || (id === "coverage" ? isPartial : room > METADATA_WIDTH && SHOWN_METADATA.includes(id));
  return [
    ...table.shown.map((column) => ({ id: column.id, title: scoreTitle(column), start: true })),
    ...profileChoices(table, room - METADATA_WIDTH),
    ...metadata.map((column) => ({ id: column.id, title: column.title, start: start(column) })),
  ];
}

// Return whether the rows are in the order of their ranks, which are by the overall score if the address names no score.
/** @param {Standings} table @param {URLSearchParams} params */
export const isInRankOrder = ({ shown, by }, params) => (params.get("sort") ?? shown[0].id) === by.id;

/** @param {Standings} table @param {URLSearchParams} params @returns {TableColumn<Standing>[]} */
export function leaderboardColumns(table, params) {
  const [hidden, also] = [params.getAll("hide"), params.getAll("also")];
  /** @param {{ id: string, start: boolean }} options */
  const seen = ({ id, start }) => (start ? !hidden.includes(id) : also.includes(id));
  const ids = new Set(
    columnChoices(table)
      .filter(seen)
      .map(({ id }) => id),
  );
  /** @param {ScoreColumn} options */
  const best = ({ id, lower }) =>
    table.rows.reduce(
      (top, row) => {
        const { value, partial } = row.figures.get(id);
        return !partial && (lower ? value < top : value > top) ? value : top;
      },
      lower ? Infinity : -Infinity,
    );
  /** @type {TableColumn<Standing>} */
  const name = {
    id: "name",
    title: "System",
    heads: true,
    className: "system",
    value: (row) => row.system.name,
    show: (row) => (row.human ? row.system.name : systemCell(row.system)),
    latex: latexName,
  };
  return [
    selectColumn(params),
    rankColumn(table, isInRankOrder(table, params)),
    ...rankColumnsInFiles(table),
    name,
    REGIME_IN_FILES,
    ...table.shown.filter(({ id }) => ids.has(id)).map((column) => scoreColumn(table, column, best(column))),
    ...(ids.has(TO_HUMAN) ? [humanColumn(table)] : []),
    ...(ids.has(FAMILIES) ? [familyColumn(table), ...familyColumnsInFiles(table)] : []),
    ...METADATA.filter(({ id }) => ids.has(id)).map((column) => metadataColumn(table, column)),
    partialInFiles(table.shown.filter(({ id }) => ids.has(id))),
    notesInFiles(table.board),
  ];
}

// In files the regime distinguishes this row from a system named Human.
/** @type {any} */
const HUMAN = { name: "Human", regime: "human performance" };

// Human performance, published for whole tasks only: not for a subset of languages or metrics. Averages need it for every
// task.
/** @param {Standings} table @returns {Standing | null} */
export function humanRow(table) {
  // A segment that is a category has that category's average.
  const ofCategory = table.shown[0].title === "Average" ? table.columns : [];
  /** @type {any} */
  const human = new Map(
    table.shown.map((column) => {
      const parts = column.kind === "task" ? [column.part] : column.kind === "category" ? column.parts : ofCategory;
      const values = parts.map(({ task, whole }) => (whole ? (task.human ?? NaN) : NaN));
      return [
        column.id,
        { value: values.length ? values.reduce((a, b) => a + b, 0) / values.length : NaN, low: NaN, high: NaN },
      ];
    }),
  );
  return [...human.values()].some(({ value }) => !missing(value))
    ? { human: true, system: HUMAN, figures: human, rank: null, cells: 0, lacking: () => [] }
    : null;
}
