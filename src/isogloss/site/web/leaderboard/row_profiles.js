// Optional columns that summarise a row: a mark per language family, and the distance to published human scores.
import { englishReference } from "../board/best_cells.js";
import { cellScore } from "../board/decode.js";
import { largestFirst } from "../board/families.js";
import { element, listed, missing, plural, printedScore, scoreText, signedText } from "../page/dom.js";
import { memoized, weightedMean } from "../board/ranking.js";
import { ENGLISH, SERVED_SHARE, goodness } from "../board/relative.js";

export const FAMILIES = "families";
export const TO_HUMAN = "to-human";
// Widths in pixels: rank, system and first score with their margins; another score; the distance to human scores; the heading
// of families.
const FIRST_WIDTH = 480;
const SCORE_WIDTH = 72;
const HUMAN_WIDTH = 105;
const FAMILIES_WIDTH = 120;
const MARK_WIDTH = 7;
const HATCHING = "repeating-linear-gradient(45deg, var(--hatch) 0 1.5px, transparent 1.5px 4px)";

// The families of a selection, each with its cells on tasks with English; English itself is left out.
const familyCells = memoized((/** @type {CellColumn[]} */ columns, /** @type {Board} */ board) => {
  const codes = new Set(columns.flatMap((column) => column.codes));
  const others = board.languages.filter(({ code }) => codes.has(code) && code !== ENGLISH);
  return largestFirst(others, ({ family }) => family)
    .map(([name, languages]) => ({
      name,
      languages,
      cells: columns.flatMap(({ task, codes: own }) =>
        task.place.has(ENGLISH)
          ? languages.filter(({ code }) => own.includes(code)).map(({ code }) => ({ task, code }))
          : [],
      ),
    }))
    .filter(({ cells }) => cells.length);
});

// A system's mean share of the best English score on the same task, per family; NaN unless it has every cell of the family,
// so that all rows average the same cells.
/** @param {Board} board @param {CellColumn[]} columns @param {System} system */
export function familyShares(board, columns, system) {
  return familyCells(columns, board).map(({ name, cells }) => {
    const shares = cells.map(({ task, code }) => {
      const score = cellScore(task, system, code);
      return goodness(task, score) / goodness(task, englishReference(board, task).value);
    });
    return { name, share: weightedMean(shares) };
  });
}

// A column with a small bar per language family, in the same order on every row.
/** @param {Standings} table @returns {TableColumn<Standing>} */
export function familyColumn({ board, columns }) {
  const families = familyCells(columns, board);
  /** @param {Standing} row */
  const shares = (row) => familyShares(board, columns, row.system);
  return {
    id: FAMILIES,
    title: "Language families",
    head: element(
      "span",
      { title: listed(families.map(({ name }) => name)) },
      "Families",
      element("span", { class: "of" }, "share of English"),
    ),
    group: "Profile",
    className: "profile",
    show: (row) => (row.human ? "" : familyStrip(shares(row))),
    tip: (row) =>
      row.human
        ? [""]
        : [
            `${row.system.fullName}: share of the best English score`,
            listed(
              shares(row).map(({ name, share }) => `${name} ${shareText(share)}`),
              24,
            ),
          ],
  };
}

// In files: the share of each family, in per cent.
/** @param {Standings} table @returns {TableColumn<Standing>[]} */
export const familyColumnsInFiles = ({ board, columns }) =>
  familyCells(columns, board).map(({ name }, at) => ({
    id: `family-${name}`,
    title: `${name} (% of English)`,
    numeric: true,
    onlyInFiles: true,
    value: (row) => (row.human ? null : printedScore(100 * familyShares(board, columns, row.system)[at].share)),
  }));

/** @param {number} share */
const shareText = (share) => (missing(share) ? "–" : `${Math.round(100 * share)} %`);

/** @param {{ name: string, share: number }[]} shares */
function familyStrip(shares) {
  const known = shares.filter(({ share }) => !missing(share));
  const strip = element("i", {
    class: "family-strip",
    role: "img",
    "aria-label": known.length
      ? `${known.filter(({ share }) => share >= SERVED_SHARE).length} of ${plural(shares.length, "family", "families")} at 80 % of English or above`
      : "no scores per language",
  });
  strip.style.width = `${MARK_WIDTH * shares.length}px`;
  // One node with a layer per family: a page has hundreds of marks.
  const layers = shares.map(({ share }, at) => {
    const height = missing(share) ? 100 : Math.max(8, Math.min(100, 100 * share));
    const ink = share >= SERVED_SHARE ? "var(--bar)" : "var(--below)";
    const image = missing(share) ? HATCHING : `linear-gradient(${ink}, ${ink})`;
    return `${image} ${MARK_WIDTH * at}px 100% / ${MARK_WIDTH - 2}px ${height}% no-repeat`;
  });
  strip.style.background = layers.join(", ");
  return strip;
}

// The mean difference between a row and the human score on the whole tasks that have one; of partial rows, on fewer tasks.
/** @param {Standings} table @param {Standing} row */
export function humanDifference({ columns }, row) {
  const tasks = columns.filter(({ task, whole }) => whole && !missing(task.human));
  const covered = tasks.filter(({ task }) => {
    const { value, partial } = row.figures.get(task.id);
    return !partial && !missing(value);
  });
  const value = weightedMean(
    covered.map(({ task }) => goodness(task, row.figures.get(task.id).value) - goodness(task, task.human ?? NaN)),
  );
  return { value, tasks: covered.map(({ task }) => task), partial: covered.length < tasks.length };
}

/** @param {Standings} table @returns {TableColumn<Standing>} */
export function humanColumn(table) {
  /** @param {Standing} row */
  const difference = (row) => humanDifference(table, row);
  return {
    id: TO_HUMAN,
    title: "To human",
    hint: [
      "Distance to human scores",
      "Mean score minus the published human score, on the tasks that have one; below zero is worse. Human scores are mostly for English.",
    ],
    numeric: true,
    group: "Profile",
    className: "number",
    value: (row) => (row.human || difference(row).partial ? null : printedScore(difference(row).value)),
    text: signedText,
    show: (row) => {
      if (row.human) return "";
      const { value, partial } = difference(row);
      return missing(value) ? "–" : `${signedText(value)}${partial ? "°" : ""}`;
    },
    tip: (row) => {
      if (row.human) return [""];
      const { value, tasks, partial } = difference(row);
      return [
        missing(value)
          ? "no whole task with a human score"
          : `${row.system.fullName}: ${signedText(value)} points to the human score`,
        ...tasks.map((task) => `${task.name} ${scoreText(row.figures.get(task.id).value)}, human ${scoreText(task.human)}`),
        partial ? "Other tasks with a human score are missing." : "",
      ];
    },
  };
}

// The width that the scores leave to other columns.
/** @param {Standings} table */
export const roomBeside = ({ shown }) => (globalThis.innerWidth ?? 0) - FIRST_WIDTH - SCORE_WIDTH * (shown.length - 1);

// The two columns if the selection has data for them, shown from the start if there is room.
/** @param {Standings} table @param {number} room */
export function profileChoices({ board, columns }, room) {
  const families = familyCells(columns, board).length;
  const isHuman = columns.some(({ task, whole }) => whole && !missing(task.human));
  return [
    ...(isHuman ? [{ id: TO_HUMAN, title: "Distance to human scores", start: room > HUMAN_WIDTH }] : []),
    ...(families > 1
      ? [{ id: FAMILIES, title: "Language families", start: room > HUMAN_WIDTH + Math.max(FAMILIES_WIDTH, MARK_WIDTH * families) }]
      : []),
  ];
}
