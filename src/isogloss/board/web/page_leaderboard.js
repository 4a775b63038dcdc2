import { columnChoices, humanRow, leaderboardColumns } from "./columns.js";
import { CATEGORY_TITLES, systemWithRegime } from "./describe.js";
import { boxControl, manyControl, numberControl, selectControl, sliderControl, textControl } from "./controls.js";
import { countText, element, nameOf, plural, scoreText } from "./dom.js";
import { exportButtons } from "./export.js";
import { CELL_FILTERS, FILTER_KEYS, SYSTEM_FILTERS, systemOptions } from "./filters.js";
import { analysisBar } from "./analyses.js";
import { plotPanel } from "./page_plots.js";
import { RANKINGS } from "./ranking.js";
import { changeParams, readRoute } from "./state.js";
import { chosenWeights, standings } from "./standings.js";
import { dataTable } from "./table.js";

// The first sentence: who leads, by how much, and how many are ranked.
function headline(table) {
  const ranked = table.rows.filter((row) => row.rank !== null).sort((a, b) => a.rank - b.rank);
  const lead = ranked[0];
  const own = table.choice.ranking === table.board.rule.name;
  const by =
    table.by.kind !== "overall"
      ? `on ${CATEGORY_TITLES[table.by.id] ?? table.by.title}`
      : own && table.choice.narrowed
        ? `by the average over ${partOfSuite(table)}`
        : own
          ? "overall"
          : `by “${table.choice.title}”`;
  if (!lead)
    return element(
      "p",
      { class: "headline" },
      table.rows.length
        ? "No system is complete on these columns: none is ranked."
        : table.board.systems.length
          ? "No system fits these filters."
          : "There is no system on this board yet.",
    );
  const figure = lead.figures.get(table.by.id);
  const peers = ranked.filter((row) => row !== lead && row.range && lead.range && row.range[0] === 1);
  const rest = table.rows.length - ranked.length;
  return element(
    "p",
    { class: "headline" },
    systemWithRegime(lead.system),
    ` leads ${by} with `,
    element("strong", {}, scoreText(figure.value)),
    Number.isNaN(figure.low) ? "" : ` (${scoreText(figure.low)}–${scoreText(figure.high)})`,
    table.by.lower ? ", where lower is better" : "",
    peers.length ? `; ${plural(peers.length, "other system")} could be first as well` : "",
    `. ${plural(ranked.length, "system")} ranked${rest ? `, ${rest} shown without a rank because cells are missing` : ""}.`,
  );
}

function chips(board, params) {
  const named = new Map([...SYSTEM_FILTERS, ...CELL_FILTERS].map((filter) => [filter.key, filter]));
  const text = (key, value) => {
    if (key === "q") return `“${value}”`;
    if (key === "pmin" || key === "pmax")
      return `${key === "pmin" ? "at least" : "at most"} ${value} million parameters`;
    if (key === "complete") return "complete on these columns";
    const option =
      named
        .get(key)
        ?.options?.(board)
        .find(([name]) => name === value)?.[1] ?? value;
    return `${named.get(key)?.label}: ${option.replace(/ \([\w ]+\)$/, "")}`;
  };
  const made = FILTER_KEYS.flatMap((key) =>
    params.getAll(key).map((value) =>
      element(
        "button",
        {
          type: "button",
          class: "chip",
          "data-focus": "chip",
          "aria-label": `remove the filter ${text(key, value)}`,
          click: () => changeParams({ [key]: params.getAll(key).filter((each) => each !== value), page: null }),
        },
        text(key, value),
        element("span", { "aria-hidden": "true" }, " ×"),
      ),
    ),
  );
  if (made.length > 1)
    made.push(
      element(
        "button",
        {
          type: "button",
          class: "chip clear",
          click: () => changeParams(Object.fromEntries(FILTER_KEYS.map((key) => [key, null]))),
        },
        "clear all",
      ),
    );
  return made;
}

