import assert from "node:assert/strict";
import test from "node:test";
import { columnChoices, humanRow } from "../../src/isogloss/site/web/leaderboard/columns.js";
import { lackText, scoreTitle } from "../../src/isogloss/site/web/board/describe.js";
import {
  chosenColumns,
  keptSystems,
  narrowedCells,
  systemOptions,
  SYSTEM_FILTERS,
} from "../../src/isogloss/site/web/board/filters.js";
import { filterText } from "../../src/isogloss/site/web/leaderboard/leaderboard_controls.js";
import {
  coverageText,
  emptyText,
  firstPlace,
  leadText,
  otherCounts,
  rankingText,
} from "../../src/isogloss/site/web/leaderboard/leaderboard_words.js";
import { openBoard } from "../../src/isogloss/site/web/board/decode.js";
import { chosenWeights, standings, wholeValue } from "../../src/isogloss/site/web/board/standings.js";
import { exampleColumn } from "../../src/isogloss/site/web/board/tested_order.js";
import { board, boardData, params } from "./board_fixture.js";

const table = (query = "") => standings(board(), params(query));

test("systems are ranked by the mean over categories; partial ones are not", () => {
  const { rows, ranked } = table();
  assert.equal(ranked, 2);
  assert.deepEqual(
    rows.map(({ rank }) => rank),
    [2, 1, null],
  );
  // Classification 76; question answering (70 + 64) / 2 = 67.
  assert.equal(wholeValue(rows[1], "overall"), 71.5);
  assert.equal(wholeValue(rows[2], "overall"), null);
});

test("a partial score is the mean of the available cells", () => {
  const figure = table().rows[2].figures.get("xnli");
  assert.deepEqual([figure.value, figure.partial, figure.n, figure.of], [90, true, 1, 2]);
});

test("filters select cells, and ranks follow the selection", () => {
  const selected = table("task=tydiqa&language=sw");
  assert.deepEqual(
    selected.rows.map(({ rank }) => rank),
    [3, 1, 2],
  );
  assert.ok(selected.choice.narrowed);
});

test("sorting by a column ranks by it", () => {
  assert.deepEqual(
    table("sort=xquad").rows.map(({ rank }) => rank),
    [3, 1, 2],
  );
});

test("only complete systems are rows; the others are kept apart", () => {
  const names = ({ rows, dropped }) => [rows, dropped].map((list) => list.map(({ system }) => system.id));
  assert.deepEqual(names(table("complete=1")), [["a", "b"], ["c"]]);
  assert.deepEqual(names(table("complete=1&task=xquad")), [["a", "b", "c"], []]);
  assert.deepEqual(otherCounts(table("complete=1")), [1, 0]);
});

test("the table is reused while only rows are selected", () => {
  const own = board();
  assert.equal(standings(own, params("sort=xnli")), standings(own, params("sort=xnli&tick=a&page=2")));
  assert.notEqual(standings(own, params("sort=xnli")), standings(own, params("sort=xquad")));
});

test("weights come from the address", () => {
  assert.deepEqual(chosenWeights(params("w=xnli:2&w=xquad:-1&w=tydiqa:x&w=mlqa:1e308")), { xnli: 2, xquad: 0, tydiqa: 0, mlqa: 5 });
});

test("a ranking with predictions is tested on examples", () => {
  const { order } = table("sort=xquad");
  assert.deepEqual([order.test, order.note], ["examples", "tested on examples"]);
  // Corrected p-values: 0.003, 0.008 and 0.6.
  assert.deepEqual([...order.ranges], Object.entries({ a: [2, 3], b: [1, 1], c: [2, 3] }));
  assert.deepEqual(order.groups, [["b"], ["c", "a"]]);
  assert.deepEqual(firstPlace(table("sort=xquad")), {
    verb: "leads",
    before: " with",
    after: "significantly ahead of all others on new examples in these languages",
  });
});

