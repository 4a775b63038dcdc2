import { systemPaint } from "../charts/colour.js";
import { pageHead } from "../board/parts.js";
import { testedOn } from "../board/tested_on.js";
import { element, listed, nameOf } from "../page/dom.js";
import { exportButtons } from "../page/export.js";
import { changeParams } from "../page/state.js";
import { bucketSection } from "./compare_buckets.js";
import { contrastColumns } from "./contrast_file.js";
import { pairContrasts } from "./contrasts.js";
import { orderControls } from "./forest_rows.js";
import { forestSections, sharedLimit, verdictSection } from "./pair_section.js";
import { loadedTests } from "./paired.js";
import { comparedPicker } from "./picker.js";
import { nothingShared, partnerLinks } from "./partners.js";
import { bestPair, partnersOf, preselectedText } from "./preselected.js";
import { bestWords, verdictMatrix } from "./several.js";

const MOST = 4;
const LETTERS = "ABCD";

/** @param {Board} board @returns {Page} */
export function comparePage(board) {
  /** @param {URLSearchParams} params */
  const view = (params) => {
    const ids = [...new Set(params.getAll("system"))].filter(Boolean);
    const named = ids
      .map((id) => board.system.get(id))
      .filter(Boolean)
      .slice(0, MOST);
    const best = named.length ? null : bestPair(board);
    const chosen = best ? best.systems : named;
    const unknown = ids.filter((id) => !board.system.has(id));
    return [
      pageHead("Compare"),
      board.systems.length > 1 ? pickers(board, chosen, best ? preselectedText(best) : "") : null,
      unknown.length ? element("p", { class: "soft" }, `Not on this board: ${listed(unknown, 4)}.`) : null,
      chosen.length < 2 ? alone(board, chosen) : comparison(board, comparedNames(chosen), params),
    ];
  };
  /** @param {URLSearchParams} params */
  const title = (params) => {
    const named = params.getAll("system").flatMap((id) => board.system.get(id)?.fullName ?? []);
    return named.length > 1 ? `Comparison of ${named.slice(0, MOST).join(" and ")}` : "Compare";
  };
  return { title, view };
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
/** @param {Board} board @param {System[]} chosen @param {string} hint */
function pickers(board, chosen, hint) {
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
            {
              type: "button",
              class: "drop",
              "aria-label": `Remove ${own.fullName}`,
              "data-key": `drop-${at}`,
              click: () => setSystems(chosen.filter((system) => system !== own)),
            },
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
      ? element(
          "button",
          { type: "button", class: "swap", "data-key": "swap", click: () => setSystems([...chosen].reverse()) },
          "⇄ Swap",
        )
      : null,
    hint && element("p", { class: "soft preselected" }, hint),
  );
}

/** @param {Board} board @param {System[]} chosen */
function alone(board, [system]) {
  if (board.systems.length < 2)
    return element("p", { class: "headline" }, "This board has one system: there is nothing to compare.");
  if (!system)
    return element(
      "p",
      { class: "headline" },
      "Select two to four systems. The one with most scores shares none with another.",
    );
  const partners = partnersOf(board, system);
  return partners.length
    ? element(
        "p",
        { class: "headline" },
        "Select a second system. Most in common with ",
        nameOf(system.fullName),
        ": ",
        partnerLinks(board, system, partners),
        ".",
      )
    : element("p", { class: "headline" }, "No other system shares a score with ", nameOf(system.fullName), ".");
}

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
      [...(top ? [top] : []), ...categories, ...tasks, ...cells, ...languages].map((contrast) => ({
        contrast,
        pair: pairs[at],
      })),
    ),
  }));
  const first = compared.flatMap((one, at) => (one.pair[0] === systems[0] ? [{ one, own: contrasts[at] }] : []));
  const several = systems.length > 2;
  const limit = sharedLimit(first.map(({ own }) => own));
  /** @param {string} title */
  const tools = (title) =>
    element(
      "div",
      { class: "line" },
      element("h2", {}, title),
      element("div", { class: "line start" }, orderControls(params), files),
    );
  return [
    several
      ? [
          element("p", { class: "verdict" }, bestWords(systems, compared, contrasts)),
          verdictMatrix(systems, compared, contrasts),
          tools("Pair by pair"),
        ]
      : null,
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

// The verdicts do not depend on the selection: they are those of the leaderboard, where it is tested on examples.
/** @param {Board} board @param {ComparedPair[]} compared */
function correctionNote(board, compared) {
  if (!compared.some(({ tests }) => tests.size)) return null;
  const isOther = board.ranks[board.rule.name]?.test === "languages";
  return element(
    "p",
    { class: "soft" },
    `Paired tests hold ${testedOn("examples")}. Examples are clustered by source. The correction covers all pairs of systems with predictions on this board, selected or not, and all tasks or cells; isogloss compare corrects for the systems that it is given.`,
    isOther ? ` The leaderboard answers another question: the order ${testedOn("languages")}.` : "",
  );
}
