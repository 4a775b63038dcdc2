// The buckets of every attribute of a cell, with tests corrected over all that the page shows.
import { cutAttribute, chosenCut, scoredBuckets } from "./live_buckets.js";
import { contrastText, ends, insightText, noClaimText } from "./bucket_words.js";
import { memoized } from "../board/ranking.js";
import { bucketClaims, familyRates } from "../statistics/bucket_claims.js";
import { bucketEstimates } from "../statistics/estimates.js";
import { DISCOVERY_LEVEL, discoveryRates } from "../statistics/discovery.js";
import { missing } from "../page/dom.js";

// Buckets of an attribute, computed once per cut.
const cutBuckets = memoized(
  (
    /** @type {ExampleAttribute} */ attribute,
    /** @type {LiveCell} */ live,
    /** @type {string} */ metric,
    /** @type {string} */ cutJson,
  ) => {
    const [cut, edges] = JSON.parse(cutJson);
    const metrics = live.systems.map((system) => system.metrics.filter(({ name }) => name === metric)[0]);
    const buckets = cutAttribute(live.examples, attribute, cut, edges);
    const bars = scoredBuckets(live, metrics, buckets);
    let position = -1;
    const ordered = bars.map(({ name }) => (attribute.discrete || name === "none" ? -1 : (position += 1)));
    const { rowSources, sourceCount } = live.examples;
    const claims =
      metrics.length > 1
        ? []
        : bucketClaims(
            bucketEstimates(metrics[0], buckets.codes, bars.length, rowSources, sourceCount),
            ordered,
            metrics[0].lower_is_better,
          );
    return { ...buckets, bars, ordered, claims };
  },
);

// The buckets of an attribute of single examples: as isogloss explain cut them, unless the reader moved an edge.
/** @param {URLSearchParams} params @param {LiveCell} live @param {Metric[]} metrics @param {ExampleAttribute} attribute @param {Chart | null} built @returns {BucketSet} */
export function liveSet(params, live, metrics, attribute, built) {
  const cut = attribute.discrete ? null : chosenCut(params, attribute.name);
  const made = cutBuckets(attribute, live, metrics[0].name, JSON.stringify([cut, built?.edges ?? null]));
  const isSame = !cut && built?.bars.length === made.bars.length && made.bars.every(({ n }, at) => n === built.bars[at].n);
  // Built charts have their own bucket names, their own corrections, and mark where the ranking flips.
  const bars = made.bars.map((bar, at) => {
    if (!isSame) return { ...bar };
    const { name, edges, flips, p } = built.bars[at];
    return { ...bar, name, edges, flips, p };
  });
  const { title, name } = attribute;
  return { ...made, cut, bars, attribute: name, title, metric: metrics[0].name, source: attribute, built: isSame ? built : null };
}

// The buckets of a chart with fixed edges, as isogloss explain built it.
/** @param {Chart} chart @returns {BucketSet} */
export const builtSet = (chart) => ({
  attribute: chart.attribute,
  title: chart.title,
  metric: chart.metric,
  bars: chart.bars.map((bar) => ({ ...bar })),
  claims: [],
  ordered: [],
  built: chart,
});

// Mark what is significant: the best and the worst bucket of a system, and the buckets in which two systems differ. The
// corrections of isogloss explain hold for what it tested, those made here for everything else on the page.
/** @param {BucketSet[]} sets @param {string} mode */
export function markSignificant(sets, mode) {
  const own = sets.filter(({ built }) => !built);
  if (mode === "pairwise") {
    const bars = own.flatMap((set) => set.bars);
    const rates = discoveryRates(bars.map(({ p }) => p ?? 1));
    bars.forEach((bar, at) => (bar.p = rates[at]));
    for (const set of sets) {
      for (const bar of set.bars) bar.sure = !missing(bar.low) && (bar.p ?? 1) < DISCOVERY_LEVEL;
      set.insight = contrastText(set.bars);
    }
    return;
  }
  const tested = own.filter(({ claims }) => claims.length);
  const rates = familyRates(tested.map(({ claims }) => claims.map(({ p }) => p)));
  tested.forEach((set, at) => (set.claims = set.claims.map((claim, place) => ({ ...claim, q: rates[at][place] }))));
  for (const set of sets) {
    const { best, worst } = set.built ? { best: set.built.best ?? -1, worst: set.built.worst ?? -1 } : ends(set.claims);
    if (set.bars[best]) set.bars[best].mark = "top";
    if (set.bars[worst]) set.bars[worst].mark = "low";
    set.insight = set.built ? set.built.insight || noClaimText(set.bars) : insightText(set);
  }
}
