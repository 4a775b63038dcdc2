import { systemPaint } from "../charts/colour.js";
import { pageHead } from "../board/parts.js";
import { testedOn } from "../board/tested_on.js";
import { element, link, listed, nameOf, plural } from "../page/dom.js";
import { exportButtons } from "../page/export.js";
import { changeParams, hashOf } from "../page/state.js";
import { bucketSection } from "./compare_buckets.js";
import { contrastColumns } from "./contrast_file.js";
import { columnTable, pairContrasts } from "./contrasts.js";
import { orderControls } from "./forest_rows.js";
import { forestSections, sharedLimit, verdictSection } from "./pair_section.js";
import { loadedTests } from "./paired.js";
import { comparedPicker } from "./picker.js";
import { bestPair, partnersOf, preselectedText } from "./preselected.js";
import { bestWords, gapText, verdictKind } from "./verdict.js";

const MOST = 4;
const LETTERS = "ABCD";

/** @param {Board} board @returns {Page} */
export function comparePage(board) {
  /** @param {URLSearchParams} params */
  const view = (params) => {
    const ids = [...new Set(params.getAll("system"))];
    const named = ids.map((id) => board.system.get(id)).filter(Boolean).slice(0, MOST);
    const best = ids.length ? null : bestPair(board);
    const chosen = best ? best.systems : named;
    const unknown = ids.filter((id) => !board.system.has(id));
    return [
      pageHead("Compare"),
      board.systems.length > 1 ? pickers(board, chosen) : null,
      best ? element("p", { class: "soft" }, preselectedText(best)) : null,
      unknown.length ? element("p", { class: "soft" }, `Not on this board: ${listed(unknown, 4)}.`) : null,
      chosen.length < 2 ? alone(board, chosen) : comparison(board, comparedNames(chosen), params),
    ];
  };
  return { title: "Compare", view };
}

// Systems that differ by their names alone are shown without regimes: the lists above have them.
/** @param {System[]} systems @returns {System[]} */
const comparedNames = (systems) =>
  new Set(systems.map(({ name }) => name)).size < systems.length
    ? systems
    : systems.map((system) => ({ ...system, fullName: system.name }));

/** @param {System[]} systems */
const setSystems = (systems) => changeParams({ system: systems.map(({ id }) => id) });

// A searchable list for each system, and one to add another.
/** @param {Board} board @param {System[]} chosen */
function pickers(board, chosen) {
  const sorted = [...board.systems].sort((a, b) => a.name.localeCompare(b.name));
  const count = Math.min(MOST, board.systems.length, Math.max(2, chosen.length + 1));
  const one = (/** @type {number} */ at) => {
    const own = chosen[at] ?? null;
    const name = own || at < 2 ? `System ${LETTERS[at]}` : "Add a system";
    const swatch = element("i", { class: "swatch" });
    swatch.style.backgroundColor = systemPaint(at).fill;
    return element(
      "div",
      { class: own || at < 2 ? "chosen" : "chosen adding", "data-key": `chosen-${at}` },
      comparedPicker({
        id: `pick-${at}`,
        label: own || at < 2 ? [swatch, name] : name,
        name,
        systems: sorted.filter((system) => system === own || !chosen.includes(system)),
        chosen: own,
        choose: (system) => setSystems([...chosen.slice(0, at), system, ...chosen.slice(at + 1)]),
      }),
      own && chosen.length > 2
        ? element(
            "button",
            { type: "button", class: "drop", "aria-label": `Remove ${own.fullName}`, "data-key": `drop-${at}`, click: () => setSystems(chosen.filter((system) => system !== own)) },
            "×",
          )
        : null,
    );
  };
  return element(
    "div",
    { class: "chosen-systems" },
    Array.from({ length: count }, (_, at) => one(at)),
    chosen.length === 2
      ? element("button", { type: "button", class: "swap", "data-key": "swap", click: () => setSystems([...chosen].reverse()) }, "⇄ Swap")
      : null,
  );
}

/** @param {Board} board @param {System[]} chosen */
function alone(board, [system]) {
  if (board.systems.length < 2) return element("p", { class: "headline" }, "This board has one system: there is nothing to compare.");
  if (!system) return element("p", { class: "headline" }, "Select two to four systems. No two of this board share a complete score.");
  const partners = partnersOf(board, system);
  return partners.length
    ? element("p", { class: "headline" }, "Select a second system. Most in common with ", nameOf(system.fullName), ": ", partnerLinks(board, system, partners), ".")
    : element("p", { class: "headline" }, "No other system shares a score with ", nameOf(system.fullName), ".");
}

/** @param {Board} board @param {System} system @param {ReturnType<typeof partnersOf>} partners */
const partnerLinks = (board, system, partners) =>
  partners.map((partner, at) => [
    at ? ", " : "",
    link(hashOf(["compare"], { system: [system.id, partner.system.id] }), nameOf(partner.system.fullName)),
    ` (${partner.cells ? plural(partner.cells, "shared cell") : plural(partner.columns, "shared average")})`,
  ]);

