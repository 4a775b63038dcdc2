import { plainTable } from "../board/parts.js";
import { element, link, missing, nameOf, plural, scoreText, signedText } from "../page/dom.js";
import { hashOf } from "../page/state.js";
import { monthText } from "./dates.js";
import { bestRow, daggerNotes, gapsText, humanGaps, notesOn, shortName, suiteBest, taskSets } from "./history.js";
import { wholeBoard } from "./progress_data.js";

// What changed since XTREME, from the data of both suites; none for other boards.
/** @param {Board} board @returns {Child[]} */
export function changesView(board) {
  const { history } = board;
  if (!history) return [];
  return [
    element("h2", {}, "What changed since XTREME"),
    element("ul", {}, changeLines(board, history).map((line) => element("li", {}, line))),
    element("h3", {}, "Task by task"),
    changesTable(board, history),
    daggerNotes(
      board,
      board.tasks.flatMap((task) => {
        const best = bestRow(wholeBoard(board).rows, task.id, task.lower_is_better);
        return best ? [{ task, system: best.system }] : [];
      }),
    ),
    element(
      "p",
      { class: "notes" },
      `Zero-shot transfer in ${history.suites.map(({ source }) => source).join(" and ")}, and the best score on this board in any regime. `,
      "The suites have other tasks, languages and averages: their averages are not comparable, and scores of a task only where its ",
      "languages are the same.",
    ),
  ];
}

/** @param {Board} board @param {BoardHistory} history @returns {Child[]} */
function changeLines(board, history) {
  const [old, now] = history.suites;
  const { dropped, added, kept } = taskSets(history);
  const names = (/** @type {HistoryTask[]} */ tasks) => listWords(tasks.map(({ name }) => shortName(name)));
  const size = (/** @type {HistorySuite} */ { tasks, languages }) =>
    `${plural(tasks.length, "task")} in ${plural(languages, "language")}`;
  return [
    [strong("Size. "), `XTREME (${monthText(old.date)}) has ${size(old)}, XTREME-R (${monthText(now.date)}) ${size(now)}.`],
    [
      strong("Tasks. "),
      `Dropped: ${names(dropped)}. Added: ${names(added)}. Kept: ${names(kept)}.`,
    ],
    [
      strong("Rules. "),
      history.changes
        .map(({ task, change }) => `${shortName(now.tasks.find(({ id }) => id === task)?.name ?? task)}: ${change}`)
        .join(". "),
      `. ${ruleText(old)}; ${ruleText(now)}.`,
    ],
    [strong("Scores. "), statedScores(history)],
    [strong("Humans. "), humansText(board, history)],
  ];
}

/** @param {string} text */
const strong = (text) => element("strong", {}, text);
/** @param {string[]} words */
const listWords = (words) =>
  words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words.join("");
/** @param {HistorySuite} suite */
const ruleText = ({ id, rule }) =>
  `${id.toUpperCase()} averages over ${rule === "flat" ? "tasks" : "categories of tasks"}`;

// The first and the latest stated scores of XTREME's leaderboard, and the best of XTREME-R's first results.
/** @param {BoardHistory} history */
function statedScores({ events, suites: [old, now] }) {
  const baseline = suiteBest(old);
  const top = (/** @type {string} */ measure) => events.find((one) => one.event === "highest" && one.measure === measure);
  const low = events.find(({ event, measure }) => event === "lowest" && measure === "retrieval");
  const [overall, retrieval] = [top("overall"), top("retrieval")];
  const first = suiteBest(now);
  return [
    baseline ? `XTREME's best average was ${scoreText(baseline.average)} (${baseline.system}, ${monthText(old.date)})` : "",
    overall ? ` and ${scoreText(overall.value)} in ${monthText(overall.date)}` : "",
    low && retrieval
      ? `; on retrieval, scores range from ${scoreText(low.value)} (${low.system}) to ${scoreText(retrieval.value)} (${retrieval.system})`
      : "",
    first ? `. XTREME-R's first best average, over other tasks, was ${scoreText(first.average)} (${first.system}).` : ".",
  ].join("");
}

// The stated gaps to humans, and the task of this board that is farthest from them.
/** @param {Board} board @param {BoardHistory} history @returns {Child[]} */
function humansText(board, { events }) {
  const [farthest] = humanGaps(board, wholeBoard(board).rows);
  return [
    `${gapsText(events)} `,
    farthest && farthest.gap > 0
      ? [
          `Farthest from humans on this board: ${farthest.task.name}, by ${scoreText(farthest.gap)} points. `,
          link(hashOf(["progress"], { view: "humans" }), "All gaps to humans"),
        ]
      : null,
  ];
}

/** @param {Board} board @param {BoardHistory} history */
function changesTable(board, history) {
  const [old, now] = history.suites;
  const { rows } = wholeBoard(board);
  const tasks = [...now.tasks, ...old.tasks.filter(({ id }) => !now.tasks.some((task) => task.id === id))];
  const notes = new Map(history.changes.map(({ task, change }) => [task, change]));
  return plainTable(
    "What changed, task by task",
    ["Task", "Change", "Languages", `Best, ${monthText(old.date)}`, `Best, ${monthText(now.date)}`, "Best on this board", "Human", "Gap"],
    tasks.map(({ id, name, human }) => {
      const [before, after] = [old, now].map(({ tasks: own }) => own.find((task) => task.id === id));
      const status = !before ? "added" : !after ? "dropped" : notes.has(id) ? "kept, new rules" : "kept";
      const task = board.task.get(id);
      const best = task ? bestRow(rows, id, task.lower_is_better) : null;
      const people = task ? task.human : human;
      return cellsOf([
        task ? link(hashOf(["task", id]), shortName(name)) : shortName(name),
        status,
        [before, after].map((own) => own?.languages ?? "–").join(" → "),
        stated(old, id),
        stated(now, id),
        task && best
          ? scored(best.value, [link(hashOf(["system", best.system.id]), nameOf(best.system.name)), `, ${best.system.regime}`], notesOn(board, best.system, task).length > 0)
          : "–",
        scoreText(people),
        best && !missing(people) ? signedText(best.value - people) : "–",
      ]);
    }),
    { words: 6 },
  );
}

// The cells of a row: its name, words, and two numbers at the end.
/** @param {Child[]} cells */
const cellsOf = ([name, ...cells]) => [
  element("th", { scope: "row" }, name),
  cells.map((cell, at) => element("td", { class: at < cells.length - 2 ? null : "number" }, cell)),
];

/** @param {number} value @param {Child} name @param {boolean} [noted] */
const scored = (value, name, noted = false) => [`${scoreText(value)}${noted ? "†" : ""}`, element("span", { class: "under" }, name)];

/** @param {HistorySuite} suite @param {string} id */
function stated(suite, id) {
  const best = suite.rows
    .filter(({ regime, scores }) => regime === "zero-shot" && !missing(scores[id]))
    .reduce((/** @type {any} */ top, row) => (!top || row.scores[id] > top.scores[id] ? row : top), null);
  return best ? scored(best.scores[id], best.system) : "–";
}
