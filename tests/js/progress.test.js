import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { KIND_MARKS } from "../../src/isogloss/site/web/charts/colour.js";
import { frontier, stepBoxes, stepPath } from "../../src/isogloss/site/web/charts/frontier.js";
import { modelName, modelNames, placeLabels, shortened } from "../../src/isogloss/site/web/charts/labels.js";
import { textWidth } from "../../src/isogloss/site/web/charts/text_width.js";
import { plane } from "../../src/isogloss/site/web/charts/plane.js";
import { dateText, decimalYear, monthText, yearTicks } from "../../src/isogloss/site/web/progress/dates.js";
import { bestRow, humanGaps, suiteBest, taskSets } from "../../src/isogloss/site/web/progress/history.js";
import {
  datedPoints,
  plotScale,
  rowsOf,
  sampled,
  wholeBoard,
} from "../../src/isogloss/site/web/progress/progress_data.js";
import { chosenRegimes, regimeOf, regimesOf } from "../../src/isogloss/site/web/progress/regimes.js";
import { AXES } from "../../src/isogloss/site/web/progress/size_axes.js";
import { stepsOf } from "../../src/isogloss/site/web/progress/time_chart.js";
import { yearsOf } from "../../src/isogloss/site/web/progress/time_view.js";
import { openBoard } from "../../src/isogloss/site/web/board/decode.js";
import { board, boardData, packed, params } from "./board_fixture.js";

const point = (x, y, more = {}) => ({ x, y, ...more });
const places = (points) => points.map(({ x, y }) => [x, y]);

test("a frontier has the points that no earlier one equals or beats", () => {
  // 3 at 2 is dominated by 5 at 1; 5 at 4 equals it; at 3 the higher of two counts.
  const points = [point(3, 6), point(1, 5), point(2, 3), point(3, 7), point(4, 5), point(5, 9)];
  assert.deepEqual(places(frontier(points)), [
    [1, 5],
    [3, 7],
    [5, 9],
  ]);
  assert.deepEqual(places(frontier(points, true)), [
    [1, 5],
    [2, 3],
  ]);
  assert.deepEqual(frontier([]), []);
  assert.deepEqual(places(frontier([point(1, 5), point(1, 5)])), [[1, 5]]);
});

// Ten pixels per unit; heights count from the top.
const area = plane(120, 120, [0, 10], [0, 10], { left: 10, right: 10, top: 10, bottom: 10 });

test("a plane turns data into pixels", () => {
  assert.deepEqual([area.x(0), area.x(10), area.y(0), area.y(10)], [10, 110, 110, 10]);
  // A scale without extent does not divide by zero.
  assert.equal(plane(120, 120, [3, 3], [0, 1], { left: 10, right: 10, top: 0, bottom: 0 }).x(3), 10);
});

test("steps go right, then up, and end at the right edge", () => {
  const steps = [point(1, 5), point(3, 7)];
  assert.equal(stepPath(steps, area, 110), "M20 60H40V40H110");
  assert.equal(stepPath([], area, 110), "");
  assert.deepEqual(stepBoxes(steps, area), [
    [20, 40, 59, 61],
    [39, 41, 40, 60],
    [40, 110, 39, 41],
  ]);
});

const BOUNDS = { left: 0, right: 200, top: 0, bottom: 100 };
const label = (x, y, text, more) => ({ x, y, text, ...more });

test("a label stands above its point, on the side with room", () => {
  assert.deepEqual(placeLabels([label(50, 50, "abc")], [point(50, 50)], BOUNDS), [
    { x: 57, y: 43, text: "abc", end: false },
  ]);
  assert.deepEqual(placeLabels([label(190, 50, "abc")], [point(190, 50)], BOUNDS), [
    { x: 183, y: 43, text: "abc", end: true },
  ]);
  // At the top edge it goes below.
  assert.equal(placeLabels([label(50, 5, "abc")], [point(50, 5)], BOUNDS)[0].y, 21);
});

test("labels cover neither each other nor marks nor lines, and those without room are left out", () => {
  const two = placeLabels([label(50, 50, "first"), label(52, 50, "second")], [point(50, 50), point(52, 50)], BOUNDS);
  assert.deepEqual(
    two.map(({ text, end }) => [text, end]),
    [
      ["first", true],
      ["second", false],
    ],
  );
  // A mark to the upper right, where the label would stand.
  const [dodged] = placeLabels([label(50, 50, "abc")], [point(50, 50), point(65, 40)], BOUNDS);
  assert.deepEqual(dodged, { x: 43, y: 43, text: "abc", end: true });
  // A line above.
  const [below] = placeLabels([label(50, 50, "abc")], [point(50, 50)], BOUNDS, [[0, 200, 38, 40]]);
  assert.equal(below.y, 66);
  assert.deepEqual(placeLabels([label(50, 50, "abc")], [point(50, 50)], BOUNDS, [[0, 200, 0, 100]]), []);
  assert.deepEqual(placeLabels([label(5, 5, "abc")], [], { left: 0, right: 10, top: 0, bottom: 10 }), []);
});

