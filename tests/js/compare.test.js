import assert from "node:assert/strict";
import test from "node:test";
import { bestAlone } from "../../src/isogloss/site/web/compare/compare_buckets.js";
import { betterCounts, contrastCounts } from "../../src/isogloss/site/web/compare/contrast_counts.js";
import {
  leadOf,
  orderedContrast,
  pairContrasts,
  testedContrast,
} from "../../src/isogloss/site/web/compare/contrasts.js";
import { addedParts, againstLeader, decidingParts } from "../../src/isogloss/site/web/compare/explained.js";
import { forestLimit } from "../../src/isogloss/site/web/compare/forest.js";
import { testsByColumn } from "../../src/isogloss/site/web/compare/paired.js";
import { searchedSystems } from "../../src/isogloss/site/web/compare/picker.js";
import { bestPair, partnersOf, preselectedText } from "../../src/isogloss/site/web/compare/preselected.js";
import { gapText, printedOnly, pValueText, verdictKind } from "../../src/isogloss/site/web/compare/verdict.js";
import { board } from "./board_fixture.js";

const contrast = (first, second, more = {}) => ({
  lower: false,
  first,
  second,
  lead: first - second,
  low: null,
  high: null,
  p: null,
  test: "",
  winner: "",
  ...more,
});
const compared = (ids, tests = new Map()) => {
  const own = board();
  const pair = ids.map((id) => own.system.get(id));
  return { board: own, pair, systems: pair, tests };
};

test("a tie has no single best score", () => {
  assert.deepEqual([bestAlone(false, [2, 1]), bestAlone(true, [2, 1]), bestAlone(false, [2, 2, 1])], [0, 1, -1]);
});

test("a lead is positive if the first is better, also if lower is better", () => {
  assert.deepEqual([leadOf(false, 80, 70), leadOf(true, 80, 70)], [10, -10]);
  const paired = { column: "x", difference: 4, low: 1, high: 7, p: 0.01 };
  const turned = testedContrast(paired, true);
  assert.deepEqual([turned.lead, turned.low, turned.high, turned.winner], [-4, -7, -1, "second"]);
  const kept = testedContrast(paired, false);
  assert.deepEqual([kept.lead, kept.low, kept.high, kept.winner], [4, 1, 7, "first"]);
  // No winner without significance.
  assert.equal(testedContrast({ ...paired, p: 0.05 }, false).winner, "");
  assert.deepEqual(testedContrast({ ...paired, low: null }, true).high, null);
});

test("an order's verdict on two systems follows from its groups", () => {
  const order = {
    test: "languages",
    note: "",
    ranges: new Map([
      ["a", [1, 2]],
      ["b", [1, 2]],
      ["c", [3, 3]],
      ["d", [1, 4]],
    ]),
    untested: new Set(["d"]),
    groups: [["a", "b"], ["c"]],
  };
  const verdict = (one, other, lead) => orderedContrast(order, [{ id: one }, { id: other }], lead);
  assert.deepEqual(verdict("a", "b", 2), { test: "languages", winner: "", among: 3 });
  assert.deepEqual(verdict("c", "b", -2), { test: "languages", winner: "second", among: 3 });
  assert.deepEqual(verdict("a", "d", 1), {});
  assert.deepEqual(orderedContrast({ ...order, test: "" }, [{ id: "a" }, { id: "b" }], 2), {});
});

test("paired tests are read from either system's file", () => {
  const pair = [{ id: "a" }, { id: "b" }];
  const test_ = { column: "overall", difference: 2, low: 1, high: 3, p: 0.01 };
  assert.deepEqual(testsByColumn(pair, [{ paired: { b: [test_] } }, null]).get("overall"), test_);
  const turned = testsByColumn(pair, [{ paired: {} }, { paired: { a: [test_] } }]).get("overall");
  assert.deepEqual([turned.difference, turned.low, turned.high, turned.p], [-2, -3, -1, 0.01]);
  assert.equal(testsByColumn(pair, [null, null]).size, 0);
});

test("counts include what is not distinguishable and what is not tested", () => {
  const tested = (winner) => contrast(1, 0, { test: "examples", winner });
  const counts = contrastCounts([tested("first"), tested(""), tested(""), tested("second"), contrast(9, 1)]);
  assert.deepEqual(counts, { first: 1, second: 1, open: 2, untested: 1, all: 5 });
  // Equal printed scores are equal.
  assert.deepEqual(betterCounts([contrast(80.02, 79.98), contrast(70, 60), contrast(10, 20, { lower: true })]), {
    first: 2,
    second: 0,
    equal: 1,
    all: 3,
  });
});

