import { categoryTitle } from "../board/describe.js";
import { languageName } from "../board/decode.js";
import { countText, element, link, nameOf, plural, scoreText } from "../page/dom.js";
import { bestHumanGaps, leadFacts, serviceFacts } from "./finding_facts.js";
import { humanPicture, languagePicture, leadPicture } from "./finding_pictures.js";
import { firstPlace } from "./leaderboard_words.js";
import { SERVED_SHARE } from "../board/relative.js";
import { segmentPlace } from "../board/segments.js";
import { hashOf, redraw } from "../page/state.js";

// Comparing more scores with English takes long enough to wait until the page is drawn.
const QUICKLY_COMPARED = 60_000;

// What the board knows, in up to three sentences that link to their evidence; `table` ranks the segment to start with.
/** @param {Board} board @param {Standings} table @returns {HTMLElement | null} */
export function findings(board, table) {
  const cards = [leadCard(table), serviceCard(board), humanCard(board)].filter(Boolean);
  return cards.length ? element("section", { class: "findings", "aria-label": "Findings" }, cards) : null;
}

/**
 * @param {string} key
 * @param {string} title
 * @param {{ text: Child, picture: Child, href: string, more: string }} content
 */
const findingCard = (key, title, { text, picture, href, more }) =>
  element(
    "article",
    { class: "finding", "data-key": key },
    element("h2", {}, title),
    element("p", {}, text),
    picture,
    element("p", { class: "more" }, link(href, more)),
  );

/** @param {System} system */
const strongName = (system) => element("strong", {}, nameOf(system.fullName));

/** @param {Standings} table */
function leadCard(table) {
  const facts = leadFacts(table);
  if (!facts) return null;
  const { lead, second, ranked } = facts;
  const score = (/** @type {Standing} */ row) => scoreText(row.figures.get(table.by.id).value);
  const noun = table.by.kind === "task" ? "score" : "average";
  const place = segmentPlace(table.choice.segment);
  const { system } = lead;
  const text = second
    ? [strongName(system), ` has the best ${noun} ${place}, ${score(lead)} to ${score(second)} for `, strongName(second.system), ". "]
    : [strongName(system), ` alone covers ${table.choice.segment.words}: ${score(lead)}.`];
  return findingCard("lead", second ? "Who leads, and is it sure?" : "Who leads?", {
    text: [text, second ? [conflictText(facts, second), verdictText(table, lead, second)] : ""],
    picture: leadPicture(table, ranked),
    href: second ? hashOf(["compare"], { system: [system.id, second.system.id] }) : hashOf(["system", system.id]),
    more: second ? "Compare both" : "See its scores",
  });
}

// Why the best average is not the best on most tasks: "mT5-XXL scores higher on 6 of 10 tasks; retrieval decides. "
/** @param {LeadFacts} facts @param {Standing} second @returns {Child} */
function conflictText({ higher, tasks, decides }, second) {
  if (!higher) return "";
  const because = decides ? `; ${categoryTitle(decides).toLowerCase()} decides` : "";
  return [nameOf(second.system.name), ` scores higher on ${higher} of ${plural(tasks, "task")}${because}. `];
}

// Is the order of the first two certain?
/** @param {Standings} table @param {Standing} lead @param {Standing} second @returns {Child} */
function verdictText(table, lead, second) {
  const { order, testRanks } = table;
  if (testRanks) return "";
  if (!order.test) return "The order is not tested.";
  const untested = [lead, second].find(({ system }) => !order.ranges.has(system.id));
  if (untested) return ["Not tested: ", nameOf(untested.system.name), " has no scores per language."];
  const { after } = firstPlace(table);
  return `${after[0].toUpperCase()}${after.slice(1)}.`;
}

/** @type {WeakSet<Board>} */
const compared = new WeakSet();

/** @param {Board} board */
function serviceCard(board) {
  const title = "Where does the best stop working?";
  if (!compared.has(board) && board.systems.length * board.cellCount > QUICKLY_COMPARED) {
    setTimeout(() => {
      serviceFacts(board);
      compared.add(board);
      redraw();
    }, 30);
    const text = element("span", { class: "soft" }, "Comparing all scores with English …");
    return findingCard("service", title, { text, picture: null, href: "#/languages", more: "See the languages" });
  }
  const facts = serviceFacts(board);
  if (!facts) return null;
  return findingCard("service", title, {
    text: serviceText(board, facts),
    picture: languagePicture(board.languages, facts),
    href: "#/languages",
    more: "See the languages",
  });
}

/** @param {Board} board @param {ServiceFacts} facts */
function serviceText(board, { service: { served, unserved, untested }, reference }) {
  const count = `${countText(served.languages.length)} of ${plural(board.languages.length, "language")}`;
  const rest = [
    unserved.languages.length ? `falls short in ${countText(unserved.languages.length)}${speakersText(unserved)}` : "",
    untested.languages.length ? `${countText(untested.languages.length)} cannot be compared` : "",
  ].filter(Boolean);
  return [
    `The best score reaches ${100 * SERVED_SHARE} % of the best ${languageName(board, reference)} score in `,
    element("strong", {}, count),
    `${speakersText(served)}`,
    rest.length ? `; ${unserved.languages.length ? "it " : ""}${rest.join("; ")}.` : ".",
  ];
}

/** @param {ServiceGroup} group */
const speakersText = ({ speakers }) => (speakers ? ` (${peopleText(speakers)} speakers)` : "");

/** @param {number} count */
const peopleText = (count) =>
  count >= 1e9
    ? `${(count / 1e9).toFixed(1)} billion`
    : count >= 1e6
      ? `${countText(Math.round(count / 1e6))} million`
      : countText(count);

/** @param {Board} board */
function humanCard(board) {
  const gaps = bestHumanGaps(board);
  if (!gaps.length) return null;
  const [most, least] = [gaps[0], gaps[gaps.length - 1]];
  const sentence = (/** @type {HumanGap} */ { task, gap }) => [
    element("strong", {}, task.name),
    ` (${scoreText(Math.abs(gap))} points ${gap > 0 === task.lower_is_better ? "above" : "below"})`,
  ];
  const text =
    gaps.length > 1
      ? ["The best score is furthest from the human one on ", sentence(most), " and closest on ", sentence(least), ". "]
      : ["The best score compared with the human one on ", sentence(most), ". "];
  const note = "Human scores are mostly for English; systems average all languages.";
  return findingCard("human", "How far from people?", {
    text: [text, element("span", { class: "soft" }, note)],
    picture: humanPicture(board, gaps),
    href: "#/progress?view=humans",
    more: "See the human scores",
  });
}