test("no label is nearer to another point than to its own", () => {
  const marks = [point(50, 60), point(50, 78), point(50, 96)];
  for (const { x, y, text } of placeLabels(
    marks.map((mark, at) => label(mark.x, mark.y, `p${at}`)),
    marks,
    BOUNDS,
  )) {
    const gap = (mark) => Math.hypot(mark.x - x, mark.y - (y - 5.5));
    const own = gap(marks[Number(text.at(-1))]);
    assert.ok(marks.every((mark) => gap(mark) >= own - 0.01));
  }
});

test("labels on one line leave room between them", () => {
  const marks = [point(50, 50), point(51 + textWidth("first"), 50)];
  const [first, second] = placeLabels([label(50, 50, "first"), label(marks[1].x, 50, "second")], marks, BOUNDS);
  assert.ok(second.y !== first.y || second.x - (second.end ? textWidth("second") : 0) >= first.x + textWidth("first") + 6);
});

test("texts of labels", () => {
  assert.ok(textWidth("漢字") === 2 * textWidth("ab"));
  assert.equal(shortened("abcdef", 4), "abc…");
  assert.equal(shortened("abcd", 4), "abcd");
  assert.deepEqual(modelNames(["owner/model-4", "owner/model-5"]), ["model-4", "model-5"]);
  assert.deepEqual(modelNames(["one/model", "other/model"]), ["one/model", "other/model"]);
  assert.deepEqual(["owner/model", "model", "owner/", "a/b/c"].map(modelName), ["model", "model", "owner/", "c"]);
});

test("a year alone and a month alone stand in their middle", () => {
  assert.equal(decimalYear("2020"), 2020.5);
  assert.equal(decimalYear("2020-03"), 2020 + 2.5 / 12);
  assert.equal(decimalYear("2021-01-01"), 2021);
  for (const text of ["", null, "soon", "20", "2020-13", "9999-01-01", "0001"]) assert.ok(Number.isNaN(decimalYear(text)), text);
  assert.deepEqual(yearTicks(2019, 2022), [2019, 2020, 2021, 2022]);
  assert.deepEqual(["2020-03", "2021-04-15", "2021"].map(monthText), ["March 2020", "April 2021", "2021"]);
});

test("the date of a system is its own, or the year of its paper, and never guessed", () => {
  assert.equal(dateText({ date: "2021-04-15", year: 2020 }), "2021-04-15");
  assert.equal(dateText({ date: "soon", year: 2020 }), "2020");
  assert.equal(dateText({ date: null, year: null }), "");
});

test("years around all points", () => {
  assert.deepEqual(yearsOf([2019.5, 2021.2]), [2019, 2022]);
  assert.deepEqual(yearsOf([2020.5]), [2020, 2022]);
  assert.deepEqual(yearsOf([2021]), [2021, 2023]);
});

test("regimes are grouped by what systems learnt from", () => {
  const group = (regime) => regimeOf({ regime }).id;
  assert.deepEqual(["zero-shot", "translate-train-all", "translate-test", "in-language-1000", "prompted"].map(group), [
    "zero-shot",
    "translated",
    "translated",
    "in-language",
    "prompted",
  ]);
  assert.deepEqual(["no examples, translate-test", "English examples", "in-language examples, native prompt"].map(group), [
    "prompted",
    "prompted",
    "prompted",
  ]);
  // The released Mewsli-X is another test set than the paper's.
  assert.deepEqual(["embedding", "zero-shot, released Mewsli-X", "", undefined].map(group), [
    "embedding",
    "other",
    "other",
    "other",
  ]);
  const marks = regimesOf(["zero-shot", "translate-train", "in-language", "prompted", "embedding", "x"].map((regime) => ({ regime })));
  assert.equal(marks.length, 6);
  assert.equal(new Set(marks.map(({ style: [colour] }) => colour)).size, 6);
  assert.equal(new Set(marks.map(({ style: [, shape] }) => shape)).size, 6);
});

test("every kind of system has its own colour and shape", () => {
  const model = readFileSync(new URL("../../src/isogloss/board/model.py", import.meta.url), "utf8");
  const kinds = /^KINDS = \((.*)\)$/m.exec(model)[1].match(/[\w-]+/g);
  assert.ok(kinds.includes("encoder-decoder"));
  assert.deepEqual(Object.keys(KIND_MARKS).sort(), [...kinds].sort());
  assert.equal(new Set(kinds.map((kind) => KIND_MARKS[kind][0])).size, kinds.length);
  assert.equal(new Set(kinds.map((kind) => KIND_MARKS[kind][1])).size, kinds.length);
});

const dated = () => {
  const data = boardData();
  data.systems[0][6] = 2020;
  data.systems[2][6] = 2024;
  return openBoard(data);
};

