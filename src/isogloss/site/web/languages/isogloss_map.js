import { figureColours, figureText, isApart, isSingle } from "./basis.js";
import { hatchPattern } from "../charts/hatch.js";
import { FAR, fieldOf, linesBelow } from "./field.js";
import { LAND } from "./land.js";
import { tipLines } from "./language_words.js";
import { MAP_HATCH, mapLegend } from "./map_legend.js";
import { frameOf, labelsOf, radiusOf, spreadCircles } from "./map_layout.js";
import { drawn, drawnToWidth, element, missing } from "../page/dom.js";
import { arrowKeys } from "../page/keys.js";
import { equalEarth } from "./projection.js";
import { memoized } from "../board/ranking.js";
import { hashOf } from "../page/state.js";
import { withTip } from "../page/tips.js";

// A map narrower than the first is hard to tap: it has the second width and scrolls sideways.
const LEAST_WIDTH = 700;
const SCROLLED_WIDTH = 840;
// Where it begins, as a share of what is out of sight: with Europe and Africa.
const START = 0.48;
const LEAST_TARGET = 12;
// The white middle of a circle that rests on one task, as a share of its radius.
const HOLE = 0.38;
const WIDE_SHAPE = 2.15;
const WIDEST_SHAPE = 2.8;
// What stands above and below the map on the first screen (px), and the least height of the map.
const AROUND_MAP = 256;
const LEAST_HEIGHT = 420;
const DISPLACED = 5;

/** @type {(languages: Language[]) => Language[]} */
const placedOf = memoized((languages) => languages.filter(({ place }) => place));

// The width of the map over its height: all of it stands on the first screen if that is large enough.
/** @param {number} width */
const shapeAt = (width) =>
  width !== SCROLLED_WIDTH
    ? Math.min(WIDEST_SHAPE, Math.max(WIDE_SHAPE, width / Math.max(LEAST_HEIGHT, innerHeight - AROUND_MAP)))
    : WIDE_SHAPE;

// The part of the map, its land and its circles at a width.
const mapPlan = memoized((/** @type {Language[]} */ languages, /** @type {number} */ width) => {
  const placed = placedOf(languages);
  const frame = frameOf(
    placed.map(({ place }) => /** @type {Interval} */ (place)),
    shapeAt(width),
  );
  const scale = width / (frame.east - frame.west);
  /** @param {Interval} point @returns {Interval} */
  const at = ([x, y]) => [(x - frame.west) * scale, (frame.north - y) * scale];
  /** @type {MapCircle[]} */
  const circles = placed
    .map((language) => {
      const [north, east] = /** @type {Interval} */ (language.place);
      const home = at(equalEarth(north, east));
      const r = radiusOf(language.speakers, width);
      return { language, name: language.name, home, x: home[0], y: home[1], r };
    })
    .sort((a, b) => b.r - a.r || (b.language.speakers ?? 0) - (a.language.speakers ?? 0));
  spreadCircles(circles);
  const height = Math.round((frame.north - frame.south) * scale);
  return {
    at,
    height,
    circles,
    land: LAND.map((ring) => smoothPath(ring.map(([x, y]) => at([x, y])))).join(""),
  };
});

// A closed line through the middles of its edges, with rounded corners.
/** @param {Interval[]} ring */
function smoothPath(ring) {
  /** @param {Interval} a @param {Interval} b */
  const middle = (a, b) => `${((a[0] + b[0]) / 2).toFixed(1)} ${((a[1] + b[1]) / 2).toFixed(1)}`;
  const curves = ring.map(
    (point, at) => `Q${point[0].toFixed(1)} ${point[1].toFixed(1)} ${middle(point, ring[(at + 1) % ring.length])}`,
  );
  return ring.length ? `M${middle(ring[ring.length - 1], ring[0])}${curves.join("")}Z` : "";
}

/** @param {Basis} basis @param {number} share @param {string} code */
const fallsShort = ({ relative }, share, code) => (relative.get(code)?.share ?? NaN) < share;

// What the share does not change: the same nodes stay on the page while it moves.
const stillLife = memoized((/** @type {Basis} */ basis, /** @type {Board} */ board, /** @type {number} */ width) => {
  const { circles, height, land } = mapPlan(basis.languages, width);
  const labels = labelsOf(
    circles.map((circle) => ({ ...circle, hollow: isSingle(basis, circle.language.code) })),
    width,
    height,
  );
  const dots = drawn(
    "g",
    { "data-key": "map-circles" },
    circles.map((circle) => leaderLine(circle)),
    circles.map((circle) => languageCircle(board, basis, circle)),
    labels.map((label) => circleLabel(board, basis, circles[label.at], label)),
  );
  arrowKeys(dots);
  return {
    patterns: drawn(
      "defs",
      { "data-key": "map-defs" },
      hatchPattern(MAP_HATCH),
      drawn("clipPath", { id: "map-land" }, drawn("path", { d: land, "clip-rule": "evenodd" })),
      drawn("clipPath", { id: "map-known" }, drawn("path", { d: knownPart(basis, width), "clip-rule": "evenodd" })),
    ),
    land: drawn("path", { class: "land", "data-key": "map-land-path", d: land, "fill-rule": "evenodd" }),
    dots,
  };
});

// The shares of the tested languages between their places.
/** @type {(basis: Basis) => ValueField} */
const fieldBetween = memoized((basis) =>
  fieldOf(
    placedOf(basis.languages).flatMap(({ code, place }) => {
      const own = basis.relative.get(code);
      return own && place ? [{ place, value: own.share }] : [];
    }),
  ),
);

