import { loadedDetail } from "../board/decode.js";
import { download, element, link, nameOf } from "../page/dom.js";
import { crumbs, nothing } from "../board/parts.js";
import { pseudoOfSystem } from "../tasks/pseudo_scores.js";
import { checklistSection } from "./checklist_rates.js";
import { profileSection } from "./profile_section.js";
import { provenanceSection } from "./provenance.js";
import { rankingBy } from "../board/rank_words.js";
import { repliesSection } from "./reply_failures.js";
import { scoreCards } from "./score_cards.js";
import { heatSection } from "./score_heat_map.js";
import { factsSection } from "./system_facts.js";
import { humanSection, transferSection } from "./system_gaps.js";
import { coverage, systemHead } from "./system_head.js";

// Scores first, then where they come from; what the system is comes last.
/** @param {Board} board @param {string[]} options1 @returns {Page} */
export function systemPage(board, [id]) {
  const system = board.system.get(id);
  if (!system) return nothing("This board has no such system.");
  const table = rankingBy(board, "overall");
  const row = table.rows.filter((item) => item.system === system)[0];
  /** @param {URLSearchParams} params */
  const view = (params) => {
    const detail = loadedDetail(id);
    return [
      crumbs(link("#/", "Leaderboard"), nameOf(system.name)),
      systemHead(board, table, row, detail),
      scoreCards(board, table, row),
      profileSection(board, system, params),
      gapSections(humanSection(board, system), transferSection(board, system, detail?.gaps)),
      heatSection(board, system, coverage(board, row).others),
      pseudoOfSystem(board, system),
      detail ? [checklistSection(board, detail), repliesSection(board, detail)] : null,
      factsSection(board, system, detail),
      detail
        ? [provenanceSection(board, system, detail), downloadSection(system, detail)]
        : element("p", { class: "soft" }, detail === null ? "This system has no details file." : "Loading details…"),
    ];
  };
  return { title: system.name, view };
}

// Side by side where there is room.
/** @param {...(Node | null)} sections */
const gapSections = (...sections) =>
  sections.some(Boolean) ? element("div", { class: "gap-sections", "data-key": "gaps" }, sections) : null;

/** @param {System} system @param {SystemDetail} detail */
const downloadSection = (system, detail) =>
  element(
    "section",
    {},
    element("h2", {}, "Download"),
    element(
      "button",
      {
        type: "button",
        click: () => download(`${system.id}.json`, "application/json", JSON.stringify({ system, ...detail }, null, 1)),
      },
      "Download all data (JSON)",
    ),
  );
