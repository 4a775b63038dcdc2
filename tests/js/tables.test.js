import assert from "node:assert/strict";
import test from "node:test";
import { columnScale, scaleAround, scaleIn } from "../../src/isogloss/site/web/board/score_scale.js";
import { standings } from "../../src/isogloss/site/web/board/standings.js";
import { bracketLanes } from "../../src/isogloss/site/web/leaderboard/brackets.js";
import { isStripped } from "../../src/isogloss/site/web/leaderboard/score_column.js";
import { asCsv, asJson, asLatex, scoredRows } from "../../src/isogloss/site/web/page/export.js";
import { sortRows } from "../../src/isogloss/site/web/page/table.js";
import { board } from "./board_fixture.js";

/** @param {string} text */
const params = (text) => new URLSearchParams(text);

/** @param {string[][]} groups @param {string} ids */
const lanes = (groups, ids) => {
  const { rows, count } = bracketLanes(groups, [...ids]);
  return [count, ...[...ids].map((id) => rows.get(id))];
};
/** @param {string[]} own @param {number} [more] */
const row = (own, more = 0) => ({ lanes: own, more });

test("brackets of overlapping groups are parallel, those of others share a lane", () => {
  const groups = [["a", "b", "c"], ["c", "d"], ["e", "f"], ["g"]];
  assert.deepEqual(lanes(groups, "abcdefg"), [
    2,
    row(["start", ""]),
    row(["member", ""]),
    row(["end", "start"]),
    row(["", "end"]),
    row(["start", ""]),
    row(["end", ""]),
    row(["", ""]),
  ]);
});

test("brackets pass systems of other groups and leave out those that are not shown", () => {
  assert.deepEqual(lanes([["a", "c", "z"]], "abc"), [1, row(["start"]), row(["through"]), row(["end"])]);
  assert.deepEqual(lanes([["a", "z"]], "abc"), [0, row([]), row([]), row([])]);
});

test("at most six lanes are drawn; others are counted", () => {
  const groups = Array.from({ length: 8 }, (_, at) => ["a", String(at)]);
  const { rows, count } = bracketLanes(groups, ["a", "0", "1", "2", "3", "4", "5", "6", "7"]);
  assert.equal(count, 6);
  assert.equal(rows.get("a")?.more, 2);
  assert.deepEqual(
    [...rows.values()].map(({ more }) => more).filter(Boolean),
    [2, 1, 1],
  );
});

test("rows follow their places, then their values, then the fallback", () => {
  const rows = [
    { name: "partial", place: null, value: 90 },
    { name: "second", place: 2, value: 80 },
    { name: "empty", place: null, value: null, cells: 1 },
    { name: "first", place: 1, value: 80 },
    { name: "fuller", place: null, value: NaN, cells: 2 },
  ];
  const column = {
    id: "x",
    title: "X",
    numeric: true,
    place: (/** @type {any} */ each) => each.place,
    value: (/** @type {any} */ each) => each.value,
  };
  /** @param {boolean} descending @param {any} [sorted] */
  const order = (descending, sorted = column) =>
    sortRows(rows, { column: sorted, descending, natural: "desc" }, (a, b) => (b.cells ?? 0) - (a.cells ?? 0)).map(
      ({ name }) => name,
    );
  assert.deepEqual(order(true), ["first", "second", "partial", "fuller", "empty"]);
  assert.deepEqual(order(false), ["second", "first", "partial", "fuller", "empty"]);
  assert.deepEqual(order(true, { ...column, place: null }), ["partial", "second", "first", "fuller", "empty"]);
});

test("a scale holds the best score; a few of the worst may be beyond it", () => {
  assert.deepEqual(scaleAround([61, 79, NaN, 75]), [60, 80]);
  assert.deepEqual(scaleAround([]), [0, 100]);
  assert.deepEqual(scaleAround([95, 97]), [80, 100]);
  const scores = [1, ...Array.from({ length: 99 }, (_, at) => 50 + at / 10), 99];
  assert.deepEqual(scaleAround(scores), [50, 100]);
  // If lower is better, the best scores are the lowest.
  assert.deepEqual(scaleAround([...scores, 99], true), [0, 60]);
});

