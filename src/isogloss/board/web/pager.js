import { countText, element } from "./dom.js";
import { changeParams } from "./state.js";

// The rows of the page that the address asks for, and buttons to the pages beside it where there are several.
export function paged(rows, perPage, params, label) {
  const pages = Math.max(1, Math.ceil(rows.length / perPage));
  const page = Math.min(pages, Math.max(1, Number(params.get("page")) || 1));
  const [before, end] = [(page - 1) * perPage, Math.min(rows.length, page * perPage)];
  const turn = (to, text) =>
    element(
      "button",
      {
        type: "button",
        "data-focus": `page-${text}`,
        disabled: to < 1 || to > pages,
        click: () => {
          changeParams({ page: to === 1 ? null : to });
          document.querySelector(".table")?.scrollIntoView();
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
