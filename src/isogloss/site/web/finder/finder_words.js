import { categoryTitle } from "../board/describe.js";
import { cellTitle } from "../board/decode.js";
import { sizeText } from "../page/dom.js";

// "question answering", "XNLI", "any task".
/** @param {Wish} wish */
export function wishTask({ kind, id, tasks }) {
  if (kind === "any") return "any task";
  if (kind === "task") return tasks[0].name;
  const title = categoryTitle(id);
  return title === id ? title : title[0].toLowerCase() + title.slice(1);
}

// "question answering in Swahili", "XNLI in all its languages".
/** @param {Wish} wish */
export const wishCell = (wish) =>
  wish.language
    ? `${wishTask(wish)} in ${wish.language.name}`
    : wish.kind === "any"
      ? "all tasks and languages"
      : `${wishTask(wish)} in all languages`;

/** @param {number} millions */
export const sizeLimit = (millions) => `up to ${sizeText(1e6 * millions)}`;

// "open weights, up to 1 B parameters"; "" without conditions.
/** @param {Wish} wish */
export const wishConditions = ({ open, most }) =>
  [open ? "open weights" : "", most === null ? "" : `${sizeLimit(most)} parameters`].filter(Boolean).join(", ");

/** @param {Wish} wish */
export function wishTitle(wish) {
  const cell = wish.kind === "any" && !wish.language ? "" : wishCell(wish);
  const text = [cell, wishConditions(wish)].filter(Boolean).join(", ");
  return text[0].toUpperCase() + text.slice(1);
}

// The name of a score: single languages of some tasks are shown in one of their metrics.
/** @param {Task} task @param {Language | null} language */
export const scoreName = (task, language) => (language ? cellTitle(task) : task.name);

// "XQuAD, MLQA and TyDiQA".
/** @param {string[]} names */
export const joinedNames = (names) =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}` : (names[0] ?? "");
