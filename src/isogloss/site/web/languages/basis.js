import { directedPaint } from "../charts/colour.js";
import { hasScores, languageName } from "../board/decode.js";
import { missing, percentText, scoreText, wholePercent } from "../page/dom.js";
import { memoized } from "../board/ranking.js";
import { SERVED_SHARE, bestScore, relativeScores, serviceOf } from "../board/relative.js";
import { columnScale } from "../board/score_scale.js";

// What the languages' figures are compared by: the score relative to English on the same tasks, or the score on one task.

// Shares of the score in English have one scale on all boards, in per cent.
/** @type {Interval} */
export const SHARE_SCALE = [40, 100];
export const englishSharePaint = directedPaint(false, SHARE_SCALE);

/** @type {(board: Board) => Task[]} */
export const scoredTasks = memoized((board) =>
  board.tasks.filter((task) => task.languages.some((code) => hasScores(board, task, code))),
);

/** @type {(board: Board, id: string | null, systemId: string | null, own: boolean) => Basis} */
const chosenBasis = memoized((board, id, systemId, own) => {
  const scored = scoredTasks(board);
  const task = scored.filter((one) => one.id === id)[0] ?? null;
  const system = board.system.get(systemId ?? "") ?? null;
  const tasks = task ? [task] : scored;
  const systems = system ? [system] : board.systems;
  const relative = relativeScores(tasks, systems, own ? systems : board.systems);
  const parts = [...relative.values()].map(({ parts: all }) => all.length);
  return {
    task,
    system,
    systems,
    own,
    tasks,
    relative,
    languages: task ? board.languages.filter(({ code }) => task.place.has(code)) : board.languages,
    reference: languageName(board, [...relative.values()][0]?.parts[0].reference.code ?? "en"),
    few: Math.max(...parts) > 1,
  };
});

// The basis that the address names.
/** @param {Board} board @param {URLSearchParams} [params] @returns {Basis} */
export function basisOf(board, params = new URLSearchParams()) {
  const system = params.get("system");
  return chosenBasis(board, params.get("task"), system, Boolean(system) && params.get("base") === "own");
}

// The share from which a language counts as served: 50 to 100 % by `share` in the address.
/** @param {URLSearchParams} params */
export function shareOf(params) {
  const per = Math.round(Number(params.get("share") ?? NaN));
  return per >= 50 && per <= 100 ? per / 100 : SERVED_SHARE;
}

/** @param {Basis} basis @param {number} share @returns {Service} */
export const servedAt = ({ languages, relative }, share) => serviceOf(languages, relative, share);

// Shares in words: a language's figure has a decimal, so that 79.8 % does not look like 80 %.
export const figureShare = percentText;
export const wholeShare = wholePercent;

// A language's figure: its share of the score in English, or its score on the chosen task.
/** @param {Basis} basis @param {string} code */
export function figureText({ task, relative }, code) {
  const own = relative.get(code);
  return own ? (task ? scoreText(own.parts[0].value) : figureShare(own.share)) : "–";
}

/** @param {Board} board @param {Basis} basis @returns {{ scale: Interval, unit: string, paint: (value: number) => Paint, of: (code: string) => number }} */
export function figureColours(board, { task, relative }) {
  if (!task)
    return { scale: SHARE_SCALE, unit: " %", paint: englishSharePaint, of: (code) => 100 * (relative.get(code)?.share ?? NaN) };
  const scale = columnScale(board, task.id);
  return {
    scale,
    unit: "",
    paint: directedPaint(task.lower_is_better, scale),
    of: (code) => relative.get(code)?.parts[0].value ?? NaN,
  };
}

// Whether a language's figure rests on one task while others rest on several.
/** @param {Basis} basis @param {string} code */
export const isSingle = ({ few, relative }, code) => few && relative.get(code)?.parts.length === 1;

// What hatching means: no score, or none that can be compared.
/** @param {Basis} basis */
export function hatchedText(basis) {
  const lacking = basis.languages.filter(({ code }) => !basis.relative.has(code)).length;
  const apart = withoutReference(basis).length;
  return [lacking > apart || !apart ? "untested" : "", apart ? "not comparable" : ""].filter(Boolean).join(" or ");
}

// The languages with scores, but on no task with English, so that none can be compared.
/** @type {(basis: Basis) => Language[]} */
export const withoutReference = memoized(({ tasks, systems, languages, relative }) =>
  languages.filter(
    ({ code }) => !relative.has(code) && tasks.some((task) => !missing(bestScore(task, code, systems).value)),
  ),
);

/** @param {Basis} basis @param {string} code */
export const isApart = (basis, code) => withoutReference(basis).some((language) => language.code === code);
