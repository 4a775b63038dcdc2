import { wholeShare } from "./basis.js";
import { drawn, element } from "../page/dom.js";
import { changeParams } from "../page/state.js";
import { memoized } from "../board/ranking.js";
import { SERVED_SHARE } from "../board/relative.js";

const LEAST_SHARE = 50;
const MOST_SHARE = 100;
const BINS = 25;
const BIN_HEIGHT = 18;

// The share of the score in English from which a language counts as served, below the distribution of languages over shares.
/** @param {number} share @param {Basis} basis */
export function shareSlider(share, basis) {
  const per = Math.round(100 * share);
  /** @param {any} event */
  const input = ({ target }) =>
    changeParams({ share: Number(target.value) === 100 * SERVED_SHARE ? null : target.value }, { replace: true });
  return element(
    "label",
    { class: "share-slider" },
    element("span", {}, "Works at ", element("b", {}, wholeShare(share)), ` of ${basis.reference}`),
    shareBars(basis, per),
    element("input", {
      type: "range",
      min: String(LEAST_SHARE),
      max: String(MOST_SHARE),
      step: "1",
      value: String(per),
      "aria-valuetext": `${per} % of ${basis.reference}`,
      "data-key": "share",
      input,
    }),
  );
}

// The number of languages in each step of the slider.
const shareBins = memoized((/** @type {Basis} */ { relative }) => {
  const bins = new Array(BINS).fill(0);
  const step = (MOST_SHARE - LEAST_SHARE) / BINS;
  for (const { share } of relative.values()) {
    const at = Math.floor((100 * share - LEAST_SHARE) / step);
    if (at >= 0) bins[Math.min(BINS - 1, at)] += 1;
  }
  return bins;
});

/** @param {Basis} basis @param {number} per */
function shareBars(basis, per) {
  const bins = shareBins(basis);
  const most = Math.max(1, ...bins);
  const step = (MOST_SHARE - LEAST_SHARE) / BINS;
  return drawn(
    "svg",
    {
      class: "share-bars",
      viewBox: `0 0 ${BINS} ${BIN_HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
      "data-key": "share-bars",
    },
    bins.map((count, at) => {
      const height = (BIN_HEIGHT * count) / most;
      const reached = LEAST_SHARE + step * at >= per;
      return drawn("rect", { x: at + 0.1, y: BIN_HEIGHT - height, width: 0.8, height, class: reached ? "served" : "unserved" });
    }),
  );
}
