import { shortScoreTitle, systemWithRegime } from "./describe.js";
import { taskName } from "./decode.js";
import { element, nameOf, plural, scoreText } from "./dom.js";

const MOST_FOOTNOTES = 200;

// The first sentence: who leads, by how much, and how many are ranked.
export function leaderSentence(table) {
  const ranked = table.rows.filter((row) => row.rank !== null).sort((a, b) => a.rank - b.rank);
  const lead = ranked[0];
  if (!lead) return element("p", { class: "headline" }, nobodyText(table));
  const figure = lead.figures.get(table.by.id);
  const peers = ranked.filter((row) => row !== lead && row.range && lead.range && row.range[0] === 1);
  const rest = table.rows.length - ranked.length;
  return element(
    "p",
    { class: "headline" },
    systemWithRegime(lead.system),
    ` leads ${ledText(table)} with `,
    element("strong", {}, scoreText(figure.value)),
    Number.isNaN(figure.low) ? "" : ` (${scoreText(figure.low)}–${scoreText(figure.high)})`,
    table.by.lower ? ", where lower is better" : "",
    peers.length ? `; ${plural(peers.length, "other system")} could be first as well` : "",
    `. ${plural(ranked.length, "system")} ranked${rest ? `, ${rest} shown without a rank because cells are missing` : ""}.`,
  );
}

// In what the first system leads.
function ledText(table) {
  if (table.by.kind !== "overall") return `on ${shortScoreTitle(table.by)}`;
  if (table.choice.ranking !== table.board.rule.name) return `by “${table.choice.title}”`;
  return table.choice.narrowed ? `by the average over ${partOfSuite(table)}` : "overall";
}

function nobodyText(table) {
  if (table.rows.length) return "No system is complete on these columns: none is ranked.";
  return table.board.systems.length ? "No system fits these filters." : "There is no system on this board yet.";
}

// What the ranking is, and of how much: a part of the suite is not the suite.
export const rankingText = (table) =>
  table.choice.narrowed ? `${table.choice.hint} Over ${partOfSuite(table)}.` : table.choice.hint;

function partOfSuite({ board, columns }) {
  const codes = new Set(columns.flatMap((column) => column.codes));
  return `${columns.length} of ${plural(board.tasks.length, "task")} and ${codes.size} of ${plural(board.languages.length, "language")}`;
}

// How the table is read, and what is said of single figures.
export function leaderboardNotes({ board, rows }) {
  return element(
    "div",
    { class: "notes" },
    element(
      "p",
      {},
      "Hover or focus a number for its interval, its scorer and its data. ",
      "A small range beside a rank is its 95 % rank interval; letters join systems that cannot be told apart. ",
      "° marks a partial figure, which is never ranked. – is missing.",
    ),
    board.tie_test ? element("p", {}, board.tie_test) : null,
    footnoteList(board, new Set(rows.map(({ system }) => system.id))),
  );
}

function footnoteList(board, ids) {
  const footnotes = (board.footnotes ?? []).filter((note) => ids.has(note.system));
  if (!footnotes.length) return null;
  const item = (note) =>
    element(
      "li",
      {},
      nameOf(board.system.get(note.system)?.name ?? note.system),
      note.task ? `, ${taskName(board, note.task)}` : "",
      `: ${note.text}`,
    );
  return element(
    "details",
    {},
    element("summary", {}, `† ${plural(footnotes.length, "footnote")}`),
    element("ul", {}, footnotes.slice(0, MOST_FOOTNOTES).map(item)),
  );
}
