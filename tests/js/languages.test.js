import assert from "node:assert/strict";
import test from "node:test";
import { bestScore, relativeScores, serviceOf } from "../../src/isogloss/site/web/board/relative.js";
import { scoreText } from "../../src/isogloss/site/web/page/dom.js";
import {
  SHARE_SCALE,
  basisOf,
  figureColours,
  figureText,
  hatchedText,
  isApart,
  isSingle,
  servedAt,
  shareOf,
  withoutReference,
} from "../../src/isogloss/site/web/languages/basis.js";
import { FAR, fieldOf, linesBelow, ringsBelow } from "../../src/isogloss/site/web/languages/field.js";
import { LAND } from "../../src/isogloss/site/web/languages/land.js";
import { populationText, relativeText, tipLines } from "../../src/isogloss/site/web/languages/language_words.js";
import { frameOf, labelsOf, radiusOf, spreadCircles } from "../../src/isogloss/site/web/languages/map_layout.js";
import { densified, equalEarth, fromEqualEarth } from "../../src/isogloss/site/web/languages/projection.js";
import { stackedRows } from "../../src/isogloss/site/web/languages/share_swarm.js";
import { inColumns } from "../../src/isogloss/site/web/languages/tree.js";
import { board, params } from "./board_fixture.js";

const close = (actual, wanted, within = 1e-9) =>
  assert.ok(Math.abs(actual - wanted) <= within, `${actual} is not ${wanted}`);

// The area of a closed line, by the shoelace formula.
const area = (ring) =>
  Math.abs(
    ring.reduce((sum, [x, y], at) => {
      const [nextX, nextY] = ring[(at + 1) % ring.length];
      return sum + x * nextY - nextX * y;
    }, 0) / 2,
  );

test("the projection keeps areas", () => {
  for (const north of [-75, -50, -20, 0, 10, 35, 55, 80])
    for (const east of [-160, -60, 11, 90, 180]) {
      const size = 0.01;
      const corners = [
        [north, east],
        [north, east + size],
        [north + size, east + size],
        [north + size, east],
      ];
      const onMap = area(corners.map(([a, b]) => equalEarth(a, b)));
      const radians = Math.PI / 180;
      const onGlobe = size * radians * (Math.sin((north + size) * radians) - Math.sin(north * radians));
      close(onMap / onGlobe, 1, 1e-4);
    }
});

test("the projection has its published extent, and can be inverted", () => {
  assert.deepEqual(equalEarth(0, 11), [0, 0]);
  close(equalEarth(0, 191)[0], 2.70663, 1e-4);
  close(equalEarth(90, 11)[1], 1.31736, 1e-4);
  for (const place of [
    [53, -1],
    [-8.3, 37.6],
    [-46, 168],
    [80, -100],
  ]) {
    const back = fromEqualEarth(...equalEarth(...place));
    close(back[0], place[0], 1e-6);
    close(back[1], place[1], 1e-6);
  }
});

test("long edges are divided, so that they curve", () => {
  const ring = densified([
    [0, 0],
    [5, 0],
    [5, 1],
  ]);
  assert.deepEqual(
    ring.slice(0, 4).map(([east, north]) => [Number(east.toFixed(3)), north]),
    [
      [0, 0],
      [1.667, 0],
      [3.333, 0],
      [5, 0],
    ],
  );
  assert.equal(ring.length, 7);
});

test("the land has about the area of the continents", () => {
  // 149 million km² of land without Antarctica's 14, in squares of the globe's radius.
  const land = LAND.slice(0, -6).reduce((sum, ring) => sum + area(ring), 0) * 6371 ** 2;
  assert.ok(land > 120e6 && land < 142e6, land);
});

test("lines enclose the low part of a grid", () => {
  const [columns, rows] = [41, 41];
  const values = Array.from({ length: columns * rows }, (_, at) =>
    Math.hypot((at % columns) - 20, Math.floor(at / columns) - 20),
  );
  const [circle, ...more] = ringsBelow({ values, columns, rows }, 10);
  assert.equal(more.length, 0);
  close(area(circle), Math.PI * 100, 3);
  for (const [x, y] of circle) close(Math.hypot(x - 20, y - 20), 10, 0.05);
  // All below the level: the grid's border. All above: nothing.
  assert.equal(area(ringsBelow({ values, columns, rows }, 100)[0]), 40 * 40);
  assert.deepEqual(ringsBelow({ values, columns, rows }, 0), []);
});