test("verdicts in words and numbers", () => {
  assert.equal(gapText({ lead: -0.2, low: -0.7, high: 0.3 }), "−0.2 (−0.7 to +0.3)");
  assert.equal(gapText({ lead: -2.1, low: -2.8, high: -1.4 }, "second"), "+2.1 (+1.4 to +2.8)");
  assert.equal(gapText({ lead: 0.7, low: null, high: null }), "+0.7");
  assert.deepEqual(
    [contrast(1, 0), contrast(1, 0, { test: "languages" }), contrast(1, 0, { test: "examples", winner: "first" })].map(
      verdictKind,
    ),
    ["untested", "open", "first"],
  );
  assert.deepEqual([pValueText(0.0004), pValueText(0.012)], ["p < 0.001", "p = 0.012"]);
});

test("two complete systems are compared by the averages of the leaderboard", () => {
  const { top, complete, categories, tasks, cells, languages } = pairContrasts(compared(["a", "b"]));
  // XNLI 70 and 76; XQuAD 65 and 70; TyDiQA 60 and 64: the mean of categories.
  assert.equal(complete, true);
  assert.deepEqual([top.first, top.second], [(70 + 62.5) / 2, (76 + 67) / 2]);
  assert.deepEqual(
    categories.map(({ id, first, second }) => [id, first, second]),
    [["qa", 62.5, 67]],
  );
  assert.deepEqual(
    tasks.map(({ id, lead }) => [id, lead]),
    [
      ["xnli", -6],
      ["xquad", -5],
      ["tydiqa", -4],
    ],
  );
  assert.equal(cells.length, 7);
  const swahili = languages.find(({ id }) => id === "sw");
  assert.deepEqual([swahili.shared, swahili.of, swahili.first, swahili.second], [2, 2, (60 + 60) / 2, (70 + 62) / 2]);
  // Tasks have the leaderboard's test, cells none.
  assert.equal(tasks[1].test, "examples");
  assert.equal(tasks[1].winner, "second");
  assert.ok(cells.every((cell) => !cell.test));
});

test("partial systems are compared on what both have", () => {
  const { top, complete, tasks, cells } = pairContrasts(compared(["a", "c"]));
  assert.equal(complete, false);
  // XNLI in English only.
  assert.deepEqual(
    tasks.map(({ id, first, second, shared, of }) => [id, first, second, shared, of]),
    [
      ["xnli", 80, 90, 1, 2],
      ["xquad", 65, 67, 2, 2],
      ["tydiqa", 60, 62, 3, 3],
    ],
  );
  assert.equal(top.title, "Average of 3 shared tasks");
  assert.deepEqual([top.first, top.second], [(80 + 62.5) / 2, (90 + 64.5) / 2]);
  assert.equal(cells.length, 6);
});

test("paired tests replace the tests over languages in one comparison", () => {
  const tests = new Map([["xnli/sw", { column: "xnli/sw", difference: -10, low: -15, high: -5, p: 0.01 }]]);
  const { top, tasks, cells } = pairContrasts(compared(["a", "b"], tests));
  assert.deepEqual([top.test, ...tasks.map((task) => task.test)], ["", "", "", ""]);
  assert.deepEqual(contrastCounts(cells), { first: 0, second: 1, open: 0, untested: 6, all: 7 });
});

test("averages over what two partial systems share have the tests of isogloss compare", () => {
  const test_ = (column, difference, p) => ({ column, difference, low: difference - 1, high: difference + 1, p });
  const tests = new Map(
    [test_("xnli/en", -10, 0.01), test_("xnli*", -10, 0.01), test_("overall*", -6, 0.02)].map((one) => [one.column, one]),
  );
  const { top, tasks } = pairContrasts(compared(["a", "c"], tests));
  assert.deepEqual([top.test, top.winner, top.low, top.high], ["examples", "second", -7, -5]);
  assert.deepEqual(
    tasks.map((task) => [task.title, task.winner, task.test]),
    [
      ["XNLI", "second", "examples"],
      ["XQuAD", "", ""],
      ["TyDiQA-GoldP", "", ""],
    ],
  );
});

