import { disclosed, systemWithRegime } from "../board/describe.js";
import { cellTitle } from "../board/decode.js";
import { countText, element, link, missing, plural, scoreText, sizeText, wholePercent } from "../page/dom.js";
import { pageHead, plainTable } from "../board/parts.js";
import { changeParams, hashOf } from "../page/state.js";
import { laterTest } from "../board/later_test.js";
import { presetLinks, sentence } from "./finder_controls.js";
import { cellLink, contextShares, pickCard } from "./finder_cards.js";
import { joinedNames, wishCell, wishConditions, wishTask, wishTitle } from "./finder_words.js";
import { recommend, wishOf, wishParams } from "./recommend.js";
import { leaderboardParams, verdictOf } from "./verdict.js";

/** @param {Wish} wish @param {...Child} children */
const wishLink = (wish, ...children) => link(hashOf(["find"], wishParams(wish)), ...children);

/** @param {Board} board @returns {Page} */
export function findPage(board) {
  const testLater = laterTest();
  /** @param {URLSearchParams} params */
  const view = (params) => {
    const wish = wishOf(board, params);
    const found = recommend(board, wish);
    return [
      pageHead("Find a model"),
      sentence(board, wish, (changes) => changeParams(changes)),
      presetLinks(board, wish),
      element("section", { class: "found", "aria-live": "polite" }, wishAnswer(board, found, testLater)),
    ];
  };
  const title = (/** @type {URLSearchParams} */ params) => {
    const wish = wishOf(board, params);
    return Object.keys(wishParams(wish)).length ? `Find a model: ${wishTitle(wish)}` : "Find a model";
  };
  return { title, view };
}

/** @param {Board} board @param {Recommendation} found @param {(table: Standings) => void} testLater @returns {Child} */
function wishAnswer(board, found, testLater) {
  if (!found.tested) return guessedAnswer(board, found, testLater);
  if (!found.kept) return excludedAnswer(found);
  return [foundResults(board, found, testLater), undisclosedText(found)];
}

/** @param {Board} board @param {Recommendation} found @param {(table: Standings) => void} testLater */
function foundResults(board, found, testLater) {
  const { wish, groups, byTask } = found;
  const conditions = wishConditions(wish).replace(", ", " and ");
  const have = (/** @type {number} */ count) => (count === 1 ? "has" : "have");
  const count = conditions
    ? `${found.tested > 1 ? `${countText(found.kept)} of ${countText(found.tested)} tested systems` : "the only tested system"} ${have(found.kept)} ${conditions}`
    : `${plural(found.tested, "system")} ${have(found.tested)} scores`;
  const head = element(
    "p",
    { class: "soft" },
    `${wishCell(wish)[0].toUpperCase()}${wishCell(wish).slice(1)}: ${count}.`,
  );
  if (!groups.length)
    return [
      head,
      wish.language
        ? null
        : element("p", {}, "No matching system covers the full benchmark, so there is no overall ranking."),
      element("h2", {}, "Highest score on each task"),
      bestOnTasks(board, wish, byTask),
    ];
  return [
    head,
    groups.map((group) => pickGroup(board, wish, group, testLater)),
    byTask.length ? [element("h2", {}, "Higher on one task alone"), bestOnTasks(board, wish, byTask)] : null,
  ];
}

/** @param {Board} board @param {Wish} wish @param {PickGroup} group @param {(table: Standings) => void} testLater */
function pickGroup(board, wish, group, testLater) {
  const verdict = verdictOf(board, wish, group);
  if (verdict.table) testLater(verdict.table);
  const { tasks, picks, total } = group;
  const names = wish.kind === "any" ? "the full benchmark" : joinedNames(tasks.map(({ name }) => name));
  const [first] = picks;
  const ids = picks.map(({ system }) => system.id);
  return element(
    "div",
    { class: "pick-group", "data-key": `group-${tasks.map(({ id }) => id).join(" ")}` },
    element(
      "h2",
      { class: "answer" },
      systemWithRegime(first.system),
      verdict.sure ? " is best" : " has the highest score",
      ` on ${names}: ${scoreText(first.value)}`,
      total > 1 ? element("span", { class: "soft" }, `, of ${plural(total, "system")}`) : null,
    ),
    element("p", { class: "pick-verdict", "data-sure": verdict.sure }, verdict.text),
    element(
      "ol",
      { class: "picks" },
      picks.map((pick) => pickCard(board, wish, group, pick, verdict)),
    ),
    element(
      "p",
      { class: "next" },
      ids.length > 1
        ? link(hashOf(["compare"], { system: ids }), ids.length > 2 ? "Compare the three" : "Compare the two")
        : null,
      wish.language || tasks.length === 1
        ? tasks.map((task) =>
            cellLink(
              task,
              wish.language,
              `All systems on ${task.name}${wish.language ? ` in ${wish.language.name}` : ""}`,
            ),
          )
        : link(
            hashOf([], { segment: wish.kind === "any" ? "full" : wish.id, ...leaderboardParams(wish, "overall") }),
            "All systems on the leaderboard",
          ),
    ),
  );
}

