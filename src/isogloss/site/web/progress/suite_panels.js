import { placeLabels } from "../charts/labels.js";
import { plane, dataGrid } from "../charts/plane.js";
import { niceTicks, styledMark } from "../charts/plots.js";
import { exportButtons, fileColumn } from "../page/export.js";
import { drawn, drawnToWidth, element, missing, plural, scoreText } from "../page/dom.js";
import { withTip } from "../page/tips.js";
import { decimalYear, monthText } from "./dates.js";
import { gapsText } from "./history.js";

const SUITE_EDGE = { left: 30, right: 32, top: 22, bottom: 26 };
/** @type {Interval} */
const YEARS = [2020, 2021.5];
const QUARTERS = [2020, 2020.25, 2020.5, 2020.75, 2021, 2021.25, 2021.5];
/** @type {MarkStyle} */
const STYLE = ["#0072B2", "circle"];
// Below the axis, for events without a score.
const LANE = 54;
const LANE_HEIGHT = 70;
const LINE_BOXES = 24;
const BOX = { x: 12, y: 3 };

// The leaderboard of XTREME and the first results of XTREME-R, each on its own axis, because their averages differ. The board
// itself may draw the latter.
/** @param {Board} board @param {BoardHistory} history @param {DatedPoint[]} drawnPoints @param {Interval} scale @param {number} height */
export function suitePanels(board, { suites: [old, now], events }, drawnPoints, scale, height) {
  const size = { scale, height };
  const overall = events
    .filter(({ measure, value, date }) => measure === "overall" && !missing(value) && date)
    .sort(bestValueFirst);
  const firsts = events.filter(({ event }) => event === "first");
  const listed = events.filter(({ event }) => event === "listed").map(({ system }) => system);
  const undated = events.find(({ event, measure, date }) => event === "lowest" && measure === "overall" && !date);
  const started = now.rows
    .filter(({ average }) => !missing(average))
    .map(({ system, average }) => ({ system, date: now.date, value: average, event: "baseline", measure: "overall", source: now.source }))
    .sort(bestValueFirst);
  const isDrawn =
    board.suite === now.id &&
    started.every(({ system, value }) =>
      drawnPoints.some((point) => point.system.name === system && scoreText(point.y) === scoreText(value)),
    );
  const files = exportButtons("xtreme-leaderboard", board, () => ({
    columns: ["date", "system", "event", "measure", "value", "source"].map((key) =>
      fileColumn(key, key, (event) => event[key], key === "value"),
    ),
    rows: events,
  }));
  return [
    panel("xtreme", `XTREME's leaderboard: mean over ${plural(old.tasks.length, "task")}`, overall, firsts, size, [
      `${old.source}: ${overall
        .filter(({ event }) => event === "baseline")
        .map(eventName)
        .join(", ")}. `,
      "Dashed: the scores between are not stated; first places have dates only. ",
      undated ? `Lowest average, without a date: ${scoreText(undated.value)} (${undated.source}). ` : "",
      `${gapsText(events)} `,
      listed.length ? `Also listed by April 2021: ${listed.join(", ")}. ` : "",
      files,
    ]),
    isDrawn
      ? null
      : panel(
          "xtreme-r",
          `XTREME-R's first results: mean over ${new Set(now.tasks.map(({ category }) => category)).size} categories`,
          started,
          [],
          size,
          [
            `${now.source}: ${started.map(eventName).join(", ")}. Not comparable with XTREME's averages: other tasks, languages and rules.`,
          ],
        ),
  ];
}

/** @typedef {{ scale: Interval, height: number }} PanelSize */

/** @param {{ value: number | null }} one @param {{ value: number | null }} other */
const bestValueFirst = (one, other) => (other.value ?? 0) - (one.value ?? 0);

/** @param {string} key @param {string} title @param {HistoryEvent[]} scored @param {HistoryEvent[]} dated @param {PanelSize} size @param {Child[]} notes */
const panel = (key, title, scored, dated, size, notes) =>
  element(
    "figure",
    { class: "time-panel", "data-key": `suite-${key}` },
    element("figcaption", {}, title),
    drawnToWidth(element("div", { class: "plot" }), (width) => panelDrawing(title, scored, dated, size, width)),
    element("div", { class: "insight" }, notes),
  );

