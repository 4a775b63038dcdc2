// Why the better average and the number of won tasks or cells may disagree.
import { categoryTitle } from "../board/describe.js";
import { countText, missing, nameOf, plural, printedScore, scoreText } from "../page/dom.js";
import { betterCounts } from "./contrast_counts.js";
import { leadOf } from "./contrasts.js";

// The parts that the suite's rule averages, each with what it adds to the difference; none under other rules.
/** @param {Board} board @param {PairContrasts} contrasts @returns {AddedPart[]} */
export function addedParts(board, { complete, categories, tasks }) {
  /** @type {{ title: string, part: Maybe<Contrast>, of: string[] }[]} */
  let parts = [];
  if (board.rule.name === "category")
    parts = board.categories.map(({ name, tasks: members }) => ({
      title: categoryTitle(name),
      of: members,
      part: [...categories, ...tasks].find(({ id }) => id === (members.length > 1 ? name : members[0])),
    }));
  else if (board.rule.name === "flat") parts = tasks.map((part) => ({ title: part.title, part, of: [part.id] }));
  if (!complete || parts.length < 2 || parts.some(({ part }) => missing(part))) return [];
  return parts.flatMap(({ title, part, of }) => {
    if (!part) return [];
    const { first, second, lower, lead } = part;
    return [{ title, tasks: of, first, second, lower, lead, added: lead / parts.length }];
  });
}

// The fewest parts without which the leader would not lead, largest first.
/** @param {AddedPart[]} parts @param {number} lead */
export function decidingParts(parts, lead) {
  const sign = Math.sign(lead);
  const ahead = parts.filter(({ added }) => added * sign > 0).sort((a, b) => sign * (b.added - a.added));
  const deciding = [];
  let rest = Math.abs(lead);
  for (const part of ahead) {
    if (rest <= 0) break;
    deciding.push(part);
    rest -= Math.abs(part.added);
  }
  return deciding;
}

// In which counts the system with the worse average is ahead nevertheless, and in which it is not.
/** @param {PairContrasts} contrasts @param {AddedPart[]} parts */
export function againstLeader({ top, tasks, cells }, parts) {
  /** @type {("first" | "second")[]} */
  const [leader, other] = (top?.lead ?? 0) >= 0 ? ["first", "second"] : ["second", "first"];
  const categories = parts.map(({ lower, first, second }) => leadOf(lower, printedScore(first), printedScore(second)));
  const counts = [
    {
      noun: "category",
      nouns: "categories",
      first: categories.filter((lead) => lead > 0).length,
      second: categories.filter((lead) => lead < 0).length,
      equal: categories.filter((lead) => !lead).length,
      all: parts.length,
    },
    { noun: "task", nouns: "tasks", ...betterCounts(tasks) },
    { noun: "shared cell", nouns: "shared cells", ...betterCounts(cells) },
  ].filter(({ all }) => all > 1);
  return {
    leader,
    other,
    against: counts.filter((count) => count[other] > count[leader]),
    along: counts.filter((count) => count[other] <= count[leader]),
  };
}

/** @param {Child[]} items */
const enumerated = (items) => items.map((item, at) => [at ? (at === items.length - 1 ? " and " : ", ") : "", item]);

// The plain scores in one or two sentences: who has the better average because of what, and where the other is ahead.
/** @param {Board} board @param {System[]} pair @param {PairContrasts} contrasts @returns {Child[]} */
export function explanationWords(board, [first, second], contrasts) {
  const { top } = contrasts;
  if (!top || printedScore(top.first) === printedScore(top.second)) return [];
  const byCategory = board.rule.name === "category";
  const parts = addedParts(board, contrasts);
  const { leader, other, against, along } = againstLeader(contrasts, byCategory ? parts : []);
  const [ahead, behind] = leader === "first" ? [first, second] : [second, first];
  /** @param {{ first: number, second: number }} of */
  const scores = (of) => `${scoreText(of[leader])} vs ${scoreText(of[other])}`;
  /** @param {"first" | "second"} side @param {any[]} counts */
  const counted = (side, counts) =>
    enumerated(
      counts.map((count) => [
        `${count[side]} of ${plural(count.all, count.noun, count.nouns)}`,
        count.equal ? ` (${countText(count.equal)} equal)` : "",
      ]),
    );
  /** @param {AddedPart} part */
  const noted = ({ tasks }) =>
    board.footnotes?.some(({ system, task }) => [first.id, second.id].includes(system) && tasks.includes(task));
  const deciding = against.length ? decidingParts(parts, top.lead) : [];
  return [
    nameOf(ahead.fullName),
    ` has the better average (${scores(top)})`,
    deciding.length
      ? [" because of ", enumerated(deciding.map((part) => `${part.title} (${scores(part)})${noted(part) ? "†" : ""}`))]
      : "",
    along.length
      ? [against.length ? ", and the better score in " : " and the better score in ", counted(leader, along)]
      : "",
    against.length ? ["; ", nameOf(behind.fullName), " has the better score in ", counted(other, against)] : "",
    ".",
  ];
}
