import { countText, element, missing, nameOf } from "./dom.js";

// Examples below the charts: what was asked, what is right, what each system said. Where the board has no text there is
// the id alone; where labels are hidden there is nothing at all.
export function showExamples(place, title, said, items) {
  place.replaceChildren(element("h2", {}, title), element("p", { class: "soft" }, said), element("ol", {}, items));
  place.focus();
}

export const listedText = (shown, total, order) =>
  shown
    ? `${shown} of ${countText(total)} examples, ${order}.`
    : "No examples are on this board: they are never shown where labels are hidden.";

// One example: pairs of a name and a text; `language` is that of the texts.
export const exampleItem = (id, pairs, language) =>
  element(
    "li",
    {},
    element("bdi", { class: "code" }, id),
    pairs.length
      ? element(
          "dl",
          {},
          pairs.map(([name, text]) => [
            element("dt", {}, nameOf(name)),
            element("dd", { dir: "auto", lang: language }, text),
          ]),
        )
      : null,
  );

export const scoredName = (name, score) => `${name}${missing(score) ? "" : ` (${Math.round(score)})`}`;
