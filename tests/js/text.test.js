import assert from "node:assert/strict";
import test from "node:test";
import { betterShare, directedPaint, scorePaint } from "../../src/isogloss/site/web/charts/colour.js";
import { chosenOf } from "../../src/isogloss/site/web/page/controls.js";
import { METADATA, intervalText, unparsedText } from "../../src/isogloss/site/web/board/describe.js";
import { repliesByLanguage } from "../../src/isogloss/site/web/systems/reply_failures.js";
import {
  countText,
  listed,
  missing,
  partText,
  plural,
  printable,
  printedScore,
  scoreText,
  scriptName,
  otherLanguage,
  signedText,
  sizeText,
} from "../../src/isogloss/site/web/page/dom.js";
import { listedText, scoredName } from "../../src/isogloss/site/web/analysis/example_list.js";
import { asCsv, asJson, asLatex } from "../../src/isogloss/site/web/page/export.js";
import { niceTicks } from "../../src/isogloss/site/web/charts/plots.js";
import { hashOf, readRoute } from "../../src/isogloss/site/web/page/state.js";
import { params } from "./board_fixture.js";

test("scores have one decimal, halves rounded up", () => {
  assert.deepEqual([80.05, 79.949, 0, 100, null, NaN].map(scoreText), ["80.1", "79.9", "0.0", "100.0", "–", "–"]);
  assert.equal(printedScore(0.25), 0.3);
});

test("differences have a sign", () => {
  assert.deepEqual([1.26, -1.26, 0.01, -0.01, null].map(signedText), ["+1.3", "−1.3", "0.0", "0.0", "–"]);
});

test("counts and sizes", () => {
  assert.deepEqual([1234567, null].map(countText), ["1,234,567", "–"]);
  assert.deepEqual([270e6, 7.24e9, 1500, 12, 3e12, null].map(sizeText), ["270 M", "7.24 B", "1.5 k", "12", "3 T", "–"]);
});

test("numbers agree with their nouns", () => {
  assert.deepEqual(
    [plural(1, "system"), plural(0, "system"), plural(2, "family", "families")],
    ["1 system", "0 systems", "2 families"],
  );
  assert.equal(partText(1, 202, "cell"), "1 of 202 cells is");
  assert.equal(partText(3, 202, "cell"), "3 of 202 cells are");
  assert.equal(partText(1, 1, "cell", ["has", "have"]), "1 of 1 cell has");
});

test("lists are cut", () => {
  assert.equal(listed(["a", "b", "c"], 2), "a, b and 1 more");
  assert.equal(listed(["a", "b"]), "a, b");
});

test("control characters and direction marks are not printable", () => {
  assert.equal(printable("a\u202eb\u0000c\nd"), "a\ufffdb\ufffdc d");
  assert.equal(printable("\ud800x"), "\ufffdx");
});

test("scripts have names", () => {
  assert.deepEqual([scriptName("Latn"), scriptName("nonsense!")], ["Latin", "nonsense!"]);
  assert.deepEqual(["ha", "qqz", "nonsense!"].map(otherLanguage), ["Hausa", "qqz", "nonsense!"]);
});

test("missing values", () => {
  assert.deepEqual([null, undefined, NaN, 0, ""].map(missing), [true, true, true, false, false]);
});

test("routes round-trip through the hash", () => {
  for (const [path, query] of [
    [[], ""],
    [["task", "a/b c", "sw"], "sort=x%26y&tick=1&tick=2"],
    [["language", "zh"], "q=%C3%A9"],
  ]) {
    const route = readRoute(hashOf(path, params(query)));
    assert.deepEqual(route.path, path);
    assert.equal(route.params.toString(), query);
  }
});

test("records become parameters, lists repeat them", () => {
  assert.equal(hashOf(["compare"], { system: ["a", "b"], task: "x" }), "#/compare?system=a&system=b&task=x");
});

test("a malformed hash is read as far as possible", () => {
  assert.deepEqual(readRoute("#/system/%E0%A4%A").path, ["system", "%E0%A4%A"]);
  assert.deepEqual(readRoute("#elsewhere").path, []);
});

