import { betterShare } from "./colour.js";
import {
  METADATA,
  categoryTitle,
  disclosed,
  intervalText,
  provenanceLines,
  systemCell,
  unparsedText,
} from "./describe.js";
import { metricTitle, metricsText } from "./decode.js";
import { element, listed, missing, plural, scoreText } from "./dom.js";
import { changeParams } from "./state.js";
import { tieLetters } from "./standings.js";

function scoreTip(table, column, row) {
  const { board } = table;
  const figure = row.figures.get(column.id);
  const title =
    column.kind === "overall" ? "Overall" : column.kind === "category" ? categoryTitle(column.id) : column.title;
  const lines = [`${row.system.fullName} · ${title}: ${scoreText(figure.value)}`];
  if (row.human)
    return [
      `Human performance · ${title}: ${scoreText(figure.value)}`,
      "As published with the dataset; often on English alone.",
    ];
  if (figure.partial) lines.push(`partial: the mean of ${figure.n} of ${plural(figure.of, "language")}; has no rank`);
  else if (missing(figure.value)) lines.push(lackText(board, row, column));
  else lines.push(intervalText(figure) || (row.system.reported ? "no interval was reported" : "no interval"));
  if (column.kind === "overall") lines.push(unparsedText(row.system.unparsed));
  if (column.kind === "task") {
    const { task, codes, metric } = column.part;
    lines.push(
      `${metric ? metricTitle(metric) : metricsText(task)}, ${codes.length === task.languages.length ? plural(codes.length, "language") : `${codes.length} of ${plural(task.languages.length, "language")}`}`,
    );
    lines.push(...provenanceLines(board, row.system, task, codes.length === 1 ? codes[0] : undefined));
    lines.push(
      ...(board.footnotes ?? [])
        .filter((note) => note.system === row.system.id && (!note.task || note.task === task.id))
        .map((note) => `† ${note.text}`),
    );
  }
  return lines;
}

// The cells that are missing, by name.
export function lackText(board, row, column = null) {
  const mine = row
    .lacking()
    .filter(
      ({ column: { task } }) =>
        !column || column.kind === "overall" || column.id === task.id || column.id === task.category,
    );
  if (!mine.length) return "not reported";
  return `missing: ${mine
    .map(({ column: { task, codes: all }, codes }) =>
      codes.length === all.length
        ? task.name
        : `${task.name} in ${listed(
            codes.map((code) => board.language.get(code)?.name ?? code),
            8,
          )}`,
    )
    .join("; ")}`;
}

// A score with its interval on the scale of all that are shown.
function intervalStrip(figure, [from, to]) {
  const share = (value) => `${(5 + 90 * Math.min(1, Math.max(0, (value - from) / (to - from || 1)))).toFixed(1)}%`;
  const strip = element("i", { class: missing(figure.low) ? "strip" : "strip whiskered" });
  strip.style.setProperty("--at", share(figure.value));
  if (!missing(figure.low)) {
    strip.style.setProperty("--low", share(figure.low));
    strip.style.setProperty("--high", share(figure.high));
  }
  return strip;
}

function spread(rows, id) {
  const values = rows
    .map((row) => row.figures.get(id)?.value)
    .filter((value) => !missing(value))
    .sort((a, b) => a - b);
  // The lowest few would leave the others all alike.
  return [values[Math.floor(values.length / 20)] ?? 0, values.at(-1) ?? 100];
}

// As far as intervals reach: on a narrower scale figures that cannot be told apart would stand far from each other.
function withIntervals([from, to], rows, id) {
  const known = rows.map((row) => row.figures.get(id)).filter((figure) => figure && !missing(figure.low));
  const inside = known.filter(({ value }) => value >= from);
  return [Math.min(from, ...inside.map(({ low }) => low)), Math.max(to, ...inside.map(({ high }) => high))];
}

// Which figures have a footnote, found once.
const footnotedFigures = new WeakMap();

function footnoted(board) {
  if (!footnotedFigures.has(board))
    footnotedFigures.set(board, new Set((board.footnotes ?? []).map(({ system, task }) => `${system} ${task}`)));
  return footnotedFigures.get(board);
}

function inBrackets(words) {
  const said = words.filter(Boolean).join(", ");
  return said ? `(${said})` : "";
}