test("scales follow the selection of cells, not that of systems", () => {
  const own = board();
  const whole = standings(own, params(""));
  const scale = scaleIn(whole, whole.shown[0]);
  assert.deepEqual(scale, columnScale(own, "overall"));
  assert.deepEqual(scaleIn(standings(own, params("q=A&sort=xnli")), whole.shown[0]), scale);
  const gini = standings(own, params("ranking=gini"));
  assert.ok(scaleIn(gini, gini.shown[0])[1] <= 40);
});

/** @type {TableColumn[]} */
const columns = [
  { id: "name", title: "System", heads: true, value: (each) => each.name },
  {
    id: "x",
    title: "X",
    score: true,
    numeric: true,
    axis: "axis",
    value: (each) => each.x,
    interval: (each) => each,
    mark: (each) => each.mark,
  },
  { id: "size", title: "Size", numeric: true, unit: { title: "millions", of: 1e6 }, text: () => "13 B", value: (each) => each.size },
  { id: "notes", title: "Notes", onlyInFiles: true, value: (each) => each.notes ?? "" },
];
const scored = [
  { name: "a", x: 80.05, low: 79.04, high: 81, size: 13e9, mark: "best" },
  { name: "b", x: -3, low: NaN, high: NaN, size: null, notes: "reported" },
];

test("files have intervals, and numbers in the unit of their heading", () => {
  assert.equal(
    asCsv(columns, scored),
    'System,X,"X, 95 % from","X, 95 % to",Size (millions),Notes\na,80.1,79,81,13000,\nb,-3,,,,reported\n',
  );
  const record = JSON.parse(asJson(columns, scored, {}));
  assert.deepEqual(record.rows[0], { name: "a", x: 80.1, x_low: 79, x_high: 81, size: 13000, notes: "" });
  assert.ok(!asCsv(columns, scored.slice(1)).includes("95 %"));
});

test("fractions are short in CSV and LaTeX and exact in JSON, and only JSON has columns that are blank in every row", () => {
  const own = [
    { id: "p", title: "p", numeric: true, value: (each) => each.p },
    { id: "rank", title: "Rank", value: () => "" },
  ];
  const rows = [{ p: 0.623416503269008 }, { p: 3.1814828549414655e-14 }, { p: 1575000000 }];
  assert.equal(asCsv(own, rows), "p\n0.6234\n3.181e-14\n1575000000\n");
  assert.ok(asLatex(own.slice(0, 1), rows, { page: "p" }).includes("\n0.6234 \\\\\n"));
  assert.deepEqual(JSON.parse(asJson(own, rows, {})).rows[0], { p: rows[0].p, rank: "" });
  assert.equal(asCsv(own, []), "p,Rank\n");
});

test("a column alone has strips of intervals; of many, only that of the overall score", () => {
  const shown = (count) => ({ shown: Array.from({ length: count }) });
  const stripped = (count) => ["overall", "category", "task"].map((kind) => isStripped(shown(count), { kind }));
  assert.deepEqual([1, 2, 9].map(stripped), [
    [true, true, true],
    [true, true, false],
    [true, false, false],
  ]);
});

test("LaTeX has the numbers as on the page", () => {
  const text = asLatex(columns, scored, { page: "p", test: "tested" });
  assert.ok(text.includes("\na & \\textbf{80.1} {\\scriptsize 79.0--81.0} & 13 B \\\\\n"));
  assert.ok(text.includes("\nb & $-$3.0 & -- \\\\\n"));
  assert.ok(text.startsWith("% p\n% tested\n") && text.includes("\n% b: reported\n"));
});

test("rows without a score are not in files", () => {
  assert.deepEqual(scoredRows(columns, [...scored, { name: "c", x: NaN }]), scored);
  assert.equal(scoredRows([columns[0]], [{ name: "c" }]).length, 1);
});
