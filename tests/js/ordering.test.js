import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { studentQuantile, studentTail } from "../../src/isogloss/site/web/statistics/distributions.js";
import { languageMoves } from "../../src/isogloss/site/web/statistics/language_moves.js";
import { languageTests } from "../../src/isogloss/site/web/statistics/language_tests.js";
import { holm, letterOf, ordering } from "../../src/isogloss/site/web/statistics/ordering.js";

const vectors = JSON.parse(readFileSync(new URL("../board/ranking_vectors.json", import.meta.url), "utf8"));
const board = { language: new Map(vectors.languages.map((item) => [item.code, item])) };
const systems = Array.from({ length: vectors.systems }, (_, at) => ({ at }));

// The columns of a case of the vectors.
const columnsOf = (wanted) =>
  vectors.tasks
    .filter(({ id }) => !wanted.tasks || wanted.tasks.includes(id))
    .map((task) => {
      const codes = task.languages.filter((code) => !wanted.languages || wanted.languages.includes(code));
      const scores = Float64Array.from(vectors.cells[task.id].flat());
      return {
        task: { ...task, cells: scores },
        codes,
        places: codes.map((code) => task.languages.indexOf(code)),
        whole: true,
        scores,
      };
    })
    .filter(({ codes }) => codes.length);

for (const wanted of vectors.cases)
  for (const [view, figures] of Object.entries(wanted.figures))
    test(`${wanted.name}: the order by ${view} equals Python`, () => {
      const choice = { ranking: view, weights: wanted.weights ?? {} };
      const { shares, families, moves } = languageMoves(board, systems, columnsOf(wanted), choice);
      const scale = view === "gini" ? 100 : 1;
      const values = figures.map((figure) => scale * figure);
      const p = languageTests(values, moves, shares, families);
      if (!wanted.groups[view]) {
        assert.equal(p, null);
        return;
      }
      wanted.p[view].forEach((expected, other) => {
        const found = other ? p(0, other) : 1;
        if (expected > 0.05) assert.ok(found > 0.05);
        else assert.ok(Math.abs(found / expected - 1) < 1e-6, `${found} is not ${expected}`);
      });
      const found = ordering(values, p, view === "gini");
      assert.deepEqual(found.low, wanted.low[view]);
      assert.deepEqual(found.high, wanted.high[view]);
      assert.deepEqual(found.groups, wanted.groups[view]);
    });

test("Holm's correction by hand", () => {
  assert.deepEqual([...holm([0.03, 0.01, NaN])], [0.06, 0.03, 1]);
  assert.deepEqual([...holm([0.02, 0.02, 0.5])], [0.06, 0.06, 0.5]);
});

test("groups overlap", () => {
  const p = (one, other) => (one === 0 && other === 2 ? 0.01 : 0.9);
  assert.deepEqual(ordering([3, 2, 1], p), {
    low: [1, 1, 2],
    high: [2, 3, 3],
    groups: [
      [0, 1],
      [1, 2],
    ],
  });
  assert.deepEqual(ordering([1, 2, 3], p, true).groups, [
    [0, 1],
    [1, 2],
  ]);
  assert.deepEqual(ordering([5], p), { low: [1], high: [1], groups: [[0]] });
  assert.deepEqual(ordering([5, 5], () => 0).groups, [[0, 1]]);
});

test("more than 100 systems have rank sets, but no letters", () => {
  const values = Array.from({ length: 101 }, (_, at) => at);
  const { low, high, groups } = ordering(values, () => 0);
  assert.deepEqual([low[100], high[100], groups], [1, 1, []]);
  assert.equal(ordering(values.slice(1), () => 0).groups.length, 100);
});

test("letters continue after z", () => {
  assert.deepEqual([0, 25, 26, 27, 51, 52, 701, 702].map(letterOf), ["a", "z", "aa", "ab", "az", "ba", "zz", "aaa"]);
});

test("Student's distribution", () => {
  // One degree of freedom: the Cauchy distribution.
  assert.ok(Math.abs(studentTail(1, 1) - 0.25) < 1e-14);
  assert.ok(Math.abs(studentTail(studentQuantile(7), 7) - 0.025) < 1e-12);
  assert.equal(studentTail(Infinity, 3), 0);
});
