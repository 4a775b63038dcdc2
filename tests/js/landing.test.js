import assert from "node:assert/strict";
import test from "node:test";
import { coveragePatterns, firstSegment, segmentCounts } from "../../src/isogloss/site/web/board/coverage.js";
import { openBoard } from "../../src/isogloss/site/web/board/decode.js";
import { segmentOf, segmentPlace, segmentsOf } from "../../src/isogloss/site/web/board/segments.js";
import { standings } from "../../src/isogloss/site/web/board/standings.js";
import { coveredText } from "../../src/isogloss/site/web/leaderboard/coverage_matrix.js";
import { bestHumanGaps, leadFacts, serviceFacts } from "../../src/isogloss/site/web/leaderboard/finding_facts.js";
import { familyShares, humanDifference } from "../../src/isogloss/site/web/leaderboard/row_profiles.js";
import { selectionObstacles } from "../../src/isogloss/site/web/leaderboard/selection_bar.js";
import { board, boardData, packed, params } from "./board_fixture.js";

const opened = (changes) => openBoard({ ...boardData(), ...changes });
const close = (one, other) => assert.ok(Math.abs(one - other) < 1e-9, `${one} is not ${other}`);

test("segments with the same tasks are one", () => {
  const own = board();
  // XNLI is the only task of its category.
  assert.deepEqual(
    segmentsOf(own).map(({ id }) => id),
    ["full", "classification", "qa", "xquad", "tydiqa"],
  );
  assert.equal(segmentOf(own, "xnli").id, "classification");
  assert.equal(segmentOf(own, "none").id, "full");
  assert.deepEqual(["full", "qa", "xquad"].map((id) => segmentPlace(segmentOf(own, id))), [
    "overall",
    "in question answering",
    "on XQuAD",
  ]);
});

test("segments count the matching systems that cover them", () => {
  const counts = (query) => Object.fromEntries(segmentCounts(board(), params(query)));
  assert.deepEqual(counts(""), { full: 2, classification: 2, qa: 3, xquad: 3, tydiqa: 3 });
  assert.deepEqual(counts("kind=encoder"), { full: 1, classification: 1, qa: 2, xquad: 2, tydiqa: 2 });
  // Without Swahili, the third system is complete; XQuAD has no Finnish.
  assert.deepEqual(counts("language=en"), { full: 3, classification: 3, qa: 3, xquad: 3, tydiqa: 3 });
  assert.deepEqual(counts("language=fi"), { full: 3, classification: 0, qa: 3, xquad: 0, tydiqa: 3 });
});

test("a board starts with the part that most systems cover", () => {
  const { cells } = boardData();
  assert.equal(firstSegment(board()), "full");
  const partial = packed([80, NaN, 82, NaN, 90, NaN]);
  assert.equal(firstSegment(opened({ cells: { ...cells, xnli: partial } })), "qa");
  const none = { xnli: partial, xquad: partial, "xquad:f1": partial, tydiqa: packed(Array(9).fill(NaN)) };
  assert.equal(firstSegment(opened({ cells: none })), null);
  // One of three systems is complete, but all three cover a category.
  const one = packed([80, 70, 82, NaN, 90, NaN]);
  assert.equal(firstSegment(opened({ cells: { ...cells, xnli: one } })), "qa");
});

test("a segment has its own columns and ranks", () => {
  const shown = (query) => standings(board(), params(query)).shown.map(({ id, title }) => `${id}:${title}`);
  assert.deepEqual(shown("segment=qa"), ["overall:Average", "xquad:XQuAD", "tydiqa:TyDiQA-GoldP"]);
  assert.deepEqual(shown("segment=xquad"), ["xquad:XQuAD"]);
  // This ranking is not the task's average.
  assert.deepEqual(shown("segment=xquad&ranking=worst"), ["overall:Overall", "xquad:XQuAD"]);
  const { rows, by } = standings(board(), params("segment=qa&complete=1"));
  // (65 + 60) / 2, (70 + 64) / 2 and (67 + 62) / 2.
  assert.deepEqual(
    rows.map(({ rank, figures }) => [rank, figures.get(by.id).value]),
    [
      [3, 62.5],
      [1, 67],
      [2, 64.5],
    ],
  );
});

test("the average of a category has its published interval", () => {
  const averages = { qa: { value: packed([62, 67, 64]), low: packed([61, 66, 63]), high: packed([63, 68, 65]) } };
  const { rows } = standings(opened({ averages }), params("segment=qa"));
  const { value, low, high } = rows[0].figures.get("overall");
  assert.deepEqual([value, low, high], [62, 61, 63]);
});

test("systems with the same cells are one pattern", () => {
  const own = board();
  const patterns = coveragePatterns(own, own.systems);
  assert.deepEqual(
    patterns.map(({ systems, tasks }) => [systems.map(({ id }) => id), tasks.map(({ n, of }) => `${n}/${of}`)]),
    [
      [["a", "b"], ["2/2", "2/2", "3/3"]],
      [["c"], ["1/2", "2/2", "3/3"]],
    ],
  );
  const covered = (...ns) => coveredText(own, ns.map((n, at) => ({ n, of: [2, 2, 3][at], average: false })));
  assert.equal(covered(2, 2, 3), "all tasks");
  assert.equal(covered(1, 2, 3), "all tasks, XNLI in part");
  assert.equal(covered(1, 0, 0), "XNLI in part");
  assert.equal(covered(2, 0, 0), "XNLI only");
  assert.equal(covered(0, 2, 1), "XQuAD, TyDiQA-GoldP in part");
  assert.equal(covered(0, 0, 0), "no results");
});

