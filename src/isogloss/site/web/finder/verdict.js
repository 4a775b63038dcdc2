import { loadedDetail } from "../board/decode.js";
import { listed } from "../page/dom.js";
import { testedOn, lackingTestText } from "../board/tested_on.js";
import { testedCounts } from "../board/tested_order.js";
import { standings } from "../board/standings.js";
import { ALPHA } from "../statistics/distributions.js";
import { isLower } from "./recommend.js";

const LOADING = "Loading tests…";

// What tests say about the order of a group of picks: a sentence, whether the first is surely the best, the ranks left open,
// and the leaderboard's ranking if it is still to be tested.
/** @param {Board} board @param {Wish} wish @param {PickGroup} group @returns {FinderVerdict} */
export function verdictOf(board, wish, group) {
  if (group.total === 1) return { text: "No other system that matches was tested on the same tasks.", sure: false };
  if (!wish.language) return rankingVerdict(board, wish, group);
  if (group.tasks.length > 1)
    return { text: "The order is not tested: means over several tasks in one language have no test.", sure: false };
  return cellVerdict(group, wish.language);
}

// All languages: the test of the leaderboard, with the same filters.
/** @param {Board} board @param {Wish} wish @param {PickGroup} group @returns {FinderVerdict} */
function rankingVerdict(board, wish, { tasks, picks }) {
  const whole = tasks.length === wish.tasks.length;
  if (!whole && tasks.length > 1) return { text: "The order on these tasks is not tested.", sure: false };
  const sort = tasks.length === 1 ? tasks[0].id : wish.id;
  const table = standings(board, new URLSearchParams(leaderboardParams(wish, sort)));
  const { order, testRanks } = table;
  if (testRanks) return { text: "Testing the order…", sure: false, table };
  if (!order.test) return { text: order.note || "The order is not tested.", sure: false };
  const { first } = testedCounts(order);
  const untested = order.untested.size;
  const others = untested ? ` ${lackingTestText(untested)}.` : "";
  if (order.ranges.has(picks[0].system.id) && first === 1 && !untested)
    return { text: `The first place is significant ${testedOn(order.test)}.`, sure: true, order };
  const words =
    first > 1 ? ` ${first} ${untested ? "tested " : ""}systems could be first: they are not significantly different ${testedOn(order.test)}.` : "";
  return { text: `The first place is not certain.${words}${others}`, sure: false, order };
}

/** @param {Wish} wish @param {string} sort */
export const leaderboardParams = ({ open, most }, sort) => ({
  ...(sort === "overall" ? {} : { sort }),
  ...(open ? { open: "yes" } : {}),
  ...(most === null ? {} : { pmax: String(most) }),
});

// One cell: paired tests on its examples, from the files of the systems.
/** @param {{ tasks: Task[], picks: { system: System }[] }} group @param {Language} language @returns {FinderVerdict} */
export function cellVerdict({ tasks, picks }, language) {
  const without = picks.filter(({ system }) => !system.has_predictions);
  if (without.length)
    return {
      text: `The order is not tested: this needs the predictions of ${picks.length === 2 ? "both" : "all"}, and ${
        without.length === picks.length
          ? "these are scores without predictions"
          : `${listed(without.map(({ system }) => system.fullName))} ${without.length === 1 ? "has" : "have"} only scores`
      }.`,
      sure: false,
    };
  const details = new Map(picks.map(({ system }) => [system.id, loadedDetail(system.id)]));
  if ([...details.values()].includes(undefined)) return { text: LOADING, sure: false };
  const column = `${tasks[0].id}/${language.code}`;
  /** @param {{ system: System }} one @param {{ system: System }} other */
  const testOf = (one, other) =>
    details.get(one.system.id)?.paired?.[other.system.id]?.find((test) => test.column === column);
  return pairWords(picks, testOf, isLower(tasks));
}

// Words for paired tests of two or three picks.
/**
 * @param {{ system: System }[]} picks
 * @param {(one: { system: System }, other: { system: System }) => PairedTest | undefined} testOf
 * @param {boolean} lower
 * @returns {FinderVerdict}
 */
export function pairWords(picks, testOf, lower) {
  const pairs = picks.flatMap((one, at) =>
    picks.slice(at + 1).map((other) => ({ one, other, test: testOf(one, other) })),
  );
  if (pairs.some(({ test }) => !test))
    return { text: "The order is not tested: this board has no paired tests of them.", sure: false };
  const isAhead = (/** @type {PairedTest | undefined} */ test) =>
    test !== undefined && test.p < ALPHA && test.difference !== 0 && test.difference > 0 !== lower;
  const clear = pairs.filter(({ test }) => isAhead(test));
  const on = "in paired tests on the same examples (Holm’s correction)";
  const names = `The best ${picks.length === 2 ? "two" : "three"}`;
  if (!clear.length) return { text: `${names} are not significantly different ${on}.`, sure: false };
  const beaten = clear.filter(({ one }) => one === picks[0]).map(({ other }) => other.system.fullName);
  const all = beaten.length === picks.length - 1;
  const first = picks[0].system.fullName;
  if (all) return { text: `${first} is significantly better than ${beaten.join(" and ")} ${on}.`, sure: true };
  const words = clear.map(({ one, other }) => `${one.system.fullName} than ${other.system.fullName}`).join(", ");
  return { text: `Significantly better ${on}: ${words}. Other pairs are not significantly different.`, sure: false };
}
