import { categoryTitle } from "../board/describe.js";
import { element, link } from "../page/dom.js";
import { hashOf } from "../page/state.js";

// "Best for [any task] in [any language]": choosing either opens the finder, which continues from there.
/** @param {Board} board */
export function finderSentence(board) {
  if (!board.systems.length) return null;
  /** @param {string} key */
  const open = (key) => (/** @type {any} */ { target }) => {
    if (target.value) location.hash = hashOf(["find"], { [key]: target.value });
  };
  /** @param {string} value @param {string} text */
  const option = (value, text) => element("option", { value }, text);
  const categories = board.categories.filter(({ tasks }) => tasks.length > 1);
  const tasks = [
    categories.length
      ? element("optgroup", { label: "Kinds of task" }, categories.map(({ name }) => option(name, categoryTitle(name))))
      : null,
    element("optgroup", { label: "Tasks" }, board.tasks.map(({ id, name }) => option(id, name))),
  ];
  return element(
    "div",
    { class: "ways" },
    element(
      "p",
      { class: "finder" },
      "Best for ",
      element("select", { "aria-label": "Task", change: open("task") }, option("", "any task"), tasks),
      " in ",
      element(
        "select",
        { "aria-label": "Language of the finder", change: open("language") },
        option("", "any language"),
        board.languages.map(({ code, name }) => option(code, name)),
      ),
    ),
    quickLinks(board),
  );
}

/** @param {Board} board */
function quickLinks(board) {
  const isSized = board.systems.some(({ open_weights: open, parameters }) => open && parameters);
  return element(
    "nav",
    { class: "quick", "aria-label": "Questions" },
    isSized ? link("#/find?open=yes&pmax=1000", "Open weights under 1 B") : null,
    board.history
      ? link("#/progress?view=changes", "What changed since XTREME?")
      : link("#/progress", "What changed over time?"),
    link("#/languages?show=unserved", "Languages without a working system"),
  );
}