test("a selection of systems does not change the verdicts on examples", () => {
  const data = boardData();
  const almost = openBoard({ ...data, example_tests: { xquad: [[0, 1, 0.07], [0, 2, 0.06], [1, 2, 0.04]] } });
  const groups = (query) => standings(almost, params(query)).order.groups;
  assert.deepEqual(groups("sort=xquad"), [["b", "a"], ["c", "a"]]);
  assert.deepEqual(groups("sort=xquad&kind=encoder"), [["c", "a"]]);
  assert.deepEqual(table("sort=xquad&kind=encoder").order.groups, [["c", "a"]]);
  assert.equal(table("sort=xquad&kind=llm").order.test, "");
  assert.deepEqual(firstPlace(table("sort=xquad&kind=llm")), { verb: "scores", before: "", after: "" });
});

test("a ranking of a selection is not tested on examples, nor over few languages", () => {
  for (const query of ["sort=xquad&metric=f1", "ranking=flat", "sort=xnli"]) {
    const { order } = table(query);
    assert.deepEqual([order.test, order.note, order.ranges.size, order.groups], ["", "not tested", 0, []]);
  }
  const after = "the order is not tested";
  assert.deepEqual(firstPlace(table("sort=xnli")), { verb: "has the best score", before: ",", after });
});

test("the same figures have the same test", () => {
  const column = (query, own_rule = ["category"]) =>
    exampleColumn(standings(openBoard({ ...boardData(), own_rule }), params(query)));
  assert.equal(column(""), "overall");
  assert.equal(column("ranking=flat"), "");
  assert.equal(column("ranking=flat", ["category", "flat"]), "overall");
  assert.equal(column("ranking=weights", ["category", "weights"]), "overall");
  assert.equal(column("ranking=weights&w=xnli:2", ["category", "weights"]), "");
  assert.equal(column("task=xquad"), "xquad");
  assert.equal(column("task=xquad&ranking=flat"), "xquad");
  assert.equal(column("task=xquad&ranking=worst"), "");
  assert.equal(column("task=xquad&language=en"), "");
  assert.equal(column("sort=xquad"), "xquad");
  assert.equal(column("sort=qa"), "");
  assert.deepEqual(table("task=xquad").order.groups, table("sort=xquad").order.groups);
});

test("the headline claims no more than the test", () => {
  /** @param {Record<string, [number, number]>} ranges @param {number} ranked @param {string[]} untested */
  const words = (ranges, ranked, ...untested) => {
    const order = {
      ...{ test: "languages", note: "", groups: [] },
      ...{ ranges: new Map(Object.entries(ranges)), untested: new Set(untested) },
    };
    const { verb, after } = firstPlace({ ...table(), order, ranked });
    return [verb, after];
  };
  assert.deepEqual(words({ a: [1, 1], b: [2, 2] }, 2), [
    "leads",
    "significantly ahead of all others in similar languages",
  ]);
  assert.deepEqual(words({ a: [1, 2], b: [1, 2], c: [3, 3] }, 3), [
    "has the best score",
    "1 other is statistically tied for first in similar languages",
  ]);
  assert.deepEqual(words({ a: [1, 2], b: [2, 3], c: [1, 3] }, 3, "c"), [
    "has the best score",
    "1 system cannot be tested: it lacks scores per language",
  ]);
  assert.deepEqual(words({ a: [1, 4], b: [1, 4], c: [1, 4], d: [1, 4] }, 4, "c", "d"), [
    "has the best score",
    "2 systems cannot be tested: they lack scores per language",
  ]);
});

test("missing cells are listed by name", () => {
  const { rows, by } = table();
  assert.equal(lackText(board(), rows[2]), "missing: XNLI in Swahili");
  assert.equal(lackText(board(), rows[0], by), "not reported");
});

test("the headline names the selection", () => {
  assert.equal(leadText(table()), "overall");
  assert.equal(leadText(table("sort=xnli")), "on XNLI");
  assert.equal(leadText(table("ranking=flat")), "by “Mean over tasks”");
  assert.equal(leadText(table("task=tydiqa&language=sw")), "on TyDiQA-GoldP in Swahili");
  assert.equal(leadText(table("task=tydiqa")), "on TyDiQA-GoldP");
  assert.equal(leadText(table("segment=qa")), "in question answering");
  assert.equal(leadText(table("segment=qa&sort=xquad")), "on XQuAD");
  assert.equal(leadText(table("segment=xnli")), "on XNLI");
  assert.equal(leadText(table("language=sw")), "on XNLI and TyDiQA-GoldP in Swahili");
});

