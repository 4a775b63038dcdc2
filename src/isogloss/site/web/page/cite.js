import { element, plural, printable } from "./dom.js";
import { latexCell } from "./export.js";
import { readRoute } from "./state.js";

const SHOWN_HASH = 12;
const CARD_WIDTH = 460;

/** @param {Board} board */
export const shortHash = ({ data_hash: hash }) => (hash ?? "").slice(0, SHOWN_HASH);

// "16 November 2026".
/** @param {string} made */
export const dayText = (made) => {
  const day = new Date(`${made.slice(0, 10)}T12:00:00Z`);
  return Number.isNaN(day.getTime())
    ? made
    : day.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
};

// Text of a BibTeX field: LaTeX, with commands for braces, which BibTeX counts.
/** @param {string} text */
export const bibText = (text) =>
  latexCell(text).replace(/\\[{}]/g, (brace) => (brace === "\\{" ? "\\textbraceleft{}" : "\\textbraceright{}"));

// Signs that end a field or a command in a URL, as in an address that someone made up.
/** @param {string} url */
const bibUrl = (url) => url.replace(/["<>\\^`{|}\s]/g, encodeURIComponent);

/** @param {string} text */
const attributeText = (text) => printable(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** @typedef {{ href: string, title: string }} CitedView */

// A local file has an address that works on one computer only: citations name the view instead.
/** @param {string} href */
const isLocal = (href) => href.startsWith("file:");

/** @param {string} href */
const viewOf = (href) => (href.includes("#") ? href.slice(href.indexOf("#")) : "#/");

// A sentence for a paper.
/** @param {Board} board @param {CitedView} view */
export function citeSentence(board, { href, title }) {
  const made = `${plural(board.systems.length, "system")}, built ${dayText(board.made)} with Isogloss ${board.isogloss}`;
  const data = shortHash(board) ? `, data ${shortHash(board)}` : "";
  const where = isLocal(href) ? `view ${viewOf(href)}` : href;
  return `“${title}”, ${board.title ?? board.suite} board (suite ${board.suite}; ${made}${data}): ${where}`;
}

/** @param {Board} board @param {CitedView} view */
export function bibTeX(board, { href, title }) {
  const [year, month] = board.made.split("-");
  const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
  const key = [board.suite, year, shortHash(board).slice(0, 6)].join("-").replace(/[^A-Za-z0-9-]/g, "");
  const facts = [
    `Suite ${board.suite}`,
    plural(board.systems.length, "system"),
    `built ${board.made.slice(0, 10)} with Isogloss ${board.isogloss}`,
    board.data_hash ? `data SHA-256 ${board.data_hash}` : "",
    `view ${viewOf(href)}`,
  ].filter(Boolean);
  /** @type {[string, string][]} */
  const fields = [
    ["title", `{${bibText(`${board.title ?? board.suite} board: ${title}`)}}`],
    ["year", year],
    ["month", months[Number(month) - 1] ?? ""],
    ["howpublished", "{Isogloss board}"],
    ["note", `{${bibText(facts.join("; "))}}`],
    ["url", isLocal(href) ? "" : `{${bibUrl(href)}}`],
  ];
  const lines = fields.filter(([, value]) => value).map(([name, value]) => `  ${name} = ${value},`);
  return `@misc{${key},\n${lines.join("\n")}\n}\n`;
}

// The card of the open page, if it is that of a system or a language.
/** @param {Board} board @param {string[]} path @returns {{ path: string, name: string } | null} */
export function cardOf(board, [page, id]) {
  const name =
    page === "system" ? board.system.get(id)?.fullName : page === "language" ? board.language.get(id)?.name : null;
  return name ? { path: `cards/${page}/${encodeURIComponent(id)}.svg`, name } : null;
}

// HTML that embeds a card. A board on disk has no address: its files are copied to a site first.
/** @param {Board} board @param {{ path: string, name: string }} card @param {string} href */
export function embedCode(board, { path, name }, href) {
  const address = isLocal(href) ? "" : href.replace(/#.*$/, "").replace(/[^/]*$/, "");
  const image = `<img src="${attributeText(address + path)}" width="${CARD_WIDTH}" alt="${attributeText(`${name} on ${board.title ?? board.suite}`)}">`;
  return isLocal(href) ? image : `<a href="${attributeText(href)}">${image}</a>`;
}

// Copy a text; without access to the clipboard, select it for the reader.
/** @param {HTMLTextAreaElement} area */
async function copied(area) {
  area.focus();
  area.select();
  try {
    await navigator.clipboard.writeText(area.value);
    return "Copied";
  } catch {
    return document.execCommand("copy") ? "Copied" : "Selected: press Ctrl+C or ⌘C";
  }
}

/** @param {string} label @param {string} text @param {number} rows */
function citeField(label, text, rows) {
  const area = /** @type {any} */ (
    element("textarea", { readonly: true, rows, spellcheck: "false", "aria-label": label })
  );
  area.value = text;
  const says = element("span", { class: "soft", role: "status" });
  const click = async () => {
    says.textContent = await copied(area);
  };
  return element(
    "section",
    {},
    element(
      "div",
      { class: "line" },
      element("h3", {}, label),
      says,
      element("button", { type: "button", "aria-label": `Copy: ${label}`, click }, "Copy"),
    ),
    area,
  );
}

/** @param {Board} board @param {() => void} close */
function citeContent(board, close) {
  const view = { href: location.href, title: document.title.replace(` · ${board.title ?? "Isogloss board"}`, "") };
  const card = cardOf(board, readRoute().path);
  const local = isLocal(view.href);
  return [
    element(
      "div",
      { class: "line" },
      element("h2", { id: "cite-title" }, "Cite this view"),
      element("button", { type: "button", "aria-label": "Close", click: close }, "✕"),
    ),
    citeField("Link", view.href, 2),
    local
      ? element(
          "p",
          { class: "notes" },
          "This board is a local file: the link works on this computer only. Copy the folder to a web host to share it.",
        )
      : null,
    citeField("In a paper", citeSentence(board, view), 3),
    citeField("BibTeX", bibTeX(board, view), 9),
    card
      ? [
          citeField("Embed this card", embedCode(board, card, view.href), 3),
          element("img", { class: "card-picture", src: card.path, alt: `Card of ${card.name}`, width: CARD_WIDTH }),
        ]
      : null,
    board.data_hash
      ? element(
          "p",
          { class: "notes" },
          `The data hash identifies the scores: a board of the same inputs has the same one.`,
        )
      : null,
  ];
}

// The button of every page that opens the panel with the link, citations and code of the open view.
/** @param {Board} board @param {HTMLElement} button */
export function offerCitation(board, button) {
  const dialog = /** @type {HTMLDialogElement} */ (
    element("dialog", { id: "cite-panel", "aria-labelledby": "cite-title" })
  );
  const close = () => dialog.close();
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) close();
  });
  // Back and Forward change the view.
  addEventListener("popstate", close);
  document.querySelector("footer")?.append(dialog);
  button.hidden = false;
  button.addEventListener("click", () => {
    dialog.replaceChildren(
      ...citeContent(board, close)
        .flat()
        .filter((node) => node instanceof Node),
    );
    dialog.showModal();
  });
}
