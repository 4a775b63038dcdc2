import { wholeShare } from "./basis.js";
import { element } from "../page/dom.js";
import { changeParams } from "../page/state.js";
import { SERVED_SHARE } from "../board/relative.js";

// The share of the score in English from which a language counts as served.
/** @param {number} share @param {string} reference */
export function shareSlider(share, reference) {
  const per = Math.round(100 * share);
  /** @param {any} event */
  const input = ({ target }) =>
    changeParams({ share: Number(target.value) === 100 * SERVED_SHARE ? null : target.value }, { replace: true });
  return element(
    "label",
    { class: "share-slider" },
    element("span", {}, "Works at ", element("b", {}, wholeShare(share)), ` of ${reference}`),
    element("input", {
      type: "range",
      min: "50",
      max: "100",
      step: "1",
      value: String(per),
      "aria-valuetext": `${per} % of ${reference}`,
      "data-key": "share",
      input,
    }),
  );
}
