import assert from "node:assert/strict";
import test from "node:test";
import { hasLongTail } from "../../src/isogloss/site/web/charts/box_plot.js";
import { keptRecords } from "../../src/isogloss/site/web/charts/figure.js";
import {
  cutText,
  hintLines,
  leastSquares,
  numberScale,
  powerTicks,
  presentWords,
  roundTicks,
  splitBy,
  unpackedRecords,
  wordScale,
} from "../../src/isogloss/site/web/charts/figure_scale.js";
import { distancePairs, leftOver } from "../../src/isogloss/site/web/report/report_bias.js";
import {
  bucketBar,
  contrastBuckets,
  intervalWords,
  scoreBuckets,
} from "../../src/isogloss/site/web/report/report_buckets.js";
import { lowerIsBetter } from "../../src/isogloss/site/web/report/report_figures.js";
import { leadingNumber, matchedLanguages } from "../../src/isogloss/site/web/report/report_tables.js";

test("ticks are round numbers within the scale", () => {
  assert.deepEqual(roundTicks(0, 100, 5), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(roundTicks(-1.2, 0.9, 4), [-1, 0]);
  assert.deepEqual(roundTicks(0, 2, 10, true), [0, 1, 2]);
  assert.deepEqual(powerTicks(0.05, 6), [0.1, 0.3, 1, 3]);
  assert.deepEqual(powerTicks(1, 1e4), [1, 10, 100, 1000, 10000]);
});

test("a scale holds all values and keeps zero at its end", () => {
  const bars = numberScale({ field: "x", zero: true }, [10, 50], [0, 100]);
  assert.equal(bars.at(0), 0);
  assert.ok(bars.at(50) < 100 && bars.at(50) > 90);
  const log = numberScale({ field: "x", scale: "log" }, [1, 100, 0], [0, 200]);
  assert.ok(Math.abs(log.at(10) - 100) < 1e-9);
  const root = numberScale({ field: "x", scale: "sqrt" }, [0, 400], [0, 100]);
  assert.ok(root.at(100) > 45 && root.at(100) < 50);
  assert.deepEqual(numberScale({ field: "x" }, [], [0, 10]).ticks.length > 0, true);
});

test("words have bands in the order of their axis", () => {
  const records = [{ task: "b" }, { task: "a" }];
  assert.deepEqual(presentWords({ field: "task", order: ["a", "b", "c"] }, records), ["a", "b"]);
  const { at, step } = wordScale(["a", "b"], [0, 100]);
  assert.deepEqual([at("a"), at("b"), step], [25, 75, 50]);
});

test("a least-squares line needs x to differ", () => {
  const line = leastSquares([
    [0, 1],
    [1, 3],
    [2, 5],
  ]);
  assert.equal(line?.(10), 21);
  assert.equal(leastSquares([[1, 2]]), null);
  assert.equal(
    leastSquares([
      [1, 2],
      [1, 5],
    ]),
    null,
  );
});

test("records are unpacked from columns, without nulls", () => {
  const columns = { system: [["a"], 2], low: [[null, 3.5], [0, 1]] };
  assert.deepEqual(unpackedRecords(columns), [{ system: "a" }, { system: "a", low: 3.5 }]);
  assert.deepEqual(unpackedRecords({}), []);
});

test("tooltips format their values and skip missing ones", () => {
  const hints = [
    ["score", "score", "tenths"],
    ["mean", "mean", "digits"],
    ["share", "share", "percent"],
    ["fitted", "fitted", ""],
    ["n", "n", ""],
  ];
  const record = { score: 80, mean: 1.23456, share: 0.256, fitted: true };
  assert.deepEqual(hintLines({ hints }, record), ["score: 80.0", "mean: 1.23", "share: 25.6 %", "fitted: yes"]);
});

test("groups keep the order of their records; texts are cut", () => {
  const groups = splitBy([{ system: "b" }, { system: "a" }, { system: "b" }], "system");
  assert.deepEqual(
    [...groups].map(([name, records]) => [name, records.length]),
    [
      ["b", 2],
      ["a", 1],
    ],
  );
  assert.equal(splitBy([{ a: 1 }], "").size, 1);
  assert.deepEqual([cutText("abc", 3), cutText("abcd", 3)], ["abc", "ab…"]);
});

test("the filter keeps records of its languages unless a chart ignores it", () => {
  const records = [{ language: "en" }, { language: "sw" }, {}];
  assert.equal(keptRecords({ records }, ["sw"]).length, 2);
  assert.equal(keptRecords({ records, follows_filter: false }, ["sw"]).length, 3);
  assert.equal(keptRecords({ records }, null).length, 3);
});

test("languages match by code, name, family or script", () => {
  const languages = { en: "en english indo-european latn", tr: "tr turkish türkçe turkic latn", th: "th thai ไทย" };
  assert.deepEqual(matchedLanguages("Turkic, th", languages).codes, ["tr", "th"]);
  assert.deepEqual(matchedLanguages("ไท", languages).codes, ["th"]);
  assert.deepEqual(matchedLanguages("la", languages).codes, []);
  assert.deepEqual(matchedLanguages(" , ", languages), { words: [], codes: [] });
});

test("cells sort by the number they begin with", () => {
  assert.deepEqual(["1,234", "−3.5*", "<0.001", "·"].map(leadingNumber), [1234, -3.5, 0.001, -Infinity]);
});

test("buckets are read from tenths, with intervals where there are any", () => {
  const cut = [
    ["XS", "[0, 2]", 25, [0], 3],
    ["S", "", 4, [], 0],
  ];
  const [first, second] = scoreBuckets(cut, [800, 750, 850, 400, null, null]);
  assert.deepEqual([first.value, first.low, first.high, second.low], [80, 75, 85, null]);
  assert.equal(intervalWords(first.low, first.high), "75.0–85.0");
  assert.equal(intervalWords(second.low, second.high), "—");
  assert.deepEqual(bucketBar(first, false).lines, [
    "XS [0, 2]: 80.0",
    "95 % interval 75.0–85.0",
    "25 examples",
    "Select to show examples",
  ]);
  assert.deepEqual([bucketBar(first, false).lists, bucketBar({ ...first, total: 0 }, false).lists], [true, false]);
  assert.equal(bucketBar(second, false).lines[1], "no interval: too few independent examples");
});

test("contrasts have a q and flags", () => {
  const cut = [["XL", "", 25, [], 0]];
  const [bucket] = contrastBuckets(cut, [310, 400, -90, -120, -60, 10, 3]);
  assert.deepEqual([bucket.q, bucket.significant, bucket.turns, bucket.firstIsBetter], ["0.010", true, true, false]);
  assert.equal(contrastBuckets(cut, [0, 0, 0, 0, 0, 0, 0])[0].q, "<0.001");
  assert.equal(lowerIsBetter([bucket]), false);
  assert.equal(lowerIsBetter([{ ...bucket, firstIsBetter: true }]), true);
  assert.equal(lowerIsBetter([{ ...bucket, value: 0, firstIsBetter: true }]), false);
  assert.ok(bucketBar(bucket, true).lines.includes("order of the two systems reversed"));
  assert.equal(bucketBar(bucket, true).sure, true);
  assert.equal(bucketBar({ ...bucket, significant: false }, true).sure, false);
});

test("dataset bias: rests, distances and long tails", () => {
  assert.equal(leftOver([0.5, 0.498]), 0);
  assert.ok(Math.abs(leftOver([0.5, 0.3]) - 0.2) < 1e-9);
  assert.deepEqual(distancePairs(["", ["en", "ar", "th"], 0.1, [[20, 300], [280]]]), [
    ["en", "ar", 2],
    ["en", "th", 30],
    ["ar", "th", 28],
  ]);
  const box = (most) => ({ name: "a", n: 1, mean: 2, quartiles: [0, 1, 2, 3, most] });
  assert.deepEqual([hasLongTail([box(12)]), hasLongTail([box(13)])], [false, true]);
});
