import { pageHead } from "../board/parts.js";

/** @param {Board} board @returns {Page} */
export function progressPage(board) {
  return { title: "Progress", view: () => [pageHead("Progress", board.title ?? "")] };
}