test("the headline counts complete and partial systems", () => {
  assert.equal(coverageText(table(), 3, 232), "3 systems cover the full benchmark; 232 have partial results");
  assert.equal(coverageText(table(), 1, 1), "1 system covers the full benchmark; 1 has partial results");
  assert.equal(coverageText(table("segment=qa"), 3, 0), "3 systems cover all question answering tasks");
  assert.equal(coverageText(table("segment=xnli"), 2, 1), "2 systems cover all of XNLI; 1 has partial results");
  assert.equal(coverageText(table("task=xnli"), 2, 0), "2 systems cover this selection");
  assert.equal(
    coverageText(table("task=xnli"), 2, 1, 3),
    "2 systems cover this selection; 1 has partial results; 3 have none",
  );
});

test("empty rankings are explained", () => {
  assert.equal(emptyText(table("task=xquad&language=sw")), "XQuAD has no Swahili data. Try XNLI or TyDiQA-GoldP.");
  assert.equal(
    emptyText(table("q=translate&complete=1")),
    "No matching system covers the full benchmark; 1 system has partial results.",
  );
  assert.equal(emptyText(table("q=none")), "No system matches these filters.");
  assert.equal(emptyText({ ...table(), board: { ...board(), systems: [] } }), "This board has no systems yet.");
});

test("the ranking text names the selected part", () => {
  assert.match(rankingText(table("language=sw")), / Averaged over 2 of 3 tasks and 1 of 4 languages\.$/);
});

test("system filters", () => {
  const names = (query) => keptSystems(board(), params(query)).map(({ id }) => id);
  assert.deepEqual(names("kind=llm"), ["b"]);
  assert.deepEqual(names("q=alpha+translate"), ["c"]);
  assert.deepEqual(names("pmin=1000"), ["b"]);
  assert.deepEqual(names("pmax=1000"), ["a"]);
  assert.deepEqual(names("contamination=flagged"), ["b"]);
  assert.deepEqual(names("year=not+disclosed"), ["c"]);
  assert.deepEqual(names("kind=llm&origin=scored+here"), []);
});

test("filter options count systems, undisclosed ones last", () => {
  const year = SYSTEM_FILTERS.find(({ key }) => key === "year");
  assert.deepEqual(systemOptions(board(), year), [
    ["2020", "2020 (1)"],
    ["2023", "2023 (1)"],
    ["not disclosed", "not disclosed (1)"],
  ]);
});

test("cell filters combine", () => {
  const codes = (query) => chosenColumns(board(), params(query)).map(({ task, codes: own }) => [task.id, ...own]);
  assert.deepEqual(codes("family=Uralic"), [["tydiqa", "fi"]]);
  assert.deepEqual(codes("script=Arab&task=xquad"), [["xquad", "ar"]]);
  assert.deepEqual(codes("metric=em"), [["xquad", "en", "ar"]]);
  assert.ok(narrowedCells(board(), params("metric=em")) && !narrowedCells(board(), params("kind=llm")));
});

test("a single metric replaces the average", () => {
  const [column] = chosenColumns(board(), params("metric=f1"));
  assert.deepEqual([column.metric, column.whole, column.scores[0]], ["f1", false, 75]);
});

test("filter chips are readable", () => {
  assert.equal(filterText(board(), "language", "sw"), "Language: Swahili");
  assert.equal(filterText(board(), "script", "Arab"), "Script: Arabic");
  assert.equal(filterText(board(), "q", "x"), "“x”");
  assert.equal(filterText(board(), "pmin", "5"), "at least 5 million parameters");
});

test("human performance is shown for whole tasks only", () => {
  assert.equal(humanRow(table()).figures.get("xnli").value, 92.8);
  assert.equal(humanRow(table("language=sw")), null);
});

test("column choices list scores and metadata", () => {
  const choices = columnChoices(table());
  assert.ok(choices.some(({ id, start }) => id === "licence" && !start));
  assert.ok(!choices.some(({ id }) => id === "cost"));
  assert.equal(scoreTitle(table().shown.find(({ id }) => id === "qa")), "Question answering average");
});
