import { languageName } from "../board/decode.js";
import { countText, element, link, percentText } from "../page/dom.js";
import { plainTable } from "../board/parts.js";
import { hashOf } from "../page/state.js";

// Reasons for a reply without an answer, in this order, with their titles and meanings.
/** @type {Record<string, [string, string]>} */
const REASONS = {
  refusal: ["Refusal", "the model says that it cannot answer or does not understand the language"],
  none: ["None", "it says that none of the options fits"],
  several: ["Several", "several answers at once"],
  empty: ["Empty", "no text"],
  cut: ["Cut", "ended at the token limit before an answer"],
  filtered: ["Filtered", "withheld by the server's content filter"],
  unparsed: ["Unreadable", "no answer was found"],
};

/** @typedef {{ code: string, replies: number, failed: number, failures: Record<string, number> }} LanguageReplies */

// Totals over the tasks of each language, the largest share of replies without an answer first.
/** @param {SystemCell[]} cells @returns {LanguageReplies[]} */
export function repliesByLanguage(cells) {
  /** @type {Map<string, LanguageReplies>} */
  const byCode = new Map();
  for (const { language: code, replies = 0, failures = {} } of cells) {
    if (!replies) continue;
    const total = byCode.get(code) ?? { code, replies: 0, failed: 0, failures: {} };
    total.replies += replies;
    for (const [reason, count] of Object.entries(failures)) {
      total.failed += count;
      total.failures[reason] = (total.failures[reason] ?? 0) + count;
    }
    byCode.set(code, total);
  }
  return [...byCode.values()].sort(
    (one, other) => other.failed / other.replies - one.failed / one.replies || (one.code < other.code ? -1 : 1),
  );
}

/** @param {Board} board @param {SystemDetail} detail */
export function repliesSection(board, detail) {
  const languages = repliesByLanguage(detail.cells ?? []);
  const reasons = Object.keys(REASONS).filter((reason) => languages.some(({ failures }) => failures[reason]));
  if (!reasons.length) return null;
  /** @param {string} text */
  const number = (text) => element("td", { class: "number" }, text);
  const rows = languages.map(({ code, replies, failed, failures }) => [
    element("td", {}, link(hashOf(["language", code]), languageName(board, code))),
    number(countText(replies)),
    number(percentText(failed / replies)),
    ...reasons.map((reason) => number(failures[reason] ? countText(failures[reason]) : "–")),
  ]);
  const meanings = reasons.map((reason) => `${REASONS[reason][0]}: ${REASONS[reason][1]}`).join("; ");
  return element(
    "section",
    {},
    element("h2", {}, "Replies without an answer"),
    element("p", { class: "soft" }, `They count as wrong. ${meanings}.`),
    plainTable(
      "Replies without an answer by language",
      ["Language", "Replies", "Unparsed", ...reasons.map((reason) => REASONS[reason][0])],
      rows,
      { tall: true, words: 1 },
    ),
  );
}