// Boxes for columns: what is shown at the start can be hidden, and the other way round. They stay the same boxes while the
// columns do, so that focus stays where it is.
function columnPanel(list) {
  let boxes = new Map();
  const change = (id, start, checked) => {
    const key = start ? "hide" : "also";
    const chosen = readRoute()
      .params.getAll(key)
      .filter((each) => each !== id);
    changeParams({ [key]: checked === start ? chosen : [...chosen, id] });
  };
  const made = ({ id, title, start }) => {
    const box = element("input", {
      type: "checkbox",
      "data-column": id,
      change: () => change(id, start, box.checked),
    });
    list.append(element("label", { class: "box" }, box, title));
    return [id, box];
  };
  return (table, params) => {
    const choices = columnChoices(table);
    if (choices.length !== boxes.size || !choices.every(({ id }) => boxes.has(id))) {
      list.replaceChildren();
      boxes = new Map(choices.map(made));
    }
    for (const { id, start } of choices)
      boxes.get(id).checked = start !== params.getAll(start ? "hide" : "also").includes(id);
  };
}

function weightSliders(board) {
  return board.tasks.map((task) =>
    sliderControl(
      task.name,
      (params) => chosenWeights(params)[task.id] ?? 1,
      (weight) => {
        const others = readRoute()
          .params.getAll("w")
          .filter((each) => !each.startsWith(`${task.id}:`));
        changeParams({ w: weight === 1 ? others : [...others, `${task.id}:${weight}`] }, { replace: true });
      },
    ),
  );
}

export function leaderboardPage(board) {
  const ranking = selectControl(
    "ranking",
    "Ranking",
    RANKINGS.map(({ id, title }) => [id, title]),
    { start: board.rule.name },
  );
  const main = [textControl("q", "Find a system", "name, paper…"), ranking];
  const [first, rest] = [
    ["task", "language"],
    ["metric", "family", "script"],
  ].map((keys) =>
    CELL_FILTERS.filter(({ key }) => keys.includes(key)).map((filter) =>
      manyControl(filter.key, filter.label, filter.options(board)),
    ),
  );
  const filters = [
    ...rest,
    ...SYSTEM_FILTERS.map((filter) => manyControl(filter.key, filter.label, systemOptions(board, filter))),
    numberControl("pmin", "Parameters from (millions)"),
    numberControl("pmax", "Parameters to (millions)"),
  ];
  const complete = boxControl("complete", "Only systems complete on these columns");
  const sliders = weightSliders(board);
  const controls = [...main, ...first, ...filters, complete, ...sliders];
  const place = Object.fromEntries(
    ["lead", "explains", "chips", "content", "bar"].map((name) => [name, element("div", { class: name })]),
  );
  const tabs = viewTabs(board);
  const weights = element(
    "fieldset",
    { class: "sliders" },
    element("legend", { class: "sr" }, "Weights of the tasks"),
    sliders.map(({ node }) => node),
  );
  const columnList = element("div", { class: "options wide" });
  const syncColumns = columnPanel(columnList);
  const columnsBox = element(
    "details",
    { class: "many columns" },
    element("summary", {}, "Columns"),
    element("fieldset", { class: "choices" }, element("legend", { class: "sr" }, "Columns"), columnList),
  );
  const filterCount = element("span", {});
  const filterBox = element(
    "details",
    { class: "panel filters" },
    element("summary", {}, "More filters", filterCount),
    element(
      "fieldset",
      { class: "controls" },
      element("legend", { class: "sr" }, "More filters"),
      filters.map(({ node }) => node),
    ),
  );
  let later = 0;
  let seen = { columns: [], rows: [] };
  const node = element(
    "div",
    {},
    element("h1", { class: "sr" }, "Leaderboard"),
    place.lead,
    element(
      "fieldset",
      { class: "controls four" },
      element("legend", { class: "sr" }, "Systems, ranking and cells"),
      main.map(({ node: each }) => each),
      first.map(({ node: each }) => each),
    ),
    element("div", { class: "line start" }, filterBox, place.explains),
    weights,
    place.chips,
    element(
      "div",
      { class: "line" },
      tabs.node,
      complete.node,
      columnsBox,
      exportButtons("leaderboard", board, () => seen),
    ),
    place.bar,
    place.content,
  );
  const update = (params) => {
    for (const control of controls) control.sync(params);
    const table = standings(board, params);
    const columns = leaderboardColumns(table, params);
    place.lead.replaceChildren(headline(table));
    place.explains.replaceChildren(element("p", { class: "soft" }, rankingText(table)));
    weights.hidden = table.choice.ranking !== "weights";
    place.chips.replaceChildren(...chips(board, params));
    syncColumns(table, params);
    const active = FILTER_KEYS.filter(
      (key) => !["q", "task", "language", "complete"].includes(key) && params.has(key),
    ).length;
    filterCount.textContent = active ? ` (${active} active)` : "";
    const view = params.get("view") === "plot" ? "plot" : "table";
    tabs.sync(view, table.rows.length);
    place.bar.replaceChildren(analysisBar(board, params));
    if (view === "plot") {
      seen = { columns, rows: table.rows };
      place.content.replaceChildren(plotPanel(table, params));
      return;
    }
    const human = humanRow(table);
    const ticked = new Set(params.getAll("tick"));
    const made = dataTable({
      columns,
      rows: table.rows,
      params,
      start: "overall",
      label: "Leaderboard",
      before: human ? [human] : [],
      fallback: (a, b) => b.cells - a.cells,
      rowClass: (row) =>
        [row.rank === null ? "unranked" : "", ticked.has(row.system.id) ? "ticked" : ""].join(" ").trim() || null,
    });
    seen = { columns, rows: made.sorted };
    place.content.replaceChildren(made.node, notes(table));
    // After the table is on the screen, unless the next change came first.
    clearTimeout(later);
    if (table.drawRanges)
      later = setTimeout(() => {
        if (!table.drawRanges()) return;
        for (const row of table.rows) row.showRange?.();
        place.lead.replaceChildren(headline(table));
      }, 60);
  };
  return { node, update, title: "Leaderboard" };
}

