import { missing } from "../page/dom.js";
import { weightedMean } from "./ranking.js";

export const ENGLISH = "en";

// The best score of some systems on a task in a language.
/** @param {Task} task @param {string} code @param {System[]} systems @returns {Best} */
export const bestScore = (task, code, systems) => bestScores(systems, task).get(code) ?? { value: NaN, system: null };

/** @type {WeakMap<System[], Map<Task, Map<string, Best>>>} */
const knownBests = new WeakMap();

// The best score in each language of a task, computed once per list of systems.
/** @param {System[]} systems @param {Task} task */
function bestScores(systems, task) {
  const byTask = knownBests.get(systems) ?? new Map();
  if (!knownBests.has(systems)) knownBests.set(systems, byTask);
  if (!byTask.has(task)) byTask.set(task, new Map(task.languages.map((code, at) => [code, bestAt(systems, task, at)])));
  return /** @type {Map<string, Best>} */ (byTask.get(task));
}

/** @param {System[]} systems @param {Task} task @param {number} at @returns {Best} */
function bestAt(systems, { cells, languages, lower_is_better: lower }, at) {
  /** @type {Best} */
  let best = { value: NaN, system: null };
  for (const system of systems) {
    const value = cells[system.at * languages.length + at];
    if (missing(value)) continue;
    if (missing(best.value) || (lower ? value < best.value : value > best.value)) best = { value, system };
  }
  return best;
}

// How good a score is, so that a ratio means the same for error rates: the share of what is right.
/** @param {Task} task @param {number} value */
export const goodness = (task, value) => (task.lower_is_better ? 100 - value : value);

// The language that others are compared with: English, or the best language of a task without English.
/** @param {Task} task @param {System[]} systems @returns {{ code: string } & Best} */
export function referenceOf(task, systems) {
  const codes = task.place.has(ENGLISH) ? [ENGLISH] : task.languages;
  return codes
    .map((code) => ({ code, ...bestScore(task, code, systems) }))
    .reduce((one, other) =>
      missing(one.value) || goodness(task, other.value) > goodness(task, one.value) ? other : one,
    );
}

// Each language's best score as a share of the best score in English on the same task, averaged over tasks: 1 is as good as
// English. Tasks without English count only if they are chosen alone; `parts` holds each task's share. English may have the
// best score of other systems, `references`.
/** @param {Task[]} tasks @param {System[]} systems @param {System[]} [references] @returns {Map<string, RelativeScore>} */
export function relativeScores(tasks, systems, references = systems) {
  const counted = tasks.length > 1 ? tasks.filter((task) => task.place.has(ENGLISH)) : tasks;
  /** @type {Map<string, RelativePart[]>} */
  const parts = new Map();
  for (const task of counted) {
    const reference = referenceOf(task, references);
    if (missing(reference.value) || !goodness(task, reference.value)) continue;
    for (const code of task.languages) {
      const best = bestScore(task, code, systems);
      if (missing(best.value)) continue;
      const share = goodness(task, best.value) / goodness(task, reference.value);
      parts.set(code, [...(parts.get(code) ?? []), { task, ...best, reference, share }]);
    }
  }
  return new Map([...parts].map(([code, own]) => [code, { share: weightedMean(own.map((p) => p.share)), parts: own }]));
}

// The share of the score in English from which a language counts as served.
export const SERVED_SHARE = 0.8;

// Split languages by whether a score reaches a share of the score in English; `untested` have no such score. Speakers are
// summed over languages with a known number.
/** @param {Language[]} languages @param {Map<string, RelativeScore>} relative @param {number} [share] @returns {Service} */
export function serviceOf(languages, relative, share = SERVED_SHARE) {
  /** @param {(language: Language) => boolean} keep */
  const kept = (keep) => {
    const own = languages.filter(keep);
    return { languages: own, speakers: own.reduce((sum, { speakers }) => sum + (speakers ?? 0), 0) };
  };
  const of = (/** @type {Language} */ { code }) => relative.get(code)?.share;
  return {
    served: kept((language) => (of(language) ?? NaN) >= share),
    unserved: kept((language) => (of(language) ?? NaN) < share),
    untested: kept((language) => missing(of(language))),
  };
}
