import { METADATA, disclosed, lackText, scoreTitle, shortScoreTitle, systemCell } from "./describe.js";
import { element, listed, missing, plural } from "./dom.js";
import { rankColumn } from "./rank_column.js";
import { scoreColumn } from "./score_column.js";
import { changeParams } from "./state.js";

function tickColumn(params) {
  const ticked = params.getAll("tick");
  const box = ({ system, human }) =>
    human
      ? ""
      : element("input", {
          type: "checkbox",
          checked: ticked.includes(system.id),
          "aria-label": `tick ${system.fullName}`,
          "data-id": system.id,
          "data-focus": `tick-${system.id}`,
          change: (event) =>
            changeParams({
              tick: event.target.checked ? [...ticked, system.id] : ticked.filter((id) => id !== system.id),
            }),
        });
  return { id: "tick", title: "", head: element("span", { class: "sr" }, "Tick"), className: "tick", show: box };
}

// Beside the name on the page; a column of its own in files, where several systems have one name.
export const REGIME_IN_FILES = {
  id: "system-regime",
  title: "Regime",
  onlyInFiles: true,
  value: (row) => row.system.regime ?? "",
};

// Marked with ° on the page, and named in files.
const partialInFiles = (shown) => ({
  id: "partial",
  title: "Partial figures",
  onlyInFiles: true,
  value: (row) => listed(shown.filter(({ id }) => row.figures.get(id).partial).map(shortScoreTitle)),
});

const SHOWN_METADATA = ["parameters", "year", "coverage"];

function metadataColumn(table, column) {
  if (column.id === "coverage") {
    return {
      ...column,
      group: "About",
      className: "number",
      value: (row) => row.cells,
      show: (row) => (row.human ? "" : `${row.cells}/${table.board.cellCount}`),
      tip: (row) =>
        row.human
          ? [""]
          : [
              `${row.cells} of ${plural(table.board.cellCount, "cell")}`,
              row.lacking().length ? lackText(table.board, row) : "complete on these columns",
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

// Columns that can be hidden (scores) or shown (metadata): the parameters `hide` and `also` say what differs from the start.
export function columnChoices(table) {
  const known = METADATA.filter(
    ({ value, sparse }) => !sparse || table.board.systems.some((system) => value(system) > 0),
  );
  return [
    ...table.shown.map((column) => ({ id: column.id, title: scoreTitle(column), start: true })),
    ...known.map(({ id, title, sparse }) => ({ id, title, start: Boolean(sparse) || SHOWN_METADATA.includes(id) })),
  ];
}

export function leaderboardColumns(table, params) {
  const [hidden, also] = [params.getAll("hide"), params.getAll("also")];
  const seen = ({ id, start }) => (start ? !hidden.includes(id) : also.includes(id));
  const ids = new Set(
    columnChoices(table)
      .filter(seen)
      .map(({ id }) => id),
  );
  const best = ({ id, lower }) =>
    table.rows.reduce(
      (top, row) => {
        const { value, partial } = row.figures.get(id);
        return !partial && (lower ? value < top : value > top) ? value : top;
      },
      lower ? Infinity : -Infinity,
    );
  const name = {
    id: "name",
    title: "System",
    heads: true,
    className: "system",
    value: (row) => row.system.name,
    show: (row) => (row.human ? row.system.name : systemCell(row.system)),
  };
  return [
    tickColumn(params),
    rankColumn(table),
    name,
    REGIME_IN_FILES,
    ...table.shown.filter(({ id }) => ids.has(id)).map((column) => scoreColumn(table, column, best(column))),
    ...METADATA.filter(({ id }) => ids.has(id)).map((column) => metadataColumn(table, column)),
    partialInFiles(table.shown.filter(({ id }) => ids.has(id))),
  ];
}

// In files the regime tells it from a system of that name.
const HUMAN = { name: "Human", regime: "human performance" };

// Human performance where datasets publish it, which is for a task as a whole: not for a part of its languages or
// metrics; an average only where all its tasks have it.
export function humanRow(table) {
  const human = new Map(
    table.shown.map((column) => {
      const parts = column.kind === "task" ? [column.part] : column.kind === "category" ? column.parts : [];
      const values = parts.map(({ task, whole }) => (whole ? (task.human ?? NaN) : NaN));
      return [
        column.id,
        { value: values.length ? values.reduce((a, b) => a + b, 0) / values.length : NaN, low: NaN, high: NaN },
      ];
    }),
  );
  return [...human.values()].some(({ value }) => !missing(value))
    ? { human: true, system: HUMAN, figures: human, rank: null, cells: null, lacking: () => [] }
    : null;
}
