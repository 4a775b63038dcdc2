import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import {
  RANKINGS,
  groupedBy,
  memoized,
  overallFigure,
  partialMean,
  ranksOf,
  weightedMean,
} from "../../src/isogloss/site/web/board/ranking.js";

const vectors = JSON.parse(readFileSync(new URL("../board/ranking_vectors.json", import.meta.url), "utf8"));
const language = new Map(vectors.languages.map((item) => [item.code, item]));

// The parts of one system for a case of the vectors.
const partsOf = (wanted, system) =>
  vectors.tasks
    .filter(({ id }) => !wanted.tasks || wanted.tasks.includes(id))
    .map(({ id, category, languages }) => {
      const codes = languages.filter((code) => !wanted.languages || wanted.languages.includes(code));
      const scores = codes.map((code) => vectors.cells[id][system][languages.indexOf(code)]);
      return { id, category, codes, scores, figure: weightedMean(scores) };
    })
    .filter(({ codes }) => codes.length);

for (const wanted of vectors.cases)
  for (const [view, expected] of Object.entries(wanted.figures))
    test(`${wanted.name}: ${view} equals Python`, () => {
      const figures = Array.from({ length: vectors.systems }, (_, system) =>
        overallFigure(view, partsOf(wanted, system), { language, weights: wanted.weights ?? {} }),
      );
      const scale = view === "gini" ? 100 : 1;
      figures.forEach((figure, at) => assert.ok(Math.abs(figure - scale * expected[at]) < 1e-6));
      const rounded = figures.map((value) => Math.round(value * 1e9) / 1e9);
      assert.deepEqual(ranksOf(rounded, view === "gini"), wanted.ranks[view]);
    });

test("rankings have ids, titles and hints", () => {
  for (const { id, title, hint } of RANKINGS) assert.ok(id && title && hint.endsWith("."));
});

test("weighted means skip zero weights and are NaN without weights", () => {
  assert.equal(weightedMean([1, NaN, 3], [1, 0, 3]), 2.5);
  assert.ok(Number.isNaN(weightedMean([], undefined)));
  assert.ok(Number.isNaN(weightedMean([1, NaN])));
});

test("equal values share the better rank; NaN has none", () => {
  assert.deepEqual(ranksOf([5, 7, NaN, 7, 1]), [3, 1, null, 1, 4]);
  assert.deepEqual(ranksOf([5, 7, 7], true), [1, 2, 2]);
});

test("partial means cover the available scores", () => {
  assert.deepEqual(partialMean([1, NaN, 3]), { value: 2, n: 2 });
});

test("lower-is-better rankings take the highest scores as the weakest", () => {
  const codes = Array.from({ length: 12 }, (_, at) => `l${at}`);
  const parts = [{ id: "t", category: "c", codes, scores: codes.map((_, at) => at), figure: 5.5 }];
  assert.equal(overallFigure("worst", parts, { language, lower: true }), 6.5);
  assert.equal(overallFigure("worst", parts, { language }), 4.5);
});

test("groups keep the order of their items", () => {
  assert.deepEqual(
    [...groupedBy([3, 1, 2, 5], (n) => (n % 2 ? "odd" : "even"))],
    [
      ["odd", [3, 1, 5]],
      ["even", [2]],
    ],
  );
});

test("memoized functions run again for other arguments only", () => {
  let runs = 0;
  const twice = memoized((object, factor) => {
    runs += 1;
    return object.value * factor;
  });
  const object = { value: 2 };
  assert.deepEqual([twice(object, 2), twice(object, 2), twice(object, 3), runs], [4, 4, 6, 2]);
});