test("lines go between values in proportion, and part or join at saddles", () => {
  const three = ringsBelow({ values: [1, 1, 1, 1, 0, 1, 1, 1, 1], columns: 3, rows: 3 }, 0.25);
  assert.equal(three.length, 1);
  close(area(three[0]), 2 * 0.25 * 0.25);
  const saddle = (low) => ringsBelow({ values: [low, 1, 1, low], columns: 2, rows: 2 }, 0.5);
  assert.equal(saddle(0.2).length, 2);
  assert.equal(saddle(-0.5).length, 1);
});

test("between two places the line runs where the score is", () => {
  const spots = [
    { place: [10, 0], value: 1 },
    { place: [10, 20], value: 0.6 },
  ];
  const { values, distances } = fieldOf(spots);
  assert.ok(Math.min(...values) >= 0.6 && Math.max(...values) <= 1);
  // Halfway in value is halfway in distance; a higher share moves the line towards the better place.
  const crossing = (level) =>
    linesBelow(values, level)
      .flat()
      .filter(([, y]) => Math.abs(y - equalEarth(10, 10)[1]) < 0.05)
      .map(([x, y]) => fromEqualEarth(x, y)[1])
      .filter((east) => east > -5 && east < 25);
  for (const east of crossing(0.8)) close(east, 10, 0.6);
  assert.ok(crossing(0.8).length > 0);
  assert.ok(Math.max(...crossing(0.95)) < 9);
  // Around one place, what is near is a disc of its size on the globe.
  const disc = linesBelow(fieldOf([spots[0]]).distances, FAR)[0];
  close(area(disc) * 6371 ** 2, 2 * Math.PI * 6371 ** 2 * (1 - Math.cos(FAR / 6371)), 2e5);
  assert.ok(Math.min(...distances) < 200);
});

test("the best scores and their shares of English are those of the board", () => {
  const made = board();
  const [xnli, xquad, tydiqa] = made.tasks;
  assert.deepEqual([bestScore(xnli, "sw", made.systems).value, bestScore(xnli, "sw", made.systems).system?.id], [70, "b"]);
  assert.ok(Number.isNaN(bestScore(xnli, "fi", made.systems).value));
  assert.equal(bestScore({ ...xnli, lower_is_better: true }, "sw", made.systems).value, 60);
  const relative = relativeScores(made.tasks, made.systems);
  close(relative.get("sw").share, (70 / 90 + 62 / 70) / 2);
  close(relative.get("ar").share, 65 / 75);
  close(relative.get("fi").share, 60 / 70);
  close(relativeScores([xnli, tydiqa], [made.systems[1]]).get("sw").share, (70 / 82 + 62 / 70) / 2);
  close(relativeScores([xnli, tydiqa], [made.systems[1]], made.systems).get("sw").share, (70 / 90 + 62 / 70) / 2);
  assert.deepEqual(relative.get("en").parts.map(({ task }) => task), [xnli, xquad, tydiqa]);
  const { served, unserved, untested } = serviceOf(made.languages, relative, 0.85);
  assert.deepEqual(served.languages.map(({ code }) => code), ["ar", "en", "fi"]);
  assert.equal(served.speakers, 3e6);
  assert.deepEqual(unserved.languages.map(({ code }) => code), ["sw"]);
  assert.equal(untested.languages.length, 0);
});

test("the basis follows the address", () => {
  const made = board();
  const all = basisOf(made);
  assert.equal(basisOf(made), all);
  assert.deepEqual([all.reference, figureText(all, "sw")], ["English", "83.2 %"]);
  assert.deepEqual(["en", "sw", "ar", "fi"].map((code) => isSingle(all, code)), [false, false, true, true]);
  assert.deepEqual(figureColours(made, all).scale, SHARE_SCALE);
  close(figureColours(made, all).of("sw"), 83.1746, 1e-4);
  assert.equal(servedAt(all, 0.86).served.languages.length, 2);
  const one = basisOf(made, params("task=xnli"));
  assert.deepEqual([figureText(one, "sw"), isSingle(one, "sw")], [scoreText(70), false]);
  assert.deepEqual(one.languages.map(({ code }) => code), ["en", "sw"]);
  const own = basisOf(made, params("system=b&base=own"));
  close(own.relative.get("sw").share, (70 / 82 + 62 / 70) / 2);
  close(basisOf(made, params("system=b")).relative.get("sw").share, (70 / 90 + 62 / 70) / 2);
  assert.deepEqual(["", "share=95", "share=50", "share=49", "share=x"].map((text) => shareOf(params(text))), [0.8, 0.95, 0.5, 0.8, 0.8]);
});

