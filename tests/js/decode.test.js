import assert from "node:assert/strict";
import test from "node:test";
import {
  cellMetricText,
  cellOf,
  cellScore,
  cellTitle,
  hasScores,
  languageName,
  openBoard,
  scoresIn,
  taskName,
} from "../../src/isogloss/site/web/board/decode.js";
import { board, boardData } from "./board_fixture.js";

test("scores are unpacked to hundredths, missing ones to NaN", () => {
  const [xnli] = board().tasks;
  assert.deepEqual([...xnli.scores], [80, 60, 82, 70, 90, NaN]);
  assert.equal(scoresIn(xnli.scores), 5);
});

test("a cell is found by system and language", () => {
  const { task, systems } = board();
  assert.equal(cellScore(task.get("tydiqa"), systems[1], "sw"), 62);
  assert.ok(Number.isNaN(cellScore(task.get("tydiqa"), systems[1], "ar")));
});

test("the last metric follows from the mean and the others", () => {
  const { single } = board();
  assert.deepEqual([...single.get("xquad:em")].map(Math.round), [65, 55, 70, 60, 67, 57]);
});

test("languages use the metric with more cells", () => {
  const data = boardData();
  data.cells.xquad = data.cells.xnli;
  const { task } = openBoard(data);
  assert.equal(task.get("xquad").cellMetric, "f1");
  assert.equal(cellTitle(task.get("xquad")), "XQuAD F1");
  assert.equal(cellMetricText(task.get("xquad")), "F1");
});

test("short names end at the colon; alike ones use the id", () => {
  const data = boardData();
  assert.deepEqual(
    board().tasks.map(({ name }) => name),
    ["XNLI", "XQuAD", "TyDiQA-GoldP"],
  );
  data.tasks[0].name = "XQuAD: another";
  data.tasks[0].id = "checklist-some-test";
  assert.equal(openBoard(data).tasks[0].name, "some test");
});

test("full names include the regime if names repeat", () => {
  assert.deepEqual(
    board().systems.map(({ fullName }) => fullName),
    ["Alpha (zero-shot)", "Beta", "Alpha (translate-train)"],
  );
});

test("cells are counted", () => {
  const { cellCount, systems } = board();
  assert.equal(cellCount, 7);
  assert.deepEqual(
    systems.map(({ cells }) => cells),
    [7, 7, 6],
  );
});

test("unknown ids are their own names", () => {
  assert.equal(languageName(board(), "xx"), "xx");
  assert.equal(taskName(board(), "none"), "none");
});

test("other versions of data.js are refused", () => {
  assert.throws(() => openBoard({ ...boardData(), schema: 1 }), /missing or has another version/);
  assert.throws(() => openBoard(undefined), /missing or has another version/);
});

test("hasScores is false for languages without scores", () => {
  const { task } = board();
  assert.ok(hasScores(board(), task.get("xnli"), "sw"));
  assert.ok(!hasScores(board(), task.get("xnli"), "fi"));
});

test("a cell of a system's file has the interval of the shown metric", () => {
  const { task } = board();
  const detail = { cells: [{ task: "xnli", language: "sw", n: 10, metrics: { acc: [60, 55, 65] } }] };
  assert.deepEqual([cellOf(detail, task.get("xnli"), "sw").low, cellOf(detail, task.get("xnli"), "sw").high], [55, 65]);
  assert.equal(cellOf(detail, task.get("xnli"), "en"), null);
  assert.equal(cellOf(null, task.get("xnli"), "en"), null);
});