/** @param {Board} board @param {System[]} systems @param {URLSearchParams} params */
function comparison(board, systems, params) {
  const pairs = systems.flatMap((one, at) => systems.slice(at + 1).map((other) => [one, other]));
  const tests = pairs.map(loadedTests);
  if (tests.includes(undefined)) return [element("p", { class: "soft" }, "Loading details…")];
  const compared = pairs.map((pair, at) => ({ board, pair, systems, tests: tests[at] ?? new Map() }));
  const contrasts = compared.map(pairContrasts);
  const files = exportButtons("comparison", board, () => ({
    columns: contrastColumns(board),
    rows: contrasts.flatMap(({ top, categories, tasks, cells, languages }, at) =>
      [...(top ? [top] : []), ...categories, ...tasks, ...cells, ...languages].map((contrast) => ({ contrast, pair: pairs[at] })),
    ),
  }));
  const first = compared.flatMap((one, at) => (one.pair[0] === systems[0] ? [{ one, own: contrasts[at] }] : []));
  const several = systems.length > 2;
  const limit = sharedLimit(first.map(({ own }) => own));
  /** @param {string} title */
  const tools = (title) =>
    element("div", { class: "line" }, element("h2", {}, title), element("div", { class: "line start" }, orderControls(params), files));
  return [
    several ? [element("p", { class: "verdict" }, bestWords(systems, compared, contrasts)), verdictMatrix(systems, compared, contrasts), tools("Pair by pair")] : null,
    first.map(({ one, own }) => [
      several ? element("h3", {}, nameOf(systems[0].fullName), " against ", nameOf(one.pair[1].fullName)) : null,
      own.top ? verdictSection(one, own) : nothingShared(board, one.pair),
      several || !own.top ? null : tools("By task"),
      own.top ? forestSections(one, own, limit, params) : null,
    ]),
    correctionNote(board, compared),
    first.some(({ own }) => own.cells.length) ? bucketSection(board, systems, params) : null,
  ];
}

// What each has, and whom it can be compared with.
/** @param {Board} board @param {System[]} pair */
const nothingShared = (board, pair) => [
  element("p", { class: "verdict" }, "Not comparable: no task in common"),
  pair.map((system) => {
    const { rows } = columnTable(board, "overall");
    const lacking = new Map(rows[system.at].lacking().map(({ column, codes }) => [column.task, codes.length]));
    const tasks = board.tasks.filter((task) => (lacking.get(task) ?? 0) < task.languages.length).map(({ name }) => name);
    const partners = partnersOf(board, system, pair);
    return element(
      "p",
      {},
      nameOf(system.fullName),
      ` has scores on ${listed(tasks) || "no task"}. `,
      partners.length ? ["Compare it with ", partnerLinks(board, system, partners), "."] : "",
    );
  }),
];

// All pairs: the verdict on the system of the row against that of the column.
/** @param {System[]} systems @param {ComparedPair[]} compared @param {PairContrasts[]} contrasts */
function verdictMatrix(systems, compared, contrasts) {
  /** @param {System} row @param {System} column */
  const cell = (row, column) => {
    if (row === column) return element("td", { class: "none" });
    const at = compared.findIndex(({ pair }) => pair.includes(row) && pair.includes(column));
    const { top } = contrasts[at];
    if (!top) return element("td", { class: "untested" }, "nothing in common");
    const side = compared[at].pair[0] === row ? "first" : "second";
    const kind = verdictKind(top);
    const words = kind === "untested" ? "not tested" : kind === "open" ? "not distinguishable" : kind === side ? "better" : "worse";
    return element("td", { class: kind === "untested" ? "untested" : kind === "open" ? "" : "sure" }, element("b", {}, words), element("span", { class: "of" }, gapText(top, side)));
  };
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Verdicts on all pairs" },
    element(
      "table",
      { class: "data verdicts" },
      element("caption", {}, "Each row against each column"),
      element("thead", {}, element("tr", {}, element("td"), systems.map((system) => element("th", { scope: "col" }, nameOf(system.fullName))))),
      element(
        "tbody",
        {},
        systems.map((row) => element("tr", {}, element("th", { scope: "row" }, nameOf(row.fullName)), systems.map((column) => cell(row, column)))),
      ),
    ),
  );
}

// The verdicts do not depend on the selection: they are those of the leaderboard, where it is tested on examples.
/** @param {Board} board @param {ComparedPair[]} compared */
function correctionNote(board, compared) {
  if (!compared.some(({ tests }) => tests.size)) return null;
  const isMixed = board.systems.some((system) => system.has_predictions && !system.complete);
  const isOther = board.ranks[board.rule.name]?.test === "languages";
  return element(
    "p",
    { class: "soft" },
    `Paired tests hold ${testedOn("examples")}. Examples are clustered by source. The correction covers all pairs of systems with predictions on this board, selected or not, and all tasks or cells.`,
    isMixed ? " As systems cover different cells, intervals are corrected within each pair only." : "",
    isOther ? ` The leaderboard answers another question: the order ${testedOn("languages")}.` : "",
  );
}
