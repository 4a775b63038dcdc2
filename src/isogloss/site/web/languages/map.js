import { drawn, drawnToWidth, element, missing, scoreText } from "../page/dom.js";
import { landPath } from "./land.js";
import { hashOf } from "../page/state.js";
import { withTip } from "../page/tips.js";

// Dots on a narrower map are hard to tap: scroll sideways instead.
const LEAST_WIDTH = 720;
const DOT = 7;
const LETTER = 8;
const LEAST_SHAPE = 2.2;

// The bounds of the map in degrees, with padding around the languages.
/** @param {Language[]} languages */
function mapEdges(languages) {
  const [norths, easts] = [0, 1].map((at) => languages.flatMap(({ place }) => place?.[at] ?? []));
  const [south, north] = [Math.max(-60, Math.min(...norths) - 8), Math.min(84, Math.max(...norths) + 8)];
  const [west, east] = [Math.min(...easts) - 14, Math.max(...easts) + 14];
  // Keep the map wide enough to fit the height of a screen.
  const room = Math.max(0, LEAST_SHAPE * (north - south) - (east - west)) / 2;
  return { south, north, west: Math.max(-180, west - room), east: Math.min(180, east + room) };
}

/** @param {number} from @param {number} to */
const degrees = (from, to) =>
  Array.from({ length: 25 }, (_, at) => -180 + 15 * at).filter(
    (degree) => degree % 30 === 0 && degree > from && degree < to,
  );

// A free position for a code next to its dot, or null.
/**
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {{ left: number, right: number, top: number, bottom: number }[]} taken
 * @returns {number[] | null}
 */
function labelPosition(x, y, text, taken) {
  const wide = text.length * LETTER;
  const positions = [
    [x + DOT + 3, y - 6],
    [x - DOT - 3 - wide, y - 6],
    [x - wide / 2, y - DOT - 14],
    [x - wide / 2, y + DOT + 2],
  ];
  /** @param {number[]} options */
  const free = ([left, top]) =>
    taken.every((box) => left + wide < box.left || left > box.right || top + 12 < box.top || top > box.bottom);
  const position = positions.find(free);
  if (!position) return null;
  const [left, top] = position;
  taken.push({ left, right: left + wide, top, bottom: top + 12 });
  return position;
}

// A map of languages as links; `figureOf(language)` returns the value and the tip lines, `paintOf` the colour.
/**
 * @param {Language[]} languages
 * @param {{ figureOf: (language: Language) => { value: number, lines: string[] }, paintOf: (value: number) => Paint, description: string }} options1
 */
export function languageMap(languages, { figureOf, paintOf, description }) {
  const place = element("div", { class: "plot map" });
  const { west, east, south, north } = mapEdges(languages);
  drawnToWidth(place, (room) => {
    const width = Math.max(room, LEAST_WIDTH);
    const scale = width / (east - west);
    const height = Math.round((north - south) * scale);
    /** @param {number} degree */
    const x = (degree) => (degree - west) * scale;
    /** @param {number} degree */
    const y = (degree) => (north - degree) * scale;
    const svg = drawn(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": description },
      drawn("rect", { width, height, class: "sea" }),
      drawn("path", { class: "land", d: landPath(x, y), "fill-rule": "evenodd" }),
      drawn("path", {
        class: "graticule",
        d: [
          ...degrees(west, east).map((degree) => `M${x(degree)} 0V${height}`),
          ...degrees(south, north).map((degree) => `M0 ${y(degree)}H${width}`),
        ].join(""),
      }),
    );
    /** @param {Language} language @returns {Interval} */
    const at = (language) => [x(language.place?.[1] ?? 0), y(language.place?.[0] ?? 0)];
    const taken = languages
      .map(at)
      .map(([left, top]) => ({ left: left - DOT, right: left + DOT, top: top - DOT, bottom: top + DOT }));
    for (const language of languages) {
      const { value, lines } = figureOf(language);
      const fill = missing(value) ? null : paintOf(value).fill;
      const label = labelPosition(...at(language), language.code, taken);
      // Next to the link, not in it: the link has its own label.
      if (label) svg.append(drawn("text", { x: label[0], y: label[1] + 10, "aria-hidden": "true" }, language.code));
      svg.append(withTip(languageDot(language, value, fill, at(language)), () => lines));
    }
    return svg;
  });
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": description }, place);
}

/** @param {Language} language @param {number} value @param {string | null} fill @param {number[]} options3 */
function languageDot(language, value, fill, [x, y]) {
  return drawn(
    "a",
    {
      href: hashOf(["language", language.code]),
      "aria-label": `${language.name}: ${fill ? scoreText(value) : "no score"}`,
    },
    drawn("circle", { cx: x, cy: y, r: DOT, class: fill ? "dot" : "dot unknown", fill }),
  );
}
