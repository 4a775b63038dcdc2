// The distributions that the dataset bias page can show, most uneven first.
import { valueCounts } from "./buckets.js";
import { cellExamples } from "./cell_examples.js";
import { byUnevenness, isConstant, summaryOf, unevenness } from "./unevenness.js";
import { scriptFile, taskName } from "../board/decode.js";
import { groupedBy, memoized } from "../board/ranking.js";

// Each cell is a file: tasks are ranked by their first languages, and only so many tasks.
const PROBED_LANGUAGES = 3;
const PROBED_TASKS = 12;
// Scripts differ between languages, not between examples: they are listed last.
const OF_LANGUAGES = ["script", "scriptMix"];

/** @typedef {{ task: string, attribute: string, title: string, taskName: string, discrete: boolean, uneven: number, constant: boolean, languages: number, all: boolean }} BiasItem */

// The distributions by isogloss explain --bias.
/** @param {Board} board */
export async function boardDistributions(board) {
  if (board.has_bias) await scriptFile("bias.js");
  return globalThis.isoglossBias?.distributions ?? [];
}

/** @param {Board} board @param {string} task @returns {Promise<Pick<Distribution, "attribute" | "title" | "discrete" | "shares" | "quartiles">[]>} */
async function probed(board, task) {
  const codes = (board.examples?.[task] ?? []).slice(0, PROBED_LANGUAGES);
  const cells = await Promise.all(codes.map((code) => cellExamples(task, code)));
  return cells.flatMap((examples) =>
    (examples?.attributes ?? []).map((attribute) => ({
      attribute: attribute.name,
      title: attribute.title,
      ...summaryOf(attribute, valueCounts(attribute.column, examples?.counted)),
    })),
  );
}

/** @type {(board: Board) => Promise<BiasItem[]>} */
export const biasItems = memoized(async (/** @type {Board} */ board) => {
  const ready = groupedBy(await boardDistributions(board), ({ task }) => task);
  const others = Object.keys(board.examples ?? {}).filter((task) => !ready.has(task));
  const found = await Promise.all(
    others.slice(0, PROBED_TASKS).map(async (task) => ({ task, parts: await probed(board, task) })),
  );
  const byTask = [...[...ready].map(([task, parts]) => ({ task, parts })), ...found];
  const items = byTask.flatMap(({ task, parts }) =>
    [...groupedBy(/** @type {any[]} */ (parts), ({ attribute }) => attribute)].map(([attribute, own]) => ({
      task,
      attribute,
      title: own[0].title,
      taskName: taskName(board, task),
      discrete: own[0].discrete,
      uneven: OF_LANGUAGES.includes(attribute) ? 0 : unevenness(own),
      constant: OF_LANGUAGES.includes(attribute) || isConstant(own),
      languages: own.length,
      all: ready.has(task) || (board.examples?.[task] ?? []).length <= PROBED_LANGUAGES,
    })),
  );
  // The distributions of further tasks are unknown until they are chosen.
  const rest = others.slice(PROBED_TASKS).map((task) => ({
    ...{ task, attribute: "", title: "", taskName: taskName(board, task), discrete: false },
    ...{ uneven: -1, constant: false, languages: 0, all: false },
  }));
  return [...byUnevenness(items), ...rest];
});
