import { categoryTitle, systemWithRegime } from "../board/describe.js";
import { metricsText } from "../board/decode.js";
import { facts, pageHead } from "../board/parts.js";
import { rankingBy } from "../board/rank_words.js";
import { SERVED_SHARE, referenceOf, relativeScores, serviceOf } from "../board/relative.js";
import { firstPlace } from "../leaderboard/leaderboard_words.js";
import { allOf, countText, element, listed, missing, plural, printedScore, scoreText } from "../page/dom.js";

const MOST_UNSERVED_NAMES = 6;

// Who leads and how sure that is, where the best scores come near English, and what people reach.
/** @param {Board} board @param {Task} task @param {Point[]} ranked @param {string} served */
export const taskHead = (board, task, ranked, served) =>
  pageHead(
    task.title,
    ranked.length ? verdict(task, ranked, rankingBy(board, task.id)) : null,
    element("p", {}, [served, humanText(task, ranked)].filter(Boolean).join(" ")),
    facts([
      ["Category", categoryTitle(task.category)],
      ["Metric", `${metricsText(task)}; ${task.lower_is_better ? "lower" : "higher"} is better`],
      ["Languages", countText(task.languages.length)],
      ["Test examples", sizesText(task.n.filter(Boolean))],
    ]),
  );

/** @param {Task} task @param {Point[]} ranked @param {Standings} table */
function verdict(task, ranked, table) {
  const { verb, before, after } = firstPlace(table);
  return element(
    "p",
    { class: "headline" },
    systemWithRegime(ranked[0].system),
    ` ${verb}${before} `,
    element("strong", {}, scoreText(ranked[0].value)),
    ranked.length > 1 ? `, out of ${countText(ranked.length)} systems` : ", the only system",
    task.languages.length > 1 ? ` with results in ${allOf(task.languages.length)} languages` : "",
    after ? `; ${after}.` : ".",
  );
}

// "The best scores reach 80 % of English in 9 of 11 languages, not in Thai, Turkish", the lowest first.
/** @param {Board} board @param {Task} task */
export function servedText(board, task) {
  const reference = referenceOf(task, board.systems);
  if (missing(reference.value)) return "";
  const languages = task.languages.map((code) => board.language.get(code)).filter(Boolean);
  const others = languages.filter(({ code }) => code !== reference.code);
  const relative = relativeScores([task], board.systems);
  const { served, unserved } = serviceOf(others, relative);
  const tested = served.languages.length + unserved.languages.length;
  if (!tested) return "";
  const name = board.language.get(reference.code)?.name ?? reference.code;
  const shareIn = (/** @type {Language} */ { code }) => relative.get(code)?.share ?? NaN;
  const names = [...unserved.languages].sort((a, b) => shareIn(a) - shareIn(b)).map((language) => language.name);
  const count = served.languages.length;
  const part = count === tested && tested > 1 ? `${allOf(tested)} other languages` : `${count} of ${plural(tested, "other language")}`;
  return [
    `The best scores reach ${100 * SERVED_SHARE} % of the best score in ${name} in ${part}`,
    names.length && count ? `, not in ${listed(names, MOST_UNSERVED_NAMES)}.` : ".",
  ].join("");
}

/** @param {Task} task @param {Point[]} ranked */
export function humanText({ human, lower_is_better: lower }, ranked) {
  if (missing(human)) return "";
  const best = ranked[0]?.value;
  const words = `Human performance is ${scoreText(human)}`;
  if (missing(best)) return `${words}.`;
  // Of the scores, not of what is printed of them: other pages show the same gap.
  const gap = printedScore(lower ? best - human : human - best);
  return gap > 0
    ? `${words}, ${scoreText(gap)} points better than the best score.`
    : gap < 0
      ? `${words}, ${scoreText(-gap)} points worse than the best score.`
      : `${words}, as the best score.`;
}

/** @param {number[]} sizes */
function sizesText(sizes) {
  if (!sizes.length) return null;
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  return `${least === most ? countText(least) : `${countText(least)} to ${countText(most)}`} per language`;
}