/** @param {number} width */
const mapWidth = (width) => (width < LEAST_WIDTH ? SCROLLED_WIDTH : width);

// The map of languages: circles by number of speakers, coloured by their figure, and the line between those that reach a
// share of the score in English and those that do not.
/** @param {Board} board @param {Basis} basis @param {number} share @param {string} description */
export function isoglossMap(board, basis, share, description) {
  const room = element("div", { class: "plot map" });
  let start = true;
  const scroller = element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": description, "data-key": "map" },
    room,
  );
  drawnToWidth(room, (least) => {
    const width = mapWidth(least);
    const drawing = mapDrawing(board, basis, share, width, description);
    if (start && width > least) requestAnimationFrame(() => room.parentElement?.scrollTo({ left: START * (width - least) }));
    start = false;
    return drawing;
  });
  const legend = drawnToWidth(element("div", { class: "map-key" }), (least) =>
    mapLegend(board, basis, mapWidth(least)),
  );
  const hint = element("p", { class: "map-hint soft" }, "Swipe for the rest of the map.");
  return [hint, scroller, legend];
}

/** @param {Board} board @param {Basis} basis @param {number} share @param {number} width @param {string} description */
function mapDrawing(board, basis, share, width, description) {
  const { height } = mapPlan(basis.languages, width);
  const { patterns, land, dots } = stillLife(basis, board, width);
  for (const circle of dots.querySelectorAll("a"))
    circle.classList.toggle("falls-short", fallsShort(basis, share, circle.dataset.code ?? ""));
  return drawn(
    "svg",
    { width, height, role: "group", "aria-label": description },
    patterns,
    land,
    basis.relative.size ? dividingLine(basis, share, width) : null,
    dots,
  );
}

/** @param {Basis} basis @param {"values" | "distances"} what @param {number} level @param {number} width */
function linesAround(basis, what, level, width) {
  const { at } = mapPlan(basis.languages, width);
  return linesBelow(fieldBetween(basis)[what], level)
    .map((ring) => smoothPath(ring.map(at)))
    .join("");
}

/** @param {Basis} basis @param {number} width */
const knownPart = (basis, width) => linesAround(basis, "distances", FAR, width);

/** @param {Basis} basis @param {number} share @param {number} width */
function dividingLine(basis, share, width) {
  const d = linesAround(basis, "values", share, width);
  return drawn(
    "g",
    { "clip-path": "url(#map-known)", class: "divide" },
    drawn("path", { class: "isogloss at-sea", d }),
    drawn(
      "g",
      { "clip-path": "url(#map-land)" },
      drawn("path", { class: "below-share", d, "fill-rule": "evenodd" }),
      drawn("path", { class: "isogloss-halo", d }),
      drawn("path", { class: "isogloss on-land", d }),
    ),
  );
}

// From a circle to its place, if it had to move.
/** @param {MapCircle} circle */
const leaderLine = ({ home, x, y, r }) =>
  Math.hypot(home[0] - x, home[1] - y) > r + DISPLACED
    ? drawn("path", { class: "leader", d: `M${x.toFixed(1)} ${y.toFixed(1)}L${home[0].toFixed(1)} ${home[1].toFixed(1)}` })
    : null;

/** @param {Board} board @param {Basis} basis @param {string} code */
const inkOf = (board, basis, code) => {
  const { paint, of } = figureColours(board, basis);
  const value = of(code);
  return missing(value) ? null : paint(value).ink;
};

/** @param {Board} board @param {Basis} basis @param {MapCircle} circle @param {MapLabel} label */
function circleLabel(board, basis, { language }, { x, y, anchor, inside }) {
  const label = drawn(
    "text",
    {
      x: x.toFixed(1),
      y: (y + 4).toFixed(1),
      "text-anchor": anchor,
      "aria-hidden": "true",
      class: inside ? "inside" : null,
    },
    language.name,
  );
  const ink = inside ? inkOf(board, basis, language.code) : null;
  // The style sheet overrules attributes.
  if (ink) label.style.fill = ink;
  return label;
}

/** @param {Board} board @param {Basis} basis @param {MapCircle} circle */
function languageCircle(board, basis, { language, x, y, r }) {
  const { code, name, speakers } = language;
  const { paint, of } = figureColours(board, basis);
  const value = of(code);
  const own = basis.relative.get(code);
  const single = isSingle(basis, code);
  const [cx, cy] = [x.toFixed(1), y.toFixed(1)];
  const node = drawn(
    "a",
    {
      href: hashOf(["language", code]),
      "data-key": `map-${code}`,
      "data-code": code,
      "aria-label": `${name}: ${own ? figureText(basis, code) : isApart(basis, code) ? "not comparable" : "untested"}${single ? ", one task" : ""}`,
    },
    r < LEAST_TARGET ? drawn("circle", { cx, cy, r: LEAST_TARGET, class: "target" }) : null,
    drawn("circle", {
      cx,
      cy,
      r: r.toFixed(1),
      class: missing(speakers) ? "dot unknown" : "dot",
      fill: missing(value) ? `url(#${MAP_HATCH})` : paint(value).fill,
    }),
    single ? drawn("circle", { cx, cy, r: (HOLE * r).toFixed(1), class: "one-task" }) : null,
  );
  return withTip(node, () => tipLines(basis, language));
}