test("what adds up to the difference, and what decides it", () => {
  const own = compared(["a", "b"]);
  const parts = addedParts(own.board, pairContrasts(own));
  assert.deepEqual(
    parts.map(({ title, lead, added }) => [title, lead, added]),
    [
      ["Classification", -6, -3],
      ["Question answering", -4.5, -2.25],
    ],
  );
  // XLM-R Large and mT5-XXL: retrieval decides.
  const added = [-1.4, -0.1, -2.1, 4.3].map((value, at) => ({ title: String(at), added: value }));
  assert.deepEqual(
    decidingParts(added, 0.7).map(({ title }) => title),
    ["3"],
  );
  assert.deepEqual(
    decidingParts(
      [
        { title: "x", added: 1 },
        { title: "y", added: 3 },
        { title: "z", added: -2.5 },
      ],
      1.5,
    ).map(({ title }) => title),
    ["y"],
  );
  assert.deepEqual(
    decidingParts(
      [
        { title: "x", added: -3 },
        { title: "y", added: -2 },
      ],
      -5,
    ).map(({ title }) => title),
    ["x", "y"],
  );
});

test("counts that contradict the better average", () => {
  const top = contrast(65.3, 64.6);
  const cells = [contrast(1, 2), contrast(1, 2), contrast(2, 1)];
  const tasks = [contrast(3, 1), contrast(1, 2), contrast(2, 2.04)];
  const { leader, against, along } = againstLeader({ top, tasks, cells }, []);
  assert.equal(leader, "first");
  assert.deepEqual(
    against.map(({ noun, second, all }) => [noun, second, all]),
    [["shared cell", 2, 3]],
  );
  assert.deepEqual(
    along.map(({ noun, first, equal, all }) => [noun, first, equal, all]),
    [["task", 1, 1, 3]],
  );
});

test("the axis holds averages, and nineteen of twenty cells", () => {
  const at = (lead, more) => contrast(lead, 0, more);
  assert.equal(forestLimit([at(0.7)], []), 1);
  assert.equal(forestLimit([at(-17.2)], []), 20);
  assert.equal(forestLimit([at(2, { low: -4.5, high: 8.2 })], []), 10);
  const cells = Array.from({ length: 20 }, (_, place) => at(place === 19 ? 90 : 3));
  assert.equal(forestLimit([at(1)], cells), 3);
});

test("the two best-ranked systems, or those of the column that most have", () => {
  const own = board();
  const best = bestPair(own);
  assert.deepEqual(
    best.systems.map(({ id }) => id),
    ["b", "a"],
  );
  assert.equal(preselectedText(best), "Preselected: the two best-ranked systems of the full benchmark.");
  // Without the second system only question answering has two.
  own.system.get("b").at = 1;
  for (const task of own.tasks)
    for (const scores of [task.scores, task.cells]) scores.fill(NaN, task.languages.length, 2 * task.languages.length);
  const other = bestPair({ ...own });
  assert.equal(other.column.id, "qa");
  assert.deepEqual([other.count, ...other.systems.map(({ id }) => id)], [2, "c", "a"]);
});

test("partners share most", () => {
  const own = board();
  assert.deepEqual(
    partnersOf(own, own.system.get("c")).map(({ system, cells }) => [system.id, cells]),
    [
      ["b", 6],
      ["a", 6],
    ],
  );
  assert.deepEqual(
    partnersOf(own, own.system.get("c"), [own.system.get("b")]).map(({ system }) => system.id),
    ["a"],
  );
});

test("tasks that a system has as an average only", () => {
  const own = compared(["a", "b"]);
  const second = own.board.system.get("b");
  const none = new Float64Array(3).fill(NaN);
  own.board.averages.set("xnli", { value: Float64Array.of(70, 77, NaN), low: none, high: none });
  const xnli = own.board.task.get("xnli");
  for (const scores of [xnli.scores, xnli.cells]) scores.fill(NaN, 2, 4);
  const { tasks, cells } = pairContrasts(own);
  assert.deepEqual([tasks[0].second, tasks[0].shared, cells.length], [77, 0, 5]);
  assert.deepEqual(printedOnly(own.board, second, tasks), ["XNLI"]);
  assert.deepEqual(printedOnly(own.board, own.board.system.get("a"), tasks), []);
});

test("systems are found by the words of their names, and first by their beginnings", () => {
  const named = ["Alpha 4", "4 Beta", "Gamma"].map((name) => ({ name, regime: "zero-shot", kind: "llm" }));
  const found = (text) => searchedSystems(named, text).map(({ name }) => name);
  assert.deepEqual(found("4"), ["4 Beta", "Alpha 4"]);
  assert.deepEqual(found("zero AL"), ["Alpha 4"]);
  assert.deepEqual(found(" "), ["Alpha 4", "4 Beta", "Gamma"]);
});
