import { noExamplesText, ownSystems, preselected } from "./candidates.js";
import { systemPicker } from "./system_picker.js";
import { crumbs, pageHead } from "../board/parts.js";
import { drawn, element, link } from "../page/dom.js";
import { changeParams, hashOf } from "../page/state.js";

const USUAL_SUITE = "xtreme-r";

/** @typedef {{ mode: string, title: string, question: string, hint: string, systems: number }} Analysis */

// The analyses: what each answers, how its page is read, and how many systems it takes.
/** @type {Analysis[]} */
export const ANALYSES = [
  {
    mode: "single",
    title: "Single analysis",
    question: "Where does a system fail? Its score by length, question type, label and more.",
    hint: "The score in each bucket of examples with its 95 % interval, all on one axis. The best and the worst bucket are marked only if they differ significantly from every other.",
    systems: 1,
  },
  {
    mode: "pairwise",
    title: "Pairwise analysis",
    question: "Where do two systems differ? Their difference in each group of examples, and whether it is significant.",
    hint: "The difference between two systems in each bucket with its 95 % interval, all on one axis. Differences that are not significant are grey.",
    systems: 2,
  },
  {
    mode: "bias",
    title: "Dataset bias",
    question: "What do the test sets contain? How their examples are distributed, language by language.",
    hint: "How test examples are distributed, by language. A test set with few long contexts says little about long contexts.",
    systems: 0,
  },
];

// The three analyses, each with the systems that it opens with.
/** @param {Board} board @returns {Page} */
export function analysesPage(board) {
  /** @param {URLSearchParams} params */
  const view = async (params) => {
    const chosen = await Promise.all(ANALYSES.map((analysis) => chosenFor(board, params, analysis)));
    const hasSystems = chosen.some((systems) => systems.length > 0);
    const hasData = board.has_bias || Object.keys(board.examples ?? {}).length > 0 || hasSystems;
    return [
      crumbs(link("#/", "Leaderboard"), "Analyses"),
      pageHead("Analyses"),
      element("p", { class: "headline" }, "What lies behind the scores: which examples are right and which are wrong."),
      hasData ? null : lacking(board),
      element(
        "div",
        { class: "analyses" },
        ANALYSES.map((analysis, at) => analysisCard(board, analysis, chosen[at], hasData)),
      ),
    ];
  };
  return { title: "Analyses", view };
}

// The systems of the address (`single=A`, `pairwise=A&pairwise=B`), or the best-ranked ones with analyses.
/** @param {Board} board @param {URLSearchParams} params @param {Analysis} analysis */
async function chosenFor(board, params, { mode, systems: count }) {
  const named = params
    .getAll(mode)
    .map((id) => board.system.get(id))
    .filter(Boolean)
    .slice(0, count);
  return named.length < count ? preselected(board, count, named) : named;
}

/** @param {Board} board @param {Analysis} analysis @param {System[]} chosen @param {boolean} hasData */
function analysisCard(board, { mode, title, question, systems: count }, chosen, hasData) {
  const isReady = chosen.length === count && hasData;
  return element(
    "section",
    { class: "analysis", "data-key": `analysis-${mode}` },
    picture(mode),
    element("h2", {}, title),
    element("p", {}, question),
    isReady && count
      ? element(
          "div",
          { class: "picks" },
          systemPicker(board, chosen, count, (ids) => changeParams({ [mode]: ids }, { replace: true })),
        )
      : null,
    isReady
      ? element(
          "a",
          { class: "button", "data-mode": mode, href: hashOf(["analysis", mode], { system: chosen.map(({ id }) => id) }) },
          `Open ${title.toLowerCase()}`,
        )
      : element("p", { class: "soft" }, noSystemsText(board, count, chosen.length, hasData)),
  );
}

/** @param {Board} board @param {number} count @param {number} chosen @param {boolean} hasData */
function noSystemsText(board, count, chosen, hasData) {
  if (!hasData) return "Needs results of single examples.";
  if (chosen) return "Only one system on this board has results of single examples.";
  return ownSystems(board).length
    ? "No system on this board has results of single examples."
    : `Needs ${count > 1 ? "two systems" : "a system"} with predictions: all systems here are reported.`;
}

// Without single examples, say how to add them, and what the scores still answer.
/** @param {Board} board */
function lacking(board) {
  const suite = board.suite === USUAL_SUITE ? "" : ` --suite ${board.suite}`;
  /** @param {string} what @param {...string} lines */
  const command = (what, ...lines) =>
    element("li", {}, what, element("div", { class: "command" }, lines.map((line) => element("pre", {}, line))));
  return element(
    "div",
    { class: "card lacking" },
    element("p", {}, noExamplesText(board)),
    board.no_examples
      ? null
      : element(
          "ul",
          {},
          command(
            "To add analyses, build the board from prediction folders, which isogloss score reads, and the data with public labels:",
            `isogloss board build my-predictions published:all${suite} --data data --out site`,
          ),
          command(
            "To see a few texts of each bucket only, add the output of isogloss explain:",
            `isogloss explain my-predictions${suite} --data data --json explain.json`,
            `isogloss board build my-predictions${suite} --explain explain.json --out site`,
          ),
          command("To try it on generated data, offline, in a few minutes:", "isogloss demo"),
        ),
    element(
      "p",
      {},
      "With scores alone you can ",
      link("#/compare", "compare systems by task and language"),
      ", see ",
      link("#/languages", "which languages they serve"),
      " and ",
      link("#/progress", "how scores changed over time"),
      ".",
    ),
  );
}

// A small drawing of what each analysis shows: decorative.
/** @param {string} mode */
function picture(mode) {
  const rows = { single: [62, 74, 38, 55], pairwise: [118, 96, 60, 84], bias: [104, 66, 40, 22] }[mode] ?? [];
  const middle = mode === "pairwise" ? 80 : 0;
  return drawn(
    "svg",
    { class: `analysis-picture ${mode}`, viewBox: "0 0 160 72", "aria-hidden": "true" },
    drawn("line", { class: "zero", x1: middle + 2, x2: middle + 2, y1: 4, y2: 68 }),
    rows.map((end, at) => {
      const y = 12 + 16 * at;
      if (mode === "bias") return drawn("rect", { x: 4, y: y - 5, width: end, height: 10, rx: 2 });
      const sure = mode === "single" || Math.abs(end - middle) > 18;
      return drawn(
        "g",
        { class: sure ? (end < middle ? "interval below" : "interval") : "interval unsure" },
        drawn("line", { x1: end - 16, x2: end + 16, y1: y, y2: y }),
        drawn("circle", { cx: end, cy: y, r: 4.5 }),
      );
    }),
  );
}