test("a published average without cells is coverage of its own", () => {
  const { cells } = boardData();
  const averages = { xnli: { value: packed([70, NaN, NaN]) } };
  const own = opened({ cells: { ...cells, xnli: packed([NaN, NaN, 82, 70, 90, NaN]) }, averages });
  assert.deepEqual(coveragePatterns(own, [own.systems[0]])[0].tasks[0], { n: 0, of: 2, average: true });
  assert.equal(segmentCounts(own, params()).get("classification"), 2);
});

test("a best average that is worse on most tasks is explained", () => {
  const figures = (xnli, xquad, tydiqa) => ({
    xnli: packed([xnli[0], xnli[0], xnli[1], xnli[1], NaN, NaN]),
    xquad: packed([xquad[0], xquad[0], xquad[1], xquad[1], NaN, NaN]),
    tydiqa: packed([...Array(3).fill(tydiqa[0]), ...Array(3).fill(tydiqa[1]), NaN, NaN, NaN]),
  });
  const facts = (cells) => {
    const { lead, second, higher, tasks, decides } = leadFacts(standings(opened({ cells }), params()));
    return [lead.system.id, second.system.id, higher, tasks, decides];
  };
  // The first is 20 ahead in one category, and 2 and 4 behind on the tasks of the other.
  assert.deepEqual(facts(figures([80, 60], [60, 62], [50, 54])), ["a", "b", 2, 3, "classification"]);
  // Ahead on most tasks: nothing to explain.
  assert.deepEqual(facts(figures([80, 60], [62, 60], [54, 50])), ["a", "b", 0, 3, ""]);
});

test("languages are compared with the best English score", () => {
  const { service, reference } = serviceFacts(board());
  // Swahili: (70 / 90 + 61 / 70) / 2 = 82 %; Arabic: 65 / 75 = 87 %; Finnish: 62 / 70 = 89 %, by the best score of each.
  assert.equal(reference, "en");
  assert.deepEqual([service.served.languages.length, service.unserved.languages.length], [4, 0]);
  const { tasks } = boardData();
  const other = (code) => (code === "en" ? "de" : code);
  const renamed = tasks.map((task) => ({ ...task, languages: task.languages.map(other) }));
  assert.equal(serviceFacts(opened({ tasks: renamed })), null);
});

test("the distance to people is that of the best average on each task", () => {
  const averages = {
    xnli: { value: packed([70, 76, NaN]) },
    xquad: { value: packed([65, 70, 67]) },
    tydiqa: { value: packed([60, 64, 62]) },
  };
  const tasks = boardData().tasks.map((task, at) => ({ ...task, human: [92.8, null, 60][at] }));
  const gaps = bestHumanGaps(opened({ averages, tasks }));
  assert.deepEqual(gaps.map(({ task, best }) => [task.id, best.system.id]), [
    ["xnli", "b"],
    ["tydiqa", "b"],
  ]);
  close(gaps[0].gap, 16.8);
  close(gaps[1].gap, -4);
  const errors = tasks.map((task) => ({ ...task, lower_is_better: true, human: 5 }));
  // Lower is better: the best is the smallest.
  const [most] = bestHumanGaps(opened({ averages, tasks: errors }));
  assert.deepEqual([most.best.system.id, most.best.value, most.gap], ["a", 70, 65]);
  assert.deepEqual(bestHumanGaps(opened({ tasks: tasks.map((task) => ({ ...task, human: null })) })), []);
});

test("rows are compared with people on the whole tasks that they cover", () => {
  const difference = (query) => {
    const table = standings(board(), params(query));
    return table.rows.map((row) => humanDifference(table, row));
  };
  const [alpha, , third] = difference("");
  close(alpha.value, 70 - 92.8);
  assert.deepEqual([alpha.tasks.map(({ id }) => id), alpha.partial], [["xnli"], false]);
  assert.deepEqual([third.value, third.partial], [NaN, true]);
  assert.deepEqual(difference("language=en")[0].tasks, []);
});

test("families average every cell of the selection, relative to English", () => {
  const own = board();
  const { columns } = standings(own, params());
  const shares = (at) => familyShares(own, columns, own.systems[at]);
  assert.deepEqual(
    shares(0).map(({ name }) => name),
    ["Afro-Asiatic", "Niger-Congo", "Uralic"],
  );
  // Arabic 60 of 75; Swahili 60 of 90 and 60 of 70; Finnish 54 of 70.
  close(shares(0)[0].share, 60 / 75);
  close(shares(0)[1].share, (60 / 90 + 60 / 70) / 2);
  close(shares(0)[2].share, 54 / 70);
  // Swahili is missing on XNLI.
  assert.ok(Number.isNaN(shares(2)[1].share));
});

test("actions on a selection need their number of systems, and single examples", () => {
  const [a, b, c] = board().systems;
  assert.deepEqual(selectionObstacles([a]), {
    compare: "select another system",
    single: "",
    pairwise: "select two systems",
  });
  assert.deepEqual(selectionObstacles([b]).single, "Beta has only reported scores");
  assert.deepEqual(selectionObstacles([a, c]), { compare: "", single: "select one system", pairwise: "" });
  assert.equal(selectionObstacles([a, b]).pairwise, "Beta has only reported scores");
  assert.equal(selectionObstacles([a, b, c, a, b]).compare, "select up to 4 systems");
});
