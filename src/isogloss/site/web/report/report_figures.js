// @ts-check
import { barChart, dotScale, sharedScale } from "../charts/bars.js";
import { element } from "../page/dom.js";
import { bucketBar } from "./report_buckets.js";

/** @typedef {import("./report_buckets.js").ReportBucket} ReportBucket */

// Charts drawn together; a hint asks for one language if there are more.
const MOST_CHARTS = 60;

/**
 * Return true if the better system of clearly different buckets has the lower score.
 * @param {import("./report_buckets.js").ReportContrast[]} buckets
 */
export const lowerIsBetter = (buckets) =>
  buckets.some(({ value, firstIsBetter }) => Math.abs(value) >= 0.1 && firstIsBetter !== value > 0);

/**
 * Return a bar chart per facet, by the board's drawing code.
 * @param {{ facet: any, caption: any[], signed: boolean }[]} figures
 * @param {(facet: any, bucket: ReportBucket) => void} pick
 * @returns {HTMLElement[]}
 */
export function bucketFigures(figures, pick) {
  const more = figures.length - MOST_CHARTS;
  const isSigned = figures.some(({ signed }) => signed);
  // All charts have one axis.
  const records = figures.flatMap(({ facet }) =>
    facet.buckets.map((/** @type {ReportBucket} */ bucket) => bucketBar(bucket, isSigned)),
  );
  const scale = isSigned ? sharedScale(records, true) : dotScale(records);
  return [
    element(
      "div",
      { class: "charts" },
      figures.slice(0, MOST_CHARTS).map(({ facet, caption, signed }) =>
        element(
          "figure",
          {},
          element("figcaption", {}, caption),
          barChart({
            records: facet.buckets.map((/** @type {ReportBucket} */ bucket) => bucketBar(bucket, signed)),
            signed,
            description: `${facet.attribute}: ${facet.title}`,
            scale,
            alike: records,
            lower: signed && lowerIsBetter(facet.buckets),
            click: (/** @type {{ bucket: ReportBucket }} */ { bucket }) => pick(facet, bucket),
          }),
        ),
      ),
    ),
    ...(more > 0
      ? [element("p", { class: "soft" }, `${more} more charts: choose a language, or filter by language.`)]
      : []),
  ];
}
