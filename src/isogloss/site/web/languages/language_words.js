import { figureShare, wholeShare } from "./basis.js";
import { cellTitle } from "../board/decode.js";
import { systemWithRegime } from "../board/describe.js";
import { countText, element, link, missing, plural, scoreText } from "../page/dom.js";
import { hashOf } from "../page/state.js";

// "XNLI 80.6 of 93.0 (87 %), mT5-XXL".
/** @param {RelativePart} part */
export const relativeText = ({ task, value, reference, share, system }) =>
  `${cellTitle(task)} ${scoreText(value)} of ${scoreText(reference.value)} (${wholeShare(share)}), ${system?.fullName ?? ""}`;

// The same as a line per task, with links; lowest share first.
/** @param {RelativePart[]} parts @param {string} code */
export const relativeLines = (parts, code) =>
  element(
    "div",
    { class: "part-lines" },
    [...parts]
      .sort((a, b) => a.share - b.share)
      .map(({ task, value, reference, share, system }) =>
        element(
          "div",
          {},
          link(hashOf(["task", task.id, code]), cellTitle(task)),
          ` ${scoreText(value)} of ${scoreText(reference.value)} (${wholeShare(share)}), `,
          system && systemWithRegime(system),
        ),
      ),
  );

// A number of people, with two digits.
/** @param {Maybe<number>} value */
export function populationText(value) {
  if (missing(value)) return "unknown";
  const rounded = Number(value.toPrecision(2));
  if (rounded >= 1e9) return `${rounded / 1e9} billion`;
  return rounded >= 1e6 ? `${rounded / 1e6} million` : countText(rounded);
}

// "4.8 of 7.8 billion"; "900 million of 1.2 billion".
/** @param {number} part @param {number} whole */
export function partOfPopulation(part, whole) {
  const [own, all] = [part, whole].map((value) => populationText(value).split(" "));
  return own[1] === all[1] ? `${own[0]} of ${all.join(" ")}` : `${own.join(" ")} of ${all.join(" ")}`;
}

// A language's figure with every score that it rests on.
/** @param {Basis} basis @param {Language} language @returns {string[]} */
export function tipLines(basis, { code, name, autonym, speakers }) {
  const own = basis.relative.get(code);
  const called = autonym && autonym !== name ? `${name} · ${autonym}` : name;
  const over = own && own.parts.length > 1 ? `, mean of ${plural(own.parts.length, "task")}` : "";
  return [
    own ? `${called}: ${figureShare(own.share)} of ${basis.reference}${over}` : `${called}: no score to compare`,
    ...(own?.parts.map(relativeText) ?? []),
    `${populationText(speakers)} speakers`,
  ];
}
