import { drawn, drawnToWidth, element, missing, scoreText } from "./dom.js";
import { landPath } from "./land.js";
import { hashOf } from "./state.js";
import { withTip } from "./tips.js";

// Narrower, a finger would not find a dot: there the map is moved sideways.
const LEAST_WIDTH = 720;
const DOT = 7;
const LETTER = 8;
const LEAST_SHAPE = 2.2;

// The part of the world that has the languages, with some room: degrees west, east, south and north.
function mapEdges(languages) {
  const [norths, easts] = [0, 1].map((at) => languages.map(({ place }) => place[at]));
  const [south, north] = [Math.max(-60, Math.min(...norths) - 8), Math.min(84, Math.max(...norths) + 8)];
  const [west, east] = [Math.min(...easts) - 14, Math.max(...easts) + 14];
  // A map that is wider than a screen is high shows all of itself.
  const room = Math.max(0, LEAST_SHAPE * (north - south) - (east - west)) / 2;
  return { south, north, west: Math.max(-180, west - room), east: Math.min(180, east + room) };
}

const degrees = (from, to) =>
  Array.from({ length: 25 }, (_, at) => -180 + 15 * at).filter((each) => each % 30 === 0 && each > from && each < to);

// Where a code can stand beside its dot without covering another dot or code; null where nowhere.
function labelPlace(x, y, text, taken) {
  const wide = text.length * LETTER;
  const places = [
    [x + DOT + 3, y - 6],
    [x - DOT - 3 - wide, y - 6],
    [x - wide / 2, y - DOT - 14],
    [x - wide / 2, y + DOT + 2],
  ];
  const free = ([left, top]) =>
    taken.every((box) => left + wide < box.left || left > box.right || top + 12 < box.top || top > box.bottom);
  const found = places.find(free);
  if (!found) return null;
  taken.push({ left: found[0], right: found[0] + wide, top: found[1], bottom: found[1] + 12 });
  return found;
}

// Languages as dots where they are spoken, each a link; `figureOf(language)` gives the value that colours it and the lines
// that are said of it, `paintOf` the colour.
export function languageMap(languages, { figureOf, paintOf, description }) {
  const place = element("div", { class: "plot map" });
  const { west, east, south, north } = mapEdges(languages);
  drawnToWidth(place, (room) => {
    const width = Math.max(room, LEAST_WIDTH);
    const scale = width / (east - west);
    const height = Math.round((north - south) * scale);
    const x = (degree) => (degree - west) * scale;
    const y = (degree) => (north - degree) * scale;
    const svg = drawn(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": description },
      drawn("rect", { width, height, class: "sea" }),
      drawn("path", { class: "land", d: landPath(x, y), "fill-rule": "evenodd" }),
      drawn("path", {
        class: "graticule",
        d: [
          ...degrees(west, east).map((each) => `M${x(each)} 0V${height}`),
          ...degrees(south, north).map((each) => `M0 ${y(each)}H${width}`),
        ].join(""),
      }),
    );
    const at = (language) => [x(language.place[1]), y(language.place[0])];
    const taken = languages
      .map(at)
      .map(([left, top]) => ({ left: left - DOT, right: left + DOT, top: top - DOT, bottom: top + DOT }));
    for (const language of languages) {
      const { value, lines } = figureOf(language);
      const fill = missing(value) ? null : paintOf(value).fill;
      const label = labelPlace(...at(language), language.code, taken);
      // Beside the link, not in it: the link's own name says more.
      if (label) svg.append(drawn("text", { x: label[0], y: label[1] + 10, "aria-hidden": "true" }, language.code));
      svg.append(withTip(languageDot(language, value, fill, at(language)), () => lines));
    }
    return svg;
  });
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": description }, place);
}

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
