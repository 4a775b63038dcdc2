import { unparsedText } from "../board/describe.js";
import { languageName, taskName } from "../board/decode.js";
import { countText, element, missing, plural, scoreText } from "../page/dom.js";
import { plainTable } from "../board/parts.js";

/** @param {Board} board @param {System} system @param {SystemDetail} detail */
export function provenanceSection(board, system, detail) {
  const provenance = board.provenance?.[system.provenance];
  const cells = detail.cells ?? [];
  const rows = cells.map((cell) => provenanceCells(board, provenance, cell));
  return element(
    "section",
    {},
    element("h2", {}, "Provenance"),
    element(
      "p",
      {},
      provenance
        ? `Scored here with Isogloss ${provenance.scorer}${provenance.split ? `, split ${provenance.split}` : ""}.`
        : `Reported: ${system.source || system.paper || "source unknown"}. Not scored here.`,
    ),
    cells.length
      ? element(
          "details",
          {},
          element("summary", {}, `Scores, data and signatures of ${plural(cells.length, "cell")}`),
          plainTable("Cells", ["Task", "Language", "n", "Scores", "Data", "Signature"], rows, { tall: true }),
        )
      : null,
  );
}

/** @param {Board} board @param {Maybe<BoardProvenance>} provenance @param {SystemCell} cell */
function provenanceCells(board, provenance, cell) {
  const figures = Object.entries(cell.metrics).map(
    ([metric, [value, low, high]]) =>
      `${metric} ${scoreText(value)}${missing(low) ? "" : ` (${scoreText(low)}–${scoreText(high)})`}`,
  );
  return [
    element("td", {}, taskName(board, cell.task)),
    element("td", {}, languageName(board, cell.language)),
    element("td", { class: "number" }, countText(cell.n || null)),
    element("td", {}, figures.join("; "), cell.unparsed ? `; ${unparsedText(cell.unparsed)}` : ""),
    element("td", { class: "code" }, provenance?.checksums?.[cell.task]?.[cell.language] ?? "–"),
    element(
      "td",
      { class: "code" },
      cell.signature || "–",
      (cell.notes ?? []).map((note) => element("p", {}, note)),
    ),
  ];
}