// The buttons and the count stay the same nodes: focus stays where it is, and a screen reader hears the new count.
function viewTabs(board) {
  const buttons = [
    ["table", "Table"],
    ["plot", "Plots"],
  ].map(([id, text]) => {
    const button = element(
      "button",
      { type: "button", click: () => changeParams({ view: id === "table" ? null : id }) },
      text,
    );
    return [id, button];
  });
  const count = element("output", { class: "count" });
  return {
    node: element(
      "div",
      { class: "tabs", role: "group", "aria-label": "View" },
      buttons.map(([, button]) => button),
      count,
    ),
    sync: (view, shown) => {
      for (const [id, button] of buttons) button.setAttribute("aria-pressed", String(view === id));
      const all = plural(board.systems.length, "system");
      count.textContent = shown === board.systems.length ? all : `${countText(shown)} of ${all}`;
    },
  };
}

// What the ranking is, and of how much: a part of the suite is not the suite.
const rankingText = (table) =>
  table.choice.narrowed ? `${table.choice.hint} Over ${partOfSuite(table)}.` : table.choice.hint;

function partOfSuite({ board, columns }) {
  const codes = new Set(columns.flatMap((column) => column.codes));
  return `${columns.length} of ${plural(board.tasks.length, "task")} and ${codes.size} of ${plural(board.languages.length, "language")}`;
}

function notes(table) {
  const { board } = table;
  const ids = new Set(table.rows.map(({ system }) => system.id));
  const footnotes = (board.footnotes ?? []).filter((note) => ids.has(note.system));
  return element(
    "div",
    { class: "notes" },
    element(
      "p",
      {},
      "Hover or focus a number for its interval, its scorer and its data. ",
      "A small range beside a rank is its 95 % rank interval; letters join systems that cannot be told apart. ",
      "° marks a partial figure, which is never ranked. – is missing.",
    ),
    board.tie_test ? element("p", {}, board.tie_test) : null,
    footnotes.length
      ? element(
          "details",
          {},
          element("summary", {}, `† ${plural(footnotes.length, "footnote")}`),
          element(
            "ul",
            {},
            footnotes
              .slice(0, 200)
              .map((note) =>
                element(
                  "li",
                  {},
                  nameOf(board.system.get(note.system)?.name ?? note.system),
                  note.task ? `, ${board.task.get(note.task)?.name ?? note.task}` : "",
                  `: ${note.text}`,
                ),
              ),
          ),
        )
      : null,
  );
}
