import { drawn, drawnToWidth, element, missing, scoreText, signedText } from "./dom.js";
import { niceTicks } from "./plots.js";
import { withTip } from "./tips.js";

const TOP_ROOM = 20;
const BOTTOM_ROOM = 50;
const CHART_HEIGHT = 220;
const LETTER_ROOM = 7;
// Narrower bars would write over each other: a chart of many is as wide as it must be, and scrolls in its place.
const LEAST_STEP = 48;
const MANY = 8;
const fits = (text, width) => text.length * LETTER_ROOM <= width;

// The best and the worst record among those that are sure enough to have an interval; none where these are one.
function extremes(records, lower) {
  const sure = records.filter(({ low }) => !missing(low)).sort((a, b) => b.value - a.value);
  if (sure.length < 2 || sure[0].value - sure.at(-1).value < 1e-9) return {};
  const [high, low] = [sure[0], sure.at(-1)];
  return lower ? { best: low, worst: high } : { best: high, worst: low };
}

// Bars with whiskers, one for each record: label, value, low, high, n, lines of its tip, and what a click does. Signed
// bars are coloured by who is better, which is not who is higher where less is better. `most` is what the scale reaches at
// least, so that charts side by side have one.
export function barChart({ records, description, signed = false, marked = false, lower = false, most = 0, click }) {
  const place = element("div", { class: records.length > MANY ? "plot bars many" : "plot bars" });
  const ends = records.flatMap(({ value, low, high }) => [value, low, high]).filter((value) => !missing(value));
  const top = Math.max(...ends, most, signed ? 1 : 10);
  const bottom = signed ? Math.min(...ends, -1) : 0;
  const { best, worst } = marked ? extremes(records, lower) : {};
  const isBelow = ({ value }) => signed && (lower ? value > 0 : value < 0);
  const className = (record) =>
    ["bar", isBelow(record) ? "below" : "", record === best ? "top" : record === worst ? "low" : ""]
      .filter(Boolean)
      .join(" ");
  return drawnToWidth(place, (full) => {
    const width = Math.max(44 + records.length * LEAST_STEP, Math.min(full, 90 + records.length * 120));
    const step = (width - 44) / records.length;
    // Where the edges of one bucket do not fit, names stand for those of all.
    const wide = records.every(({ label }) => fits(label, step));
    const y = (value) => TOP_ROOM + (1 - (value - bottom) / (top - bottom)) * (CHART_HEIGHT - TOP_ROOM - BOTTOM_ROOM);
    const bar = (record, at) => {
      const label = wide ? record.label : (record.name ?? record.label);
      const node = oneBar({ ...record, label }, 44 + step * (at + 0.5), step, y, signed);
      node.setAttribute("class", className(record));
      return withTip(reachable(node, record, click), () => record.lines);
    };
    return drawn(
      "svg",
      { width, height: CHART_HEIGHT, role: "group", "aria-label": description },
      niceTicks(bottom, top, 4).map((at) => [
        drawn("line", { x1: 40, x2: width, y1: y(at), y2: y(at), class: "grid" }),
        drawn("text", { x: 34, y: y(at) + 4, "text-anchor": "end" }, String(at)),
      ]),
      records.map(bar),
    );
  });
}

// A bar as a button where a click does something, else as a picture with a name.
function reachable(bar, record, click) {
  bar.setAttribute("role", click ? "button" : "img");
  if (!click) {
    bar.setAttribute("aria-label", `${record.label}: ${scoreText(record.value)}`);
    return bar;
  }
  bar.addEventListener("click", () => click(record));
  bar.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    click(record);
  });
  return bar;
}

function oneBar(record, middle, step, y, signed) {
  const { label, value, low, high, n } = record;
  return drawn(
    "g",
    { tabindex: "0" },
    drawn("rect", {
      x: middle - step * 0.32,
      width: step * 0.64,
      y: Math.min(y(value), y(0)),
      height: Math.max(1, Math.abs(y(value) - y(0))),
    }),
    missing(low)
      ? null
      : drawn("path", {
          class: "whisker",
          d: `M${middle} ${y(low)}V${y(high)}M${middle - 5} ${y(low)}h10M${middle - 5} ${y(high)}h10`,
        }),
    drawn(
      "text",
      {
        x: middle,
        y: Math.min(y(value), y(missing(high) ? value : high), y(0)) - 5,
        "text-anchor": "middle",
        class: "value",
      },
      signed ? signedText(value) : scoreText(value),
    ),
    drawn(
      "text",
      { x: middle, y: CHART_HEIGHT - 30, "text-anchor": "middle" },
      fits(label, step) ? label : `${label.slice(0, Math.max(2, Math.floor(step / LETTER_ROOM) - 1))}…`,
    ),
    drawn(
      "text",
      { x: middle, y: CHART_HEIGHT - 14, "text-anchor": "middle", class: "soft" },
      n === undefined ? "" : `n ${n}`,
    ),
  );
}