/** @param {string} title @param {HistoryEvent[]} scored @param {HistoryEvent[]} dated @param {PanelSize} size @param {number} width */
function panelDrawing(title, scored, dated, { scale, height }, width) {
  const lane = dated.length ? LANE_HEIGHT : 0;
  const edge = { ...SUITE_EDGE, bottom: SUITE_EDGE.bottom + lane };
  const area = plane(width, height + lane, YEARS, scale, edge);
  const marks = scored.map(({ date, value }) => ({ x: area.x(decimalYear(date)), y: area.y(value ?? NaN) }));
  const ticks = QUARTERS.filter((_, at) => width > 520 || at % 2 === 0);
  return drawn(
    "svg",
    { width, height: area.height, role: "group", "aria-label": title },
    dataGrid(area, niceTicks(...scale, 5), ticks, quarterText),
    betweenBests(scored, marks),
    scored.map((event, at) =>
      withTip(
        drawn(
          "g",
          { class: "first", tabindex: "0", role: "img", "aria-label": eventLines(event).join(", ") },
          styledMark(STYLE, marks[at].x, marks[at].y),
        ),
        () => eventLines(event),
      ),
    ),
    placedTexts(
      scored.map((event, at) => ({ ...marks[at], text: eventName(event) })),
      marks,
      { ...area, top: 0 },
      betweenBoxes(scored, marks),
    ),
    dated.length ? firstPlaces(dated, area) : null,
  );
}

// From the best first result to the highest one stated later; the scores between them are not known.
/** @param {HistoryEvent[]} scored @param {{ x: number, y: number }[]} marks */
function betweenBests(scored, marks) {
  const ends = bestEnds(scored, marks);
  return ends ? drawn("path", { class: "between", d: `M${ends[0].x} ${ends[0].y}L${ends[1].x} ${ends[1].y}` }) : null;
}

/** @param {HistoryEvent[]} scored @param {{ x: number, y: number }[]} marks */
function bestEnds(scored, marks) {
  const [first, last] = ["baseline", "highest"].map((kind) => scored.findIndex(({ event }) => event === kind));
  return first < 0 || last < 0 ? null : [marks[first], marks[last]];
}

// Boxes along that line, which labels avoid.
/** @param {HistoryEvent[]} scored @param {{ x: number, y: number }[]} marks */
function betweenBoxes(scored, marks) {
  const [from, to] = bestEnds(scored, marks) ?? [];
  if (!from || !to) return [];
  return Array.from({ length: LINE_BOXES }, (_, at) => {
    const part = (at + 0.5) / LINE_BOXES;
    const [x, y] = [from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part];
    return [x - BOX.x, x + BOX.x, y - BOX.y, y + BOX.y];
  });
}

// Ticks on the time axis with the names of those who came first.
/** @param {HistoryEvent[]} dated @param {Plane} area */
function firstPlaces(dated, area) {
  const y = area.bottom + LANE;
  const places = dated.map(({ date }) => ({ x: area.x(decimalYear(date)), y }));
  return [
    drawn("text", { x: area.left, y: y - 16, class: "title" }, "first place"),
    drawn("line", { x1: area.left, x2: area.right, y1: y, y2: y, class: "grid" }),
    dated.map((event, at) =>
      withTip(
        drawn(
          "g",
          { tabindex: "0", role: "img", "aria-label": eventLines(event).join(", ") },
          drawn("path", { class: "tick", d: `M${places[at].x} ${y - 6}v12` }),
        ),
        () => eventLines(event),
      ),
    ),
    placedTexts(
      dated.map(({ system }, at) => ({ ...places[at], text: system })),
      places,
      { left: 0, right: area.width, top: y - 14, bottom: area.height },
    ),
  ];
}

/** @param {LabelAnchor[]} anchors @param {{ x: number, y: number }[]} marks @param {{ left: number, right: number, top: number, bottom: number }} bounds @param {number[][]} [others] */
const placedTexts = (anchors, marks, bounds, others) =>
  placeLabels(anchors, marks, bounds, others).map(({ x, y, text, end }) =>
    drawn("text", { x, y, "text-anchor": end ? "end" : "start", class: "label" }, text),
  );

/** @param {HistoryEvent} event */
const eventName = ({ system, event, value }) => `${system || event} ${scoreText(value)}`;

/** @param {HistoryEvent} event */
const eventLines = ({ system, event, value, date, source }) => [
  `${system || "leaderboard"}${missing(value) ? `: ${event} place` : `: ${scoreText(value)} (${event})`}`,
  monthText(date),
  source,
];

/** @param {number} x */
const quarterText = (x) =>
  monthText(`${Math.floor(x)}-${String(Math.round((x % 1) * 12) + 1).padStart(2, "0")}`).replace(/^(\w{3})\w*/, "$1");
