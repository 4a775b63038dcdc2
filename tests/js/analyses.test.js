import assert from "node:assert/strict";
import test from "node:test";
import { contrastText, ends, insightText } from "../../src/isogloss/site/web/analysis/bucket_words.js";
import { markSignificant } from "../../src/isogloss/site/web/analysis/bucket_sets.js";
import {
  balancedText,
  byUnevenness,
  isBalanced,
  isConstant,
  summaryOf,
  unevenText,
  unevenness,
} from "../../src/isogloss/site/web/analysis/unevenness.js";
import { dotScale, sharedScale } from "../../src/isogloss/site/web/charts/bars.js";
import { fittedText } from "../../src/isogloss/site/web/charts/text_width.js";
import { bucketClaims, familyRates, weightedSum } from "../../src/isogloss/site/web/statistics/bucket_claims.js";

const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} ≠ ${b}`);
const SOURCES = 25;

// An estimate with an error of 0.05 from the source at `at`, without unseen variance, so that t is simple.
const estimate = (value, at, error = 0.05) => {
  const errors = new Float64Array(SOURCES);
  errors[at] = error;
  return {
    ...{ value, centre: value, n: 25, errors, count: SOURCES, variance: error ** 2, unseen: 0 },
    present: new Uint8Array(SOURCES).fill(1),
  };
};

test("a difference of estimates has the errors of its sources", () => {
  // Independent errors of 0.03 and 0.04 make 0.05: 0.1 is t = 2 with 24 degrees of freedom.
  const apart = weightedSum([estimate(0.8, 0, 0.03), estimate(0.7, 1, 0.04)], [1, -1]);
  close(apart.value, 0.1);
  assert.ok(Math.abs(apart.p - 0.05694) < 1e-5);
  // Equal errors of the same source cancel out.
  assert.ok(weightedSum([estimate(0.8, 0), estimate(0.7, 0)], [1, -1]).p === 1);
});

test("rates of families of one test are those of Benjamini and Hochberg", () => {
  familyRates([[0.01], [0.04], [0.5]]).forEach(([q], at) => close(q, [0.03, 0.06, 0.5][at]));
  const [[one, second], [other]] = familyRates([[0.01, 0.6], [0.02]]);
  [one, second, other].forEach((q, at) => close(q, [0.02, 0.6, 0.02][at]));
});

test("a bucket is the best only if it differs from every other", () => {
  const scores = [estimate(0.9, 0), estimate(0.88, 1), estimate(0.2, 2)];
  const claims = bucketClaims(scores, [-1, -1, -1], false).map((claim) => ({ ...claim, q: claim.p }));
  assert.deepEqual(claims.map(({ kind }) => kind), ["spread", "best", "worst"]);
  assert.deepEqual(ends(claims), { best: -1, worst: 2 });
  // With lower scores better, the same bucket is the best.
  const lower = bucketClaims(scores, [-1, -1, -1], true).map((claim) => ({ ...claim, q: claim.p }));
  assert.deepEqual(ends(lower), { best: 2, worst: -1 });
  assert.deepEqual(bucketClaims(scores.slice(0, 1), [-1], false), []);
});

test("ordered buckets have a trend, which costs half of the error probability", () => {
  const scores = [estimate(0.9, 0), estimate(0.6, 1), estimate(0.3, 2)];
  const flat = bucketClaims(scores, [-1, -1, -1], false);
  const ordered = bucketClaims(scores, [0, 1, 2], false);
  const [trend] = ordered;
  // Equal sizes: half the difference of the ends, and the error of 0.05 √2 / 2.
  close(trend.points, -30);
  assert.equal(trend.kind, "trend");
  close(ordered[1].p, 2 * flat[0].p);
});

const bar = (name, value, more = {}) => ({ name, edges: "", n: 25, value, low: value - 5, high: value + 5, ...more });

test("without significance nothing is marked, and the sentence says so", () => {
  const set = () => ({
    ...{ attribute: "label", title: "gold label", metric: "accuracy", ordered: [-1, -1], built: null },
    bars: [bar("yes", 90), bar("no", 80)],
    claims: bucketClaims([estimate(0.9, 0), estimate(0.8, 1)], [-1, -1], false),
  });
  const unsure = set();
  markSignificant([unsure], "single");
  assert.deepEqual(unsure.bars.map(({ mark }) => mark), [undefined, undefined]);
  assert.equal(unsure.insight, "No significant differences between buckets.");
  const sure = { ...set(), claims: bucketClaims([estimate(0.9, 0), estimate(0.2, 1)], [-1, -1], false) };
  markSignificant([sure], "single");
  assert.deepEqual(sure.bars.map(({ mark }) => mark), ["top", "low"]);
  assert.match(sure.insight, /^gold label: best at yes \(90\.0\), worst at no \(80\.0\)/);
  const lone = [bar("yes", 90), bar("no", 80, { low: null })];
  assert.match(insightText({ ...set(), bars: lone, claims: [] }), /^Not tested/);
  const built = { ...set(), bars: lone, built: { insight: "" } };
  markSignificant([built], "single");
  assert.match(built.insight, /^Not tested/);
});

test("differences of a page are corrected together, those of isogloss explain are not corrected again", () => {
  const own = { built: null, bars: [bar("a", 8, { p: 0.03 }), bar("b", 1, { p: 0.9 })], claims: [], ordered: [] };
  const built = { built: {}, bars: [bar("c", -8, { p: 0.03 }), bar("d", 2, { p: 0.01, low: null })], claims: [] };
  markSignificant([own, built], "pairwise");
  // 0.03 of two tests is 0.06.
  assert.deepEqual(own.bars.map(({ sure }) => sure), [false, false]);
  assert.deepEqual(built.bars.map(({ sure }) => sure), [true, false]);
  assert.equal(own.insight, "No bucket differs significantly.");
  assert.equal(built.insight, "Significant in 1 of 2 buckets: c −8.0.");
  assert.match(contrastText([bar("a", 1, { low: null })]), /^Not tested/);
});

test("charts share a scale of round ends", () => {
  assert.deepEqual(sharedScale([{ value: 12, low: 4, high: 23 }]), [0, 30]);
  assert.deepEqual(sharedScale([{ value: -2, low: -9, high: 4 }], true), [-10, 10]);
  assert.deepEqual(sharedScale([{ value: 3 }, { value: -12 }]), [-20, 20]);
  assert.deepEqual(sharedScale([{ value: 130 }]), [0, 200]);
  // Dots need no zero: whole tens around the intervals.
  assert.deepEqual(dotScale([{ value: 85, low: 76.3, high: 99 }, { value: 90 }]), [70, 100]);
  assert.deepEqual(dotScale([{ value: 77, low: 75, high: 79 }]), [60, 80]);
  assert.deepEqual([dotScale([{ value: 100 }]), dotScale([{ value: 0 }])], [[80, 100], [0, 20]]);
  assert.deepEqual(dotScale([{ value: -2, low: -9, high: 4 }]), [-10, 10]);
});

test("labels are cut to their width", () => {
  const width = (text) => 10 * text.length;
  assert.equal(fittedText("abcdef", 60, width), "abcdef");
  assert.equal(fittedText("abcdefg", 40, width), "abc…");
  assert.equal(fittedText("abcdefg", 5, width), "…");
});

const shares = (yes, no, name = "a") => ({ discrete: true, shares: { yes, no }, quartiles: [], name });
const numbers = (low, middle, high, name = "a") => ({
  ...{ discrete: false, shares: {}, name },
  quartiles: [0, low, middle, high, 100],
});

test("unevenness is the distance from equal shares, or between languages", () => {
  close(unevenness([shares(0.5, 0.5), shares(0.5, 0.5)]), 0);
  // 0.2 from equal shares, of 0.5 at most.
  close(unevenness([shares(0.7, 0.3)]), 0.4);
  close(unevenness([shares(0.9, 0.1), shares(0.1, 0.9)]), 0.8);
  close(unevenness([{ discrete: true, shares: { only: 1 }, quartiles: [] }]), 0);
  // Medians 10 and 30, middle halves from 5 to 45.
  close(unevenness([numbers(5, 10, 20), numbers(20, 30, 45)]), 0.5);
  // More than eight values are never uniform: only the difference between languages counts.
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [at, at ? 0.0125 : 0.9]));
  close(unevenness([{ discrete: true, shares: many, quartiles: [] }]), 0);
});

test("balanced distributions come last and are named", () => {
  const item = (title, uneven, discrete = true) => ({
    ...{ title, uneven, discrete, taskName: "XNLI", languages: 15, all: true, constant: title === "tag" },
  });
  const items = [item("gold label", 0.01), item("overlap", 0.02, false), item("length", 0.6, false), item("first", 0.3)];
  assert.deepEqual(byUnevenness(items).map(({ title }) => title), ["length", "first", "overlap", "gold label"]);
  assert.deepEqual(items.map(isBalanced), [true, false, false, false]);
  assert.equal(balancedText(items), "Balanced, so listed last: XNLI: gold label in all 15 languages.");
  assert.equal(balancedText(items.slice(1)), "");
  assert.equal(balancedText([item("tag", 0)]), "");
  assert.deepEqual([isConstant([shares(1, 0)]), isConstant([{ discrete: true, shares: { yes: 1 } }])], [false, true]);
});

test("what stands out is said with its languages", () => {
  const parts = [shares(0.9, 0.1, "English"), shares(0.3, 0.7, "Swahili")];
  assert.equal(
    unevenText("answer", parts),
    "“yes” makes up 90.0 % of the examples in English, and 30.0 % in Swahili.",
  );
  assert.equal(
    unevenText("answer", [shares(0.7, 0.3, "English")]),
    "“yes” makes up 70.0 % of the examples in English; 50.0 % would be even.",
  );
  assert.equal(
    unevenText("length", [numbers(5, 10, 20, "English"), numbers(20, 30, 45, "Thai")]),
    "The median ranges from 10 in English to 30 in Thai.",
  );
});

test("single examples have the same summary as distributions", () => {
  const column = { values: ["a", "b", null], places: [] };
  const { shares: own, n } = summaryOf({ discrete: true, column }, Float64Array.of(3, 1, 6));
  assert.deepEqual([own, n], [{ a: 0.75, b: 0.25 }, 4]);
  const long = { values: [1, 2, 3, 4], places: [] };
  assert.deepEqual(summaryOf({ discrete: false, column: long }, Float64Array.of(1, 1, 1, 1)).quartiles, [1, 1, 2, 3, 4]);
});
