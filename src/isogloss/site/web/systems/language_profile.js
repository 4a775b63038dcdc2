import { cellOf, cellScore, cellTitle, loadedDetail } from "../board/decode.js";
import { bestInCell, englishPercent, isRelative } from "../board/best_cells.js";
import { languageLines } from "../board/families.js";
import { weightedMean } from "../board/ranking.js";
import { allOf, missing, plural, printedScore, scoreText, signedText } from "../page/dom.js";

// A system's scores on a task beside the best score of any system, with the intervals of its file.
/** @param {Board} board @param {System} system @param {Task} task @returns {ProfileRow[]} */
export function taskProfile(board, system, task) {
  const detail = system.reported ? null : loadedDetail(system.id);
  return languagesOf(board, task.languages).flatMap((language) => {
    const value = cellScore(task, system, language.code);
    if (missing(value)) return [];
    const { value: best, system: bestSystem } = bestInCell(board, task, language.code);
    const { low = null, high = null } = cellOf(detail, task, language.code) ?? {};
    const gap = task.lower_is_better ? best - value : value - best;
    const lines = [
      `${system.name} · ${cellTitle(task)} · ${language.name}: ${scoreText(value)}`,
      missing(low) ? "no interval" : `95 % interval ${scoreText(low)}–${scoreText(high)}`,
      `Best score ${scoreText(best)}: ${bestSystem === system ? "this system" : bestSystem?.fullName}`,
      ...languageLines(language),
    ];
    return [{ language, value, low, high, best, bestSystem, gap, lines }];
  });
}

// Scores in per cent of the best score in English on the same task, averaged over the tasks that the system has in a language;
// the best scores are of the same tasks.
/** @param {Board} board @param {System} system @returns {ProfileRow[]} */
export function relativeProfile(board, system) {
  const tasks = relativeTasks(board, system);
  return languagesOf(board, [...new Set(tasks.flatMap(({ languages }) => languages))]).flatMap((language) => {
    const parts = tasks.filter((task) => !missing(cellScore(task, system, language.code)));
    if (!parts.length) return [];
    /** @param {(task: Task) => number} of */
    const percent = (of) => weightedMean(parts.map((task) => englishPercent(board, task, of(task))));
    const value = percent((task) => cellScore(task, system, language.code));
    const best = percent((task) => bestInCell(board, task, language.code).value);
    const lines = [
      `${system.name} · ${language.name}: ${scoreText(value)} % of English`,
      `Best scores ${scoreText(best)} %`,
      `On ${parts.map(cellTitle).join(", ")}`,
      ...languageLines(language),
    ];
    return [{ language, value, low: null, high: null, best, bestSystem: null, gap: value - best, lines }];
  });
}

// The tasks with English on which a system has scores.
/** @param {Board} board @param {System} system */
export const relativeTasks = (board, system) =>
  board.tasks.filter(
    (task) =>
      isRelative(board, task) && task.languages.some((code) => !missing(cellScore(task, system, code))),
  );

/** @param {Board} board @param {string[]} codes @returns {Language[]} */
const languagesOf = (board, codes) => codes.map((code) => board.language.get(code)).filter(Boolean);

// "Closest to the best score in English (−0.4), farthest from it in Quechua (−21.3)."
/** @param {ProfileRow[]} rows @param {boolean} alone */
export function profileSentence(rows, alone) {
  if (alone) return `No other system has these scores: ${endsText(rows, ({ value }) => value, scoreText)}.`;
  const first = rows.filter(({ gap }) => printedScore(gap) >= 0);
  if (first.length === rows.length)
    return `Has the best score in ${rows.length === 1 ? rows[0].language.name : `${allOf(rows.length)} languages`}.`;
  const last = rows.reduce((one, other) => (other.gap < one.gap ? other : one));
  const farthest = `farthest from it in ${last.language.name} (${signedText(last.gap)})`;
  if (rows.length === 1) return `${capital(farthest.replace("farthest from it", "behind the best score"))}.`;
  if (first.length)
    return `Has the best score in ${first.length} of ${plural(rows.length, "language")}; ${farthest}.`;
  const close = rows.reduce((one, other) => (other.gap > one.gap ? other : one));
  return `Closest to the best score in ${close.language.name} (${signedText(close.gap)}), ${farthest}.`;
}

/** @param {string} text */
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** @param {ProfileRow[]} rows @param {(row: ProfileRow) => number} of @param {(value: number) => string} text */
function endsText(rows, of, text) {
  const sorted = [...rows].sort((a, b) => of(b) - of(a));
  const name = (/** @type {ProfileRow} */ row) => `${row.language.name} (${text(of(row))})`;
  return rows.length > 1 ? `highest in ${name(sorted[0])}, lowest in ${name(sorted.at(-1))}` : name(sorted[0]);
}

// The languages with the largest gaps, which a chart labels.
/** @param {ProfileRow[]} rows @param {number} [most] @returns {Set<ProfileRow>} */
export const widestGaps = (rows, most = 3) =>
  new Set(
    [...rows]
      .sort((a, b) => a.gap - b.gap)
      .slice(0, most)
      .filter(({ gap }) => printedScore(gap) < 0),
  );