test("languages on tasks without English are tested, but not compared", () => {
  const made = board();
  const [xnli, , tydiqa] = made.tasks;
  tydiqa.place.delete("en");
  tydiqa.languages = ["xx", "sw", "fi"];
  const basis = basisOf(made);
  assert.deepEqual(basis.relative.get("sw").parts.map(({ task }) => task), [xnli]);
  assert.deepEqual(withoutReference(basis).map(({ code }) => code), ["fi"]);
  assert.ok(isApart(basis, "fi") && !isApart(basis, "sw"));
  assert.ok(hatchedText(basis).endsWith("not comparable"));
  assert.equal(hatchedText({ ...basis, relative: new Map(basis.languages.map(({ code }) => [code, {}])) }), "untested");
});

test("a language's words hold every part of its figure", () => {
  const made = board();
  const basis = basisOf(made);
  const parts = basis.relative.get("sw").parts;
  assert.equal(relativeText(parts[0]), "XNLI 70.0 of 90.0 (78 %), Beta");
  assert.deepEqual(tipLines(basis, made.language.get("sw")), [
    "Swahili: 83.2 % of English, mean of 2 tasks",
    "XNLI 70.0 of 90.0 (78 %), Beta",
    "TyDiQA-GoldP 62.0 of 70.0 (89 %), Beta",
    "1 million speakers",
  ]);
  assert.deepEqual([1_575_000_000, 6.1e9, 52_300_000, 980_400, null].map(populationText), [
    "1.6 billion",
    "6.1 billion",
    "52 million",
    "980,000",
    "unknown",
  ]);
});

test("circles have areas by speakers and do not cover each other", () => {
  close(radiusOf(1.6e9, 1400) ** 2 / radiusOf(4e8, 1400) ** 2, 4);
  assert.equal(radiusOf(null, 1400), radiusOf(1, 1400));
  const circles = spreadCircles(
    [30, 20, 10, 5, 5, 5].map((r, at) => ({ home: [100, 100], x: 100 + at / 10, y: 100, r, name: "Name" })),
  );
  for (const [at, one] of circles.entries())
    for (const other of circles.slice(at + 1))
      assert.ok(Math.hypot(one.x - other.x, one.y - other.y) > one.r + other.r - 0.5);
  // The larger of two moves less.
  const moved = circles.map(({ x, y }) => Math.hypot(x - 100, y - 100));
  assert.ok(moved[0] < moved[1], moved);
  const labels = labelsOf(circles, 200, 200);
  assert.deepEqual([labels[0].at, labels[0].inside], [0, true]);
  for (const { at, inside, x, y } of labels.filter((label) => !label.inside)) {
    assert.equal(inside, false);
    const { x: cx, y: cy, r } = circles[at];
    assert.ok(Math.max(Math.abs(x - cx), Math.abs(y - cy)) >= r);
  }
});

test("the map shows all places with room around them", () => {
  const places = [
    [53, -1],
    [-8, 37],
    [35, 135],
  ];
  const { west, east, south, north } = frameOf(places, 2.15);
  for (const place of places) {
    const [x, y] = equalEarth(...place);
    assert.ok(x > west + 0.1 && x < east - 0.1 && y > south + 0.1 && y < north - 0.1);
  }
  const shape = (east - west) / (north - south);
  assert.ok(shape >= 1.6 && shape <= 2.7, shape);
});

test("dots stack and families fill columns", () => {
  assert.deepEqual(stackedRows([0, 5, 9, 12, 30]), [0, 1, 2, 0, 0]);
  const family = (name, count) => [name, Array.from({ length: count }, () => ({}))];
  const families = [family("A", 6), family("B", 3), family("C", 2), family("D", 1)];
  assert.deepEqual(inColumns(families, 2).map((column) => column.map(([name]) => name)), [["A"], ["B", "C", "D"]]);
  assert.deepEqual(inColumns(families, 1).map((column) => column.length), [4]);
});
