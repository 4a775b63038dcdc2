import assert from "node:assert/strict";
import test from "node:test";
import { cutRows, edgesByRule, valueCounts } from "../../src/isogloss/site/web/analysis/buckets.js";
import { comparedBuckets, withDifferences } from "../../src/isogloss/site/web/compare/compare_buckets.js";
import { discoveryRates } from "../../src/isogloss/site/web/statistics/discovery.js";
import { movedEdges } from "../../src/isogloss/site/web/analysis/edge_strip.js";
import {
  bucketEstimates,
  exampleScores,
  scoreInterval,
} from "../../src/isogloss/site/web/statistics/estimates.js";
import { exchangedBuckets } from "../../src/isogloss/site/web/statistics/exchange.js";
import {
  changedCuts,
  chosenCut,
  cutAttribute,
  listedExamples,
  parsedEdges,
  scoredBuckets,
} from "../../src/isogloss/site/web/analysis/live_buckets.js";
import { originText } from "../../src/isogloss/site/web/analysis/page_analysis.js";
import { params } from "./board_fixture.js";

const metric = (column, value = "mean") => ({
  name: "acc",
  value,
  lower_is_better: false,
  columns: [Float64Array.from(column)],
});
const column = (numbers) => {
  const values = [...new Set(numbers)].sort((a, b) => a - b);
  return { values, places: Uint32Array.from(numbers, (number) => values.indexOf(number)) };
};
const upTo = (n) => Array.from({ length: n }, (_, at) => at);
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} ≠ ${b}`);

// 100 examples, of which every fourth is wrong.
const correct = upTo(100).map((at) => (at % 4 ? 1 : 0));
const estimate = (scores, sources = upTo(100)) =>
  bucketEstimates(metric(scores), new Uint8Array(100), 1, sources, Math.max(...sources) + 1)[0];

test("a mean of independent examples has a Wilson interval around it", () => {
  const [low, high] = scoreInterval(estimate(correct));
  close(estimate(correct).value, 0.75);
  assert.ok(low > 0.65 && low < 0.68 && high > 0.81 && high < 0.84);
});

test("clustered examples have wider intervals", () => {
  const clustered = estimate(
    upTo(100).map((at) => Number(Math.floor(at / 4) % 4 > 0)),
    upTo(100).map((at) => Math.floor(at / 4)),
  );
  const [low, high] = scoreInterval(clustered);
  const [ownLow, ownHigh] = scoreInterval(estimate(correct));
  assert.ok(high - low > ownHigh - ownLow);
});

test("fewer than 20 sources have no interval", () => {
  assert.equal(
    scoreInterval(
      estimate(
        correct,
        upTo(100).map((at) => at % 19),
      ),
    ),
    null,
  );
});

test("extreme scores keep intervals inside 0 and 1", () => {
  const [low, high] = scoreInterval(estimate(upTo(100).map(() => 1)));
  assert.ok(low > 0.9 && low < 1 && high === 1);
});

test("paired differences are antisymmetric and contain the difference", () => {
  const [a, b] = [metric(correct), metric(upTo(100).map((at) => (at % 2 ? 1 : 0)))];
  const [one] = exchangedBuckets(a, b, new Uint8Array(100), 1, upTo(100), 100);
  const [other] = exchangedBuckets(b, a, new Uint8Array(100), 1, upTo(100), 100);
  assert.equal(one.p, other.p);
  close(one.value, 0.25);
  close(one.interval[0], -other.interval[1]);
  assert.ok(one.interval[0] < 0.25 && one.interval[1] > 0.25);
});

test("F1 counts empty examples as correct", () => {
  const f1 = {
    name: "f1",
    value: "f1",
    columns: [
      [1, 0, 0],
      [2, 0, 1],
      [1, 0, 1],
    ].map((sums) => Float64Array.from(sums)),
  };
  assert.deepEqual(
    [...exampleScores(f1, Uint32Array.of(0, 1, 2), 3)].map((score) => Math.round(100 * score)),
    [67, 100, 0],
  );
});

test("equal counts, greedy and equal widths", () => {
  const lengths = column([...upTo(8), 100]);
  const counts = valueCounts(lengths, null);
  assert.deepEqual(edgesByRule(lengths, counts, "equal", 3), [2, 5]);
  assert.deepEqual(edgesByRule(lengths, counts, "width", 4), [25, 50, 75]);
  assert.equal(edgesByRule(lengths, counts, "filled", 3).length, 2);
  assert.deepEqual(edgesByRule(column([5, 5]), Float64Array.of(2)), []);
});

test("tiny edges have one digit", () => {
  const values = column([0, 3.39e-8, 0.00052, 0.0123]);
  const { buckets } = cutRows(values, valueCounts(values, null), [3.39e-8, 0.00052], true);
  assert.deepEqual(
    buckets.map((bucket) => bucket.edges),
    ["[0, 3e-8]", "(3e-8, 5e-4]", "(5e-4, 0.0123]"],
  );
});

test("buckets have names, ranges and counts", () => {
  const lengths = column([1, 2, 3, 4, 5]);
  const { buckets, codes } = cutRows(lengths, valueCounts(lengths, null), [2, 4], true);
  assert.deepEqual(buckets, [
    { n: 2, name: "XS", edges: "[1, 2]" },
    { n: 2, name: "S", edges: "(2, 4]" },
    { n: 1, name: "L", edges: "(4, 5]" },
  ]);
  assert.deepEqual([...codes], [0, 0, 1, 1, 2]);
});

test("rare discrete values share a bucket", () => {
  const values = upTo(30).map((at) => `v${String(at).padStart(2, "0")}`);
  const counts = Float64Array.from(values, () => 1);
  const { buckets } = cutRows({ values, places: Uint32Array.from(upTo(30)) }, counts, null, true);
  assert.deepEqual([buckets.length, buckets.at(-1)], [21, { n: 10, name: "rest", edges: "" }]);
});

test("uncounted rows do not count", () => {
  assert.deepEqual([...valueCounts(column([1, 1, 2]), [1, 0, 1])], [1, 1]);
});

test("cuts round-trip through the address", () => {
  for (const cut of [
    { rule: "equal", buckets: 6 },
    { rule: "at", edges: [2, 5, 13] },
  ]) {
    const query = new URLSearchParams(
      changedCuts(params("cut=other~equal~3"), "aLen", cut).map((text) => ["cut", text]),
    );
    assert.deepEqual(chosenCut(query, "aLen"), cut);
    assert.deepEqual(chosenCut(query, "other"), { rule: "equal", buckets: 3 });
    assert.deepEqual(changedCuts(query, "aLen", null), ["other~equal~3"]);
  }
});

test("invalid cuts are ignored", () => {
  for (const text of ["equal~99", "magic~4", "equal", "", "~~~"])
    assert.equal(chosenCut(new URLSearchParams([["cut", `aLen~${text}`]]), "aLen"), null);
});

test("typed edges are sorted, unique and finite", () => {
  assert.deepEqual(parsedEdges("20 30; 30, x 25"), [20, 25, 30]);
  assert.equal(parsedEdges(upTo(40).join()).length, 11);
});

test("an edge moves between its neighbours, to a value that occurs", () => {
  const numbers = upTo(10).map((value) => ({ value, count: 1 }));
  assert.deepEqual(movedEdges(numbers, [2, 5], 0, 3.4), [3, 5]);
  assert.deepEqual(movedEdges(numbers, [2, 5], 0, 99), [4, 5]);
  assert.equal(movedEdges(numbers, [2, 5], 0, 2.2), null);
  assert.deepEqual(movedEdges(numbers, [2, 5], 1, 99), [2, 8]);
});

const examples = {
  ids: upTo(100).map(String),
  rows: Uint32Array.from(upTo(100)),
  rowSources: Uint32Array.from(upTo(100)),
  sourceCount: 100,
  counted: null,
  texts: { 8: { inputs: {}, gold: "" } },
  source: "article",
};
const attribute = { name: "len", title: "length", discrete: false, of_examples: true, column: column(upTo(100)) };

test("buckets of examples are scored, 0 to 100", () => {
  const cut = cutAttribute(examples, attribute, { rule: "at", edges: [49] });
  const [first, second] = scoredBuckets({ examples }, [metric(correct)], cut);
  assert.deepEqual([first.n, second.n], [50, 50]);
  close(first.value, 74);
  close(second.value, 76);
});

test("two systems have differences", () => {
  const cut = cutAttribute(examples, attribute, { rule: "at", edges: [49] });
  const [first] = scoredBuckets({ examples }, [metric(correct), metric(correct.map(() => 0))], cut);
  assert.ok(Math.abs(first.value - 74) < 1e-9 && first.own === first.value && first.other === 0);
});

test("rates of false discoveries", () => {
  discoveryRates([0.02, 0.5, 0.01, 0.03]).forEach((q, at) => close(q, [0.04, 0.5, 0.04, 0.04][at]));
  assert.deepEqual(discoveryRates([]), []);
  assert.deepEqual(discoveryRates([1, 1]), [1, 1]);
});

test("the best system must beat every other", () => {
  const live = { examples: { ...examples, attributes: [{ ...attribute, discrete: false }] } };
  const share = (wrong) => metric(upTo(100).map((at) => (at % 10 < wrong ? 0 : 1)));
  const found = (...systems) => withDifferences(live, systems, comparedBuckets(live, systems, params("cut=len~at~49")));
  // 90 % against 20 % and 10 %: certain in both buckets.
  assert.deepEqual(
    found(share(1), share(8), share(9)).map(({ best, significant }) => [best, significant]),
    [
      [0, true],
      [0, true],
    ],
  );
  // Far ahead of the next two, but not of the last.
  const near = metric(upTo(100).map((at) => (at % 10 === 5 || at % 50 === 3 ? 0 : 1)));
  assert.ok(found(share(1), share(8), share(9), near).every(({ best, significant }) => best === 0 && !significant));
  const tied = found(share(1), share(1), share(9));
  assert.ok(tied.every(({ best, p, significant }) => best === -1 && p === 1 && !significant));
});

test("examples are listed worst first, those with texts before others", () => {
  const { codes } = cutAttribute(examples, attribute, { rule: "at", edges: [49] });
  const { shown, total } = listedExamples({ examples }, [metric(correct)], codes, 0);
  assert.deepEqual([total, shown.length, shown[0].example, shown[1].example], [50, 10, 8, 0]);
});

test("the origin names the clusters", () => {
  assert.equal(
    originText({ examples }),
    "From 100 examples; 95 % intervals clustered by article. Drag markers to re-bucket.",
  );
  assert.match(originText(null), /^From isogloss explain\. Buckets are fixed/);
});