const columns = [
  { id: "name", title: "System", value: (row) => row.name },
  { id: "x", title: "XNLI", numeric: true, score: true, value: (row) => row.x, mark: (row) => row.mark },
  { id: "hidden", title: "Hidden", inFiles: false, value: () => 1 },
  { id: "n", title: "n & m", numeric: true, value: (row) => row.n ?? null },
];
const rows = [
  { name: "=cmd()", x: 80.05, n: 3 },
  { name: 'a, "b"', x: NaN, mark: "partial" },
  { name: " +1", x: 1, mark: "partial" },
];

test("CSV quotes cells and disarms formulas", () => {
  assert.equal(asCsv(columns, rows), 'System,XNLI,n & m\n\'=cmd(),80.1,3\n"a, ""b""",,\n\' +1,1,\n');
});

test("JSON has null for missing values", () => {
  const record = JSON.parse(asJson(columns, rows, { suite: "mini" }));
  assert.equal(record.suite, "mini");
  assert.deepEqual(record.rows[1], { name: 'a, "b"', x: null, n: null });
});

test("LaTeX escapes signs and marks partial averages", () => {
  const text = asLatex(columns, [{ name: "\\write18{x}_%", x: 1, mark: "partial" }], { page: "p" });
  assert.ok(text.includes("\\textbackslash{}write18\\{x\\}\\_\\% & 1.0$^{\\circ}$ & -- \\\\\n"));
  assert.ok(text.includes("n \\& m") && text.endsWith("\\end{tabular}\n"));
});

test("replies without an answer add up by language, the largest share first", () => {
  /** @param {string} language @param {number} replies @param {Record<string, number>} failures */
  const cell = (language, replies, failures) => ({ task: "t", language, n: replies, metrics: {}, replies, failures });
  const found = repliesByLanguage([
    cell("en", 100, { cut: 1 }),
    cell("yo", 50, { refusal: 10, cut: 1 }),
    cell("yo", 50, { refusal: 5 }),
    { task: "t", language: "de", n: 9, metrics: {} },
  ]);
  assert.deepEqual(found, [
    { code: "yo", replies: 100, failed: 16, failures: { refusal: 15, cut: 1 } },
    { code: "en", replies: 100, failed: 1, failures: { cut: 1 } },
  ]);
});

test("intervals and unparsed shares", () => {
  assert.equal(intervalText({ low: 58.46, high: 63.4 }), "95 % interval 58.5–63.4");
  assert.equal(intervalText({ low: null, high: 2 }), "");
  assert.equal(unparsedText(0.013), "1.3 % of predictions missing or unparseable");
  assert.equal(unparsedText(0), "");
  const cost = METADATA.find(({ id }) => id === "thousand")?.text;
  assert.deepEqual([0, 0.00012, 0.0956, 0.1, 12.345].map(cost), ["$0.00", "$0.00012", "$0.096", "$0.10", "$12.35"]);
});

test("example summaries", () => {
  assert.equal(listedText(10, 1234, "worst first"), "10 of 1,234 examples, worst first.");
  assert.match(listedText(0, 5, ""), /labels are public/);
  assert.deepEqual([scoredName("A", 49.6), scoredName("A", null)], ["A (50)", "A"]);
});

test("colours", () => {
  assert.deepEqual(scorePaint(0), { fill: "rgb(68 1 84)", ink: "#ffffff" });
  assert.equal(scorePaint(100).ink, "#000000");
  assert.deepEqual(directedPaint(true, [0, 100])(0), scorePaint(100));
  assert.deepEqual([betterShare(80, [60, 80], false), betterShare(80, [60, 80], true)], [1, 0]);
});

test("scales", () => {
  assert.deepEqual(niceTicks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
});

test("choices follow the address, or take the first value", () => {
  const items = [{ task: "a" }, { task: "b" }, { task: "a" }];
  assert.deepEqual(chosenOf(params("task=b"), "task", items), { values: ["a", "b"], chosen: "b" });
  assert.equal(chosenOf(params("task=z"), "task", items).chosen, "a");
});
