import { pageHead } from "../board/parts.js";

/** @param {Board} board @returns {Page} */
export function findPage(board) {
  return { title: "Find a model", view: () => [pageHead("Find a model", board.title ?? "")] };
}
