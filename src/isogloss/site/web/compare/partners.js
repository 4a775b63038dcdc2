// Whom a system can be compared with.
import { element, link, listed, nameOf, plural } from "../page/dom.js";
import { hashOf } from "../page/state.js";
import { columnTable } from "./column_tables.js";
import { partnersOf } from "./preselected.js";

/** @param {Board} board @param {System} system @param {ReturnType<typeof partnersOf>} partners */
export const partnerLinks = (board, system, partners) =>
  partners.map((partner, at) => [
    at ? ", " : "",
    link(hashOf(["compare"], { system: [system.id, partner.system.id] }), nameOf(partner.system.fullName)),
    ` (${partner.cells ? plural(partner.cells, "shared cell") : plural(partner.columns, "shared average")})`,
  ]);

// What each has, and whom it can be compared with.
/** @param {Board} board @param {System[]} pair */
export const nothingShared = (board, pair) => [
  element("p", { class: "verdict" }, "Not comparable: no task in common"),
  pair.map((system) => {
    const { rows } = columnTable(board, "overall");
    const lacking = new Map(rows[system.at].lacking().map(({ column, codes }) => [column.task, codes.length]));
    const tasks = board.tasks
      .filter((task) => (lacking.get(task) ?? 0) < task.languages.length)
      .map(({ name }) => name);
    const partners = partnersOf(board, system, pair);
    return element(
      "p",
      {},
      nameOf(system.fullName),
      ` has scores on ${listed(tasks) || "no task"}. `,
      partners.length ? ["Compare it with ", partnerLinks(board, system, partners), "."] : "",
    );
  }),
];
