// The systems that an analysis can show, and those that it opens with.
import { analysedCells, builtCharts } from "./built_charts.js";
import { systemDetail } from "../board/decode.js";
import { memoized } from "../board/ranking.js";
import { standings } from "../board/standings.js";

// Each system's details are a file: look into the first ones by rank only.
const MOST_TRIED = 24;
// More than any rank or number of cells.
const UNRANKED = 1e9;

/** @param {Detail} detail */
const isAnalysed = (detail) =>
  analysedCells([detail]).length > 0 || builtCharts("single", [], [detail]).length > 0;

/** @param {{ rank: Maybe<number>, system: System }} row */
const inOrderOf = ({ rank, system }) => rank ?? UNRANKED - system.cells;

// Systems that may have analyses, best first, and partial ones by number of cells: reported ones have scores only.
/** @type {(board: Board) => System[]} */
export const ownSystems = memoized((/** @type {Board} */ board) => {
  if (board.systems.every(({ reported }) => reported)) return [];
  return standings(board, new URLSearchParams())
    .rows.filter(({ system }) => !system.reported)
    .sort((a, b) => inOrderOf(a) - inOrderOf(b))
    .map(({ system }) => system);
});

/** @param {Detail} one @param {Detail} other @param {System} second */
const areCompared = (one, other, second) =>
  analysedCells([one, other]).length > 0 || (one?.analyses?.pairwise?.[second.id]?.length ?? 0) > 0;

// The best-ranked systems with analyses: one, or two that share examples. `first` is given for the second of a pair.
/** @param {Board} board @param {number} count @param {System[]} [first] @returns {Promise<System[]>} */
export async function preselected(board, count, first = []) {
  const chosen = [...first];
  const details = await Promise.all(chosen.map(({ id }) => systemDetail(id)));
  for (const system of ownSystems(board).slice(0, MOST_TRIED)) {
    if (chosen.length >= count) break;
    if (chosen.includes(system)) continue;
    const detail = await systemDetail(system.id);
    if (!isAnalysed(detail) || (chosen.length && !areCompared(details[0], detail, system))) continue;
    chosen.push(system);
    details.push(detail);
  }
  return chosen;
}

// Why a board has no analyses of systems, and what to do.
/** @param {Board} board */
export const noExamplesText = (board) =>
  board.no_examples || "This board has scores only, without predictions of single examples.";
