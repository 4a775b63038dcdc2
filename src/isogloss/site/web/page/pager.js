import { countText, element } from "./dom.js";
import { changeParams } from "./state.js";

// Return the rows of the page in the address, and buttons for the neighbouring pages if there are several.
/** @param {any[]} rows @param {number} perPage @param {URLSearchParams} params @param {string} label */
export function paged(rows, perPage, params, label) {
  const pages = Math.max(1, Math.ceil(rows.length / perPage));
  const page = Math.min(pages, Math.max(1, Number(params.get("page")) || 1));
  const [before, end] = [(page - 1) * perPage, Math.min(rows.length, page * perPage)];
  /** @param {number} to @param {string} text */
  const turn = (to, text) =>
    element(
      "button",
      {
        type: "button",
        "data-key": `page-${text}`,
        disabled: to < 1 || to > pages,
        click: (event) => {
          const table = event.currentTarget.closest(".table");
          changeParams({ page: to === 1 ? null : to });
          table?.querySelector(".scroll")?.scrollTo({ top: 0 });
          if (table?.getBoundingClientRect().top < 0) table.scrollIntoView();
        },
      },
      text,
    );
  const pager = element(
    "nav",
    { class: "pager", "aria-label": label },
    turn(page - 1, "← Previous"),
    element("span", {}, `${countText(before + 1)}–${countText(end)} of ${countText(rows.length)}`),
    turn(page + 1, "Next →"),
  );
  return { page, shown: rows.slice(before, end), pager: pages > 1 ? pager : "" };
}
