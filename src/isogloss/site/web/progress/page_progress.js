import { pageHead } from "../board/parts.js";
import { manyControl } from "../page/controls.js";
import { element } from "../page/dom.js";
import { folded } from "../page/fold.js";
import { changeParams } from "../page/state.js";
import { humansView } from "./humans_view.js";
import { regimesOf } from "./regimes.js";
import { axesOf } from "./size_axes.js";
import { sizeControls, sizeView } from "./size_view.js";
import { timeView } from "./time_view.js";
import { changesView } from "./xtreme_changes.js";

/** @type {Record<string, { title: string, view: (board: Board, params: URLSearchParams) => Child[], controls?: (board: Board, params: URLSearchParams) => Child[], fits?: (board: Board) => boolean }>} */
const PROGRESS_VIEWS = {
  time: { title: "Over time", view: timeView },
  changes: { title: "Since XTREME", view: changesView, fits: ({ history }) => Boolean(history) },
  humans: { title: "Gap to humans", view: humansView },
  size: { title: "Size and cost", view: sizeView, controls: sizeControls, fits: (board) => axesOf(board).length > 0 },
};

/** @param {Board} board @returns {Page} */
export function progressPage(board) {
  const views = Object.entries(PROGRESS_VIEWS).filter(([, { fits }]) => !fits || fits(board));
  const chosenView = (/** @type {URLSearchParams} */ params) => views.find(([id]) => id === params.get("view"))?.[0] ?? "time";
  /** @param {URLSearchParams} params @returns {any[]} */
  const view = (params) => {
    const chosen = chosenView(params);
    const { controls, view: show } = PROGRESS_VIEWS[chosen];
    const regimes = regimesOf(board.systems);
    const filter =
      regimes.length > 1 && chosen !== "changes"
        ? manyControl(
            params,
            "regime",
            "Regimes",
            regimes.map(({ id, title }) => [id, title]),
          )
        : null;
    const active = params.getAll("regime").length + ["x", "y"].filter((key) => params.has(key)).length;
    const parts = [controls?.(board, params) ?? null, filter].flat().filter(Boolean);
    return [
      element("div", { class: "line title-line" }, pageHead("Progress"), progressTabs(views, chosen)),
      parts.length ? folded("Options", active, element("div", { class: "controls four" }, parts)) : null,
      element("div", { class: `progress view-${chosen}`, "data-key": `progress-${chosen}` }, show(board, params)),
    ];
  };
  return { title: (params) => `Progress: ${PROGRESS_VIEWS[chosenView(params)].title}`, view };
}

/** @param {[string, { title: string }][]} views @param {string} chosen */
const progressTabs = (views, chosen) =>
  element(
    "div",
    { class: "tabs", role: "group", "aria-label": "View" },
    views.map(([id, { title }]) =>
      element(
        "button",
        {
          type: "button",
          "data-key": `progress-tab-${id}`,
          "aria-pressed": String(id === chosen),
          click: () => changeParams({ view: id === "time" ? null : id, x: null, y: null }),
        },
        title,
      ),
    ),
  );
