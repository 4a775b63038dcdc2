import { categoryTitle } from "../board/describe.js";
import { languageName } from "../board/decode.js";
import { countText, element, link, nameOf, plural, scoreText } from "../page/dom.js";
import { bestHumanGaps, leadFacts, serviceFacts } from "./finding_facts.js";
import { humanPicture, languagePicture, leadPicture } from "./finding_pictures.js";
import { firstPlace } from "./leaderboard_words.js";
import { SERVED_SHARE } from "../board/relative.js";
import { populationText } from "../languages/language_words.js";
import { segmentPlace } from "../board/segments.js";
import { hashOf, redraw } from "../page/state.js";

// Comparing more scores with English takes long enough to wait until the page is drawn.
const QUICKLY_COMPARED = 60_000;

// What the board knows, in up to three sentences that link to their evidence; `table` ranks the systems that may lead.
/** @param {Board} board @param {Standings} table @returns {HTMLElement | null} */
export function findings(board, table) {
  const cards = [leadCard(table), serviceCard(board), humanCard(board)].filter(Boolean);
  return cards.length ? element("section", { class: "findings", "aria-label": "Findings" }, cards) : null;
}

// A finding is the heading, which links to its evidence. Narrow screens show nothing else.
/**
 * @param {string} key
 * @param {string} heading
 * @param {{ text: Child, picture: Child, href: string }} content
 */
const findingCard = (key, heading, { text, picture, href }) =>
  element("article", { class: "finding", "data-key": key }, element("h2", {}, link(href, heading)), element("p", {}, text), picture);

// A system leads only if the test says so; otherwise it has the best average.
/** @param {Standings} table */
function leadCard(table) {
  const facts = leadFacts(table);
  if (!facts) return null;
  const { lead, second, ranked } = facts;
  const score = (/** @type {Standing} */ row) => scoreText(row.figures.get(table.by.id).value);
  const { segment } = table.choice;
  const best = `has the best ${table.by.kind === "task" ? "score" : "average"}`;
  const verb = firstPlace(table).verb === "leads" ? "leads" : best;
  const { name, id } = lead.system;
  if (!second)
    return findingCard("lead", `${name} scores ${score(lead)} ${segmentPlace(segment)}`, {
      text: table.board.systems.length > 1 ? `No other system covers ${segment.words}.` : "The board has no other system.",
      picture: leadPicture(table, ranked),
      href: hashOf(["system", id]),
    });
  return findingCard("lead", `${name} ${verb} ${segmentPlace(segment)}: ${score(lead)}`, {
    text: [
      [nameOf(second.system.fullName), ` follows with ${score(second)}`, conflictText(facts), ". "],
      verdictText(table, lead, second),
      table.by.lower ? " Lower is better." : "",
    ],
    picture: leadPicture(table, ranked),
    href: hashOf(["compare"], { system: [id, second.system.id] }),
  });
}

// Why the best average is not the best on most tasks: " and scores higher on 6 of 10 tasks; retrieval decides".
/** @param {LeadFacts} facts */
function conflictText({ higher, tasks, decides }) {
  if (!higher) return "";
  const because = decides ? `; ${categoryTitle(decides).toLowerCase()} decides` : "";
  return ` and scores higher on ${higher} of ${plural(tasks, "task")}${because}`;
}

// Is the order of the first two certain?
/** @param {Standings} table @param {Standing} lead @param {Standing} second @returns {Child} */
function verdictText(table, lead, second) {
  const { order, testRanks } = table;
  if (testRanks) return "";
  if (!order.test) return "The order is not tested.";
  const untested = [lead, second].find(({ system }) => order.untested.has(system.id));
  if (untested) return ["Not tested: ", nameOf(untested.system.name), " lacks scores per language."];
  const { after } = firstPlace(table);
  return `${after[0].toUpperCase()}${after.slice(1)}.`;
}

/** @type {WeakSet<Board>} */
const compared = new WeakSet();

/** @param {Board} board */
function serviceCard(board) {
  if (!compared.has(board) && board.systems.length * board.cellCount > QUICKLY_COMPARED) {
    setTimeout(() => {
      serviceFacts(board);
      compared.add(board);
      redraw();
    }, 30);
    const text = "Comparing all scores with English …";
    return findingCard("service", "Where the best score stops working", { text, picture: null, href: "#/languages" });
  }
  const facts = serviceFacts(board);
  if (!facts) return null;
  const reached = `${countText(facts.service.served.languages.length)} of ${plural(board.languages.length, "language")}`;
  return findingCard("service", `${reached} reach ${100 * SERVED_SHARE} % of ${languageName(board, facts.reference)}`, {
    text: serviceText(facts),
    picture: languagePicture(board.languages, facts),
    href: "#/languages",
  });
}

/** @param {ServiceFacts} facts */
function serviceText({ service: { served, unserved, untested } }) {
  const fall = unserved.languages.length === 1 ? "falls" : "fall";
  const counts = [
    served.speakers ? `${populationText(served.speakers)} people speak them` : "",
    unserved.languages.length ? `${countText(unserved.languages.length)} ${fall} short${speakersText(unserved)}` : "",
    untested.languages.length ? `${countText(untested.languages.length)} cannot be compared` : "",
  ].filter(Boolean);
  return `By the best score of any system in each language. ${counts.join("; ")}${counts.length ? "." : ""}`;
}

/** @param {ServiceGroup} group */
const speakersText = ({ speakers }) => (speakers ? ` (${populationText(speakers)} speakers)` : "");

/** @param {Board} board */
function humanCard(board) {
  const gaps = bestHumanGaps(board);
  if (!gaps.length) return null;
  const [most, least] = [gaps[0], gaps[gaps.length - 1]];
  /** @param {HumanGap} gap */
  const distance = ({ task, gap }) =>
    `${scoreText(Math.abs(gap))} points ${gap > 0 === task.lower_is_better ? "above" : "below"}`;
  const closest = gaps.length > 1 ? `The best score is closest on ${least.task.name} (${distance(least)}). ` : "";
  return findingCard("human", `${distance(most)} people on ${most.task.name}`, {
    text: `${closest}Human scores are mostly for English; systems average all languages.`,
    picture: humanPicture(board, gaps),
    href: "#/progress?view=humans",
  });
}