function scoreColumn(table, column, best) {
  let [range, reach] = [
    [0, 100],
    [0, 100],
  ];
  const figure = (row) => row.figures.get(column.id);
  const show = (row) => {
    const found = figure(row);
    const text = found.partial ? `${scoreText(found.value)}°` : scoreText(found.value);
    if (column.kind === "overall") return missing(found.value) ? text : [text, intervalStrip(found, reach)];
    const noted = !missing(found.value) && footnoted(table.board).has(`${row.system.id} ${column.id}`);
    return noted ? [text, element("sup", {}, "†")] : text;
  };
  const bestText = scoreText(best);
  const mark = (row) => {
    const { value, partial } = figure(row);
    return partial ? "partial" : !row.human && !missing(value) && scoreText(value) === bestText ? "best" : null;
  };
  const part = column.part;
  const ranking = column.kind === "overall" && table.choice.ranking !== table.board.rule.name ? table.choice.title : "";
  const metric = part && !part.whole ? part.metric.toUpperCase() : "";
  const share =
    part && part.codes.length < part.task.languages.length ? `${part.codes.length}/${part.task.languages.length}` : "";
  const hint =
    column.kind === "overall"
      ? ["Overall", table.choice.hint]
      : column.kind === "category"
        ? [
            categoryTitle(column.id),
            `The mean over the category's tasks. ${column.lower ? "Lower" : "Higher"} is better.`,
          ]
        : [
            part.task.title,
            `${part.metric ? metricTitle(part.metric) : metricsText(part.task)}; ${part.task.lower_is_better ? "lower" : "higher"} is better.`,
            part.codes.length < part.task.languages.length
              ? `Only ${part.codes.length} of its ${part.task.languages.length} languages: this is not the task's own figure.`
              : `Mean over ${plural(part.codes.length, "language")}.`,
          ];
  return {
    id: column.id,
    title: column.title,
    note: [metric, share, ranking].filter(Boolean).join(" "),
    hint,
    numeric: true,
    score: true,
    show,
    mark,
    lower: column.lower,
    fileTitle:
      column.kind === "category"
        ? `${categoryTitle(column.id)} average`
        : [column.title, inBrackets([metric, share && `${share} languages`, ranking])].filter(Boolean).join(" "),
    group: column.category ? categoryTitle(column.category) : "",
    className: `score ${column.kind}`,
    value: (row) => (missing(figure(row)?.value) ? null : figure(row).value),
    tip: (row) => scoreTip(table, column, row),
    // Colours and strips compare the rows that are on the screen.
    prepare: (rows) => {
      range = spread(rows, column.id);
      reach = withIntervals(range, rows, column.id);
    },
    strength: (row) =>
      missing(figure(row).value) || figure(row).partial ? null : betterShare(figure(row).value, range, column.lower),
  };
}

// The rank interval beside a rank; it may be known a moment later than the rank, and is filled in then.
function rangeText(row) {
  const node = element("span", { class: "range" });
  row.showRange = () => {
    node.textContent = row.range && row.range[0] !== row.range[1] ? `${row.range[0]}–${row.range[1]}` : "";
  };
  row.showRange();
  return node;
}

const TOLD_BY = {
  paired: "by a paired test",
  intervals: "since intervals overlap",
  both: "by a paired test, or since intervals overlap",
};

function rankColumn(table) {
  const letters = tieLetters(table.board);
  const byOverall =
    table.by.id === "overall" && table.choice.ranking === table.board.rule.name && !table.choice.narrowed;
  const tied = (row) => (byOverall ? (letters.get(row.system?.id) ?? []) : []);
  const by = table.by.kind === "category" ? categoryTitle(table.by.id) : table.by.title;
  const tip = (row) => {
    if (row.human) return ["Human performance", "A reference, not a rank."];
    if (row.rank === null)
      return ["No rank", lackText(table.board, row, table.by), `${row.cells} of ${table.board.cellCount} cells`];
    return [
      `Rank ${row.rank} of ${table.ranked} by ${by}`,
      row.range
        ? `${row.range[0] === row.range[1] ? `rank ${row.range[0]}` : `ranks ${row.range[0]} to ${row.range[1]}`}: ${table.rangeHint}`
        : "no rank interval: no predictions or intervals are known",
      ...tied(row).map(
        ({ letter, group, how }) =>
          `group ${letter}: not told apart ${TOLD_BY[how] ?? ""}: ${listed(
            group.filter((id) => id !== row.system.id).map((id) => table.board.system.get(id)?.fullName ?? id),
            6,
          )}`,
      ),
    ];
  };
  return {
    id: "rank",
    title: `Rank by ${by}`,
    head: element("span", {}, "Rank", element("span", { class: "of" }, `by ${by}`)),
    numeric: true,
    fixed: true,
    className: "rank",
    tip,
    value: (row) => row.rank,
    show: (row) =>
      row.rank === null || row.human
        ? element("span", { class: "soft" }, row.human ? "" : "–")
        : [
            element("b", {}, row.rank),
            rangeText(row),
            tied(row).length
              ? element(
                  "sup",
                  { class: "tie" },
                  tied(row)
                    .map(({ letter }) => letter)
                    .join(""),
                )
              : null,
          ],
  };
}

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
  value: (row) =>
    listed(shown.filter(({ id }) => row.figures.get(id).partial).map((column) => categoryTitle(column.title))),
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
    ...table.shown.map(({ id, title, kind, category }) => ({
      id,
      title: kind === "category" ? `${categoryTitle(category)} average` : title,
      start: true,
    })),
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
    value: (row) => (row.human ? "Human" : row.system.name),
    show: (row) => (row.human ? "Human" : systemCell(row.system)),
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
    ? { human: true, system: { name: "Human" }, figures: human, rank: null, cells: null, lacking: () => [] }
    : null;
}