// The best system on each task, without an average.
/** @param {Board} board @param {Wish} wish @param {PickGroup[]} byTask */
function bestOnTasks(board, wish, byTask) {
  const rows = byTask.map(({ tasks: [task], picks: [{ system, value }], total }) => ({
    ...{ task, system, value, total },
    shares: contextShares(board, task, value, wish.language),
  }));
  const titles = ["Of the best in English", "Of human performance"];
  const known = [0, 1].filter((at) => rows.some(({ shares }) => !missing(shares[at])));
  return plainTable(
    "Highest score on each task",
    ["Task", "System", "Highest score", ...known.map((at) => titles[at]), "Size", "Systems tested"],
    rows.map(({ task, system, value, shares, total }) => [
      element("th", { scope: "row" }, cellLink(task, wish.language, wish.language ? cellTitle(task) : task.name)),
      element("td", {}, systemWithRegime(system)),
      [
        element("strong", {}, scoreText(value)),
        ...known.map((at) => (missing(shares[at]) ? "–" : wholePercent(shares[at]))),
        disclosed(system.parameters, sizeText),
        countText(total),
      ].map((content) => element("td", { class: "number" }, content)),
    ]),
    { words: 2 },
  );
}

// The wish is not tested: the nearest language is a guess, and is named one.
/** @param {Board} board @param {Recommendation} found @param {(table: Standings) => void} testLater @returns {Child} */
function guessedAnswer(board, { wish, near }, testLater) {
  const { language } = wish;
  const what = `No system was tested on ${wishCell(wish)}.`;
  if (!language || !near)
    return element(
      "p",
      { class: "headline" },
      what,
      " ",
      wishLink({ ...wish, language: null }, `Rank by ${wishTask(wish)} in all languages`),
      ".",
    );
  const likeness =
    near.family === language.family
      ? "same family"
      : near.script === language.script
        ? "same script"
        : "most similar by its features";
  return [
    element(
      "div",
      { class: "guess" },
      element(
        "p",
        { class: "headline" },
        `${what} Nearest tested language: `,
        link(hashOf(["language", near.code]), near.name),
        ` (${likeness}).`,
      ),
      element(
        "p",
        {},
        `A guess, not a result: the scores below are for ${near.name}. Scores in ${language.name} can be very different.`,
      ),
    ),
    wishAnswer(board, recommend(board, { ...wish, language: near }), testLater),
  ];
}

// The conditions remove every tested system: name them, and offer to drop each that helps.
/** @param {Recommendation} found */
function excludedAnswer(found) {
  const { wish, tested, without } = found;
  const alone = without.open || without.most;
  /** @type {[number, Wish, string, string][]} */
  const offers = [
    [without.open, { ...wish, open: false }, "any weights", "the wish for open weights"],
    [without.most, { ...wish, most: null }, "any size", "the limit on size"],
    [
      alone ? 0 : without.both,
      { ...wish, open: false, most: null },
      "any weights and any size",
      "both conditions together",
    ],
  ];
  const useful = offers.filter(([count]) => count);
  return [
    element(
      "p",
      { class: "headline" },
      tested > 1 ? `None of the ${countText(tested)} systems` : "The only system",
      ` tested on ${wishCell(wish)} is ${tested > 1 ? "" : "not "}known to have ${wishConditions(wish).replace(", ", " and ")}`,
      useful.length === 1
        ? `: ${useful[0][3]} removes all of them.`.replace("together removes", "together remove")
        : ".",
    ),
    element(
      "ul",
      { class: "offers" },
      useful.map(([count, changed, words]) =>
        element("li", {}, wishLink(changed, `Allow ${words}`), `: ${plural(count, "system")}`),
      ),
    ),
    undisclosedText(found),
  ];
}

/** @param {Recommendation} found */
function undisclosedText({ wish, undisclosed }) {
  const facts = [wish.most === null ? "" : "size", wish.open ? "weights" : ""].filter(Boolean).join(" or ");
  return undisclosed
    ? element(
        "p",
        { class: "soft" },
        `${plural(undisclosed, "more tested system")} ${undisclosed === 1 ? "does" : "do"} not disclose ${undisclosed === 1 ? "its" : "their"} ${facts}.`,
      )
    : null;
}
