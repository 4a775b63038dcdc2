import { countText, element, missing, nameOf } from "../page/dom.js";

// The examples of the selected bar: inputs, gold, and each system's prediction. Without texts only ids are listed; with
// hidden labels nothing is.
export const exampleSection = () =>
  element("div", { class: "examples", tabindex: "-1", "aria-live": "polite", "data-lasting": true });

/** @param {string} title @param {string} summary @param {Node[]} items */
export function showExamples(title, summary, items) {
  const section = document.querySelector(".examples");
  if (!section) return;
  const from = document.activeElement;
  const back = () => {
    from?.scrollIntoView({ block: "center" });
    from?.focus({ preventScroll: true });
  };
  const nodes = [
    element("h2", {}, title),
    element(
      "p",
      { class: "soft" },
      summary,
      " ",
      from?.closest("main") ? element("button", { type: "button", click: back }, "↑ Back to the bucket") : null,
    ),
    element("ol", {}, items),
  ];
  section.replaceChildren(...nodes);
  // The focus alone would scroll to the middle of a long list.
  section.focus({ preventScroll: true });
  section.scrollIntoView({ block: "start" });
}

/** @param {number} shown @param {number} total @param {string} order */
export const listedText = (shown, total, order) =>
  shown
    ? `${shown} of ${countText(total)} examples, ${order}.`
    : "This board has no examples here: they are shown only where labels are public.";

// One example: pairs of a name and a text in `language`.
/** @param {string} id @param {string[][]} pairs @param {string} language */
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

/** @param {string} name @param {Maybe<number>} score */
export const scoredName = (name, score) => `${name}${missing(score) ? "" : ` (${Math.round(score)})`}`;