test("steps belong to one regime each", () => {
  const own = dated();
  const column = wholeBoard(own).shown.find(({ id }) => id === "xquad");
  const points = datedPoints(wholeBoard(own).rows, column);
  // Alpha 65 in 2020, Beta 70 in 2023, Alpha with translations 67 in 2024.
  assert.deepEqual(
    points.map(({ x, y, when }) => [x, y, when]),
    [
      [2020.5, 65, "2020"],
      [2023.5, 70, "2023"],
      [2024.5, 67, "2024"],
    ],
  );
  assert.deepEqual(
    stepsOf(points, regimesOf(own.systems)).map(([{ id }, steps]) => [id, steps.map(({ y }) => y)]),
    [
      ["zero-shot", [65, 70]],
      ["translated", [67]],
    ],
  );
  assert.deepEqual(
    rowsOf(own, chosenRegimes(own, params("regime=translated"))).map(({ system }) => system.id),
    ["c"],
  );
  assert.equal(chosenRegimes(own, params("regime=none")).length, 2);
});

test("a system without a date or a complete score has no point", () => {
  const own = board();
  const rows = wholeBoard(own).rows;
  const [, xnli] = ["overall", "xnli"].map((id) => wholeBoard(own).shown.find((column) => column.id === id));
  assert.deepEqual(
    datedPoints(rows, xnli).map(({ system }) => system.id),
    ["a", "b"],
  );
});

test("a plot's scale has all scores and the human one, whatever is shown", () => {
  const data = boardData();
  data.averages.xnli = { value: packed([70, 76, NaN]) };
  const own = openBoard(data);
  const xnli = wholeBoard(own).shown.find(({ id }) => id === "xnli");
  // Cells from 60 to 90, averages 70 and 76, humans 92.8.
  assert.deepEqual(plotScale(own, xnli), [60, 100]);
  data.tasks[0].human = null;
  data.averages.xnli = { value: packed([41, 76, NaN]) };
  const wide = openBoard(data);
  assert.deepEqual(
    plotScale(
      wide,
      wholeBoard(wide).shown.find(({ id }) => id === "xnli"),
    ),
    [40, 90],
  );
});

test("gaps to humans, the largest first", () => {
  const data = boardData();
  data.tasks[1].human = 60;
  const own = openBoard(data);
  assert.deepEqual(
    humanGaps(own, wholeBoard(own).rows).map(({ task, human, best, gap }) => [
      task.id,
      human,
      best.system.id,
      Number(gap.toFixed(6)),
    ]),
    [
      ["xnli", 92.8, "b", 16.8],
      ["xquad", 60, "b", -10],
    ],
  );
});

test("the best row, also if lower is better", () => {
  const { rows } = wholeBoard(board());
  assert.equal(bestRow(rows, "xquad").value, 70);
  assert.equal(bestRow(rows, "xquad", true).value, 65);
  assert.equal(bestRow([], "xquad"), null);
  const data = boardData();
  data.cells.xnli = packed([80, NaN, NaN, 70, 90, NaN]);
  assert.equal(bestRow(wholeBoard(openBoard(data)).rows, "xnli"), null);
});

test("points are sampled evenly by score, with those that must be seen", () => {
  const points = Array.from({ length: 100 }, (_, y) => point(0, y));
  const some = sampled(points, [points[50]], 4);
  // The highest, the lowest, and evenly between them.
  assert.deepEqual(
    some.map(({ y }) => y),
    [99, 66, 33, 0, 50],
  );
  assert.equal(sampled(points, [], 100).length, 100);
});

test("values of systems on the axes of the scatter plot", () => {
  const of = (id, system) => AXES.find((axis) => axis.id === id).of(system);
  assert.equal(of("parameters", { parameters: 1e9 }), 9);
  assert.equal(of("thousand", { thousand_cost: 0.01 }), -2);
  for (const id of ["parameters", "thousand", "cost", "tokens", "date"]) assert.ok(Number.isNaN(of(id, {})), id);
  assert.ok(Number.isNaN(of("cost", { cost: 0 })));
  assert.equal(AXES[1].text(-2), "$0.01");
  assert.equal(AXES[0].text(9), "1 B");
});

test("what two suites share", () => {
  const task = (id) => ({ id, name: id, category: "", languages: 1, human: null, basis: "" });
  const history = {
    suites: [
      { tasks: ["a", "b"].map(task), rows: [{ system: "x", average: 1 }, { system: "y", average: null }, { system: "z", average: 2 }] },
      { tasks: ["b", "c"].map(task), rows: [] },
    ],
  };
  const ids = (tasks) => tasks.map(({ id }) => id);
  const { dropped, added, kept } = taskSets(history);
  assert.deepEqual([dropped, added, kept].map(ids), [["a"], ["c"], ["b"]]);
  assert.equal(suiteBest(history.suites[0]).system, "z");
  assert.equal(suiteBest(history.suites[1]), null);
});
