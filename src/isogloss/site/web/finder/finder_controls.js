import { categoryTitle } from "../board/describe.js";
import { element, link } from "../page/dom.js";
import { hashOf } from "../page/state.js";
import { sizeLimit, wishTitle } from "./finder_words.js";
import { hasAnswer, wishOf, wishParams } from "./recommend.js";

// Sizes to choose from, in millions of parameters.
const SIZES = [300, 1000, 3000, 10000, 70000];

/** @param {string} value @param {string} text @param {string} chosen */
const wishOption = (value, text, chosen) => element("option", { value, selected: value === chosen }, text);

/** @param {string} key @param {string} label @param {Child[]} options @param {(value: Record<string, string>) => void} write */
const wishChoice = (key, label, options, write) =>
  element(
    "select",
    { "aria-label": label, "data-key": `find-${key}`, change: ({ target }) => write({ [key]: target.value }) },
    options,
  );

// "I need [question answering] in [Swahili], [open] weights, [up to 1 B] parameters": each choice is part of the address.
/** @param {Board} board @param {Wish} wish @param {(changes: Record<string, string>) => void} write */
export function sentence(board, wish, write) {
  const task = wish.kind === "any" ? "" : wish.id;
  const code = wish.language?.code ?? "";
  const size = wish.most === null ? "" : String(wish.most);
  const sizes = [...new Set([...SIZES, ...(wish.most === null ? [] : [wish.most])])].sort((a, b) => a - b);
  return element(
    "p",
    { class: "sentence" },
    element("span", {}, "I need ", wishChoice("task", "Task", taskOptions(board, task), write)),
    element(
      "span",
      {},
      " in ",
      wishChoice(
        "language",
        "Language",
        [wishOption("", "any language", code), board.languages.map((each) => wishOption(each.code, each.name, code))],
        write,
      ),
      ",",
    ),
    element(
      "span",
      {},
      wishChoice(
        "open",
        "Weights",
        [wishOption("", "any", wish.open ? "yes" : ""), wishOption("yes", "open", wish.open ? "yes" : "")],
        write,
      ),
      " weights,",
    ),
    element(
      "span",
      {},
      wishChoice(
        "pmax",
        "Size",
        [wishOption("", "any number of", size), sizes.map((each) => wishOption(String(each), sizeLimit(each), size))],
        write,
      ),
      " parameters.",
    ),
  );
}

// Categories with their tasks; a category of one task is that task.
/** @param {Board} board @param {string} chosen */
const taskOptions = (board, chosen) => [
  wishOption("", "any task", chosen),
  board.categories.map(({ name, tasks }) =>
    element(
      "optgroup",
      { label: categoryTitle(name) },
      wishOption(
        name,
        tasks.length > 1 ? `${categoryTitle(name)} (${tasks.length} tasks)` : categoryTitle(name),
        chosen,
      ),
      tasks.map((id) => wishOption(id, board.task.get(id)?.name ?? id, chosen)),
    ),
  ),
];

// Examples of wishes that this board can answer.
const PRESETS = [
  "task=qa&language=sw",
  "open=yes&pmax=1000",
  "task=classification&language=ur&open=yes",
  "language=yo",
  "task=qa&language=wo",
];

/** @param {Board} board @param {Wish} wish */
export function presetLinks(board, wish) {
  const own = JSON.stringify(wishParams(wish));
  const wishes = PRESETS.map((text) => new URLSearchParams(text))
    .map((asked) => ({ asked, wish: wishOf(board, asked) }))
    .filter(({ asked, wish: one }) => Object.keys(wishParams(one)).length === [...asked].length)
    .map((each) => each.wish)
    .filter((one) => hasAnswer(board, one));
  if (!wishes.length) return null;
  return element(
    "p",
    { class: "presets" },
    element("span", { class: "soft" }, "For example: "),
    wishes.map((one) => {
      const params = wishParams(one);
      const anchor = link(hashOf(["find"], params), wishTitle(one));
      if (JSON.stringify(params) === own) anchor.setAttribute("aria-current", "true");
      return anchor;
    }),
  );
}
