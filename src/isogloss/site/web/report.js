// @ts-check
import { drawFigure } from "./charts/figure.js";
import { unpackedRecords } from "./charts/figure_scale.js";
import { BiasPart } from "./report/report_bias.js";
import { byId } from "./page/dom.js";
import { ExplainPart } from "./report/report_explain.js";
import { languageFilter, startSorting } from "./report/report_tables.js";
import { offerSaving } from "./page/save_chart.js";
import { themeSwitch } from "./page/theme.js";
import { startTips } from "./page/tips.js";

/**
 * Draw a chart into its container, and redraw it whenever the language filter changes it.
 * @param {HTMLElement} place
 * @param {import("./charts/figure_scale.js").Figure} figure
 * @param {import("./report/report_tables.js").LanguageFilter} filter
 */
function placeFigure(place, figure, filter) {
  const draw = () => place.replaceChildren(...drawFigure(figure, filter.kept));
  draw();
  if (figure.follows_filter !== false && figure.records.some((record) => record.language !== undefined))
    filter.onChange(draw);
}

/** Set up the page of a report: charts, sorting, filter, choices. */
function startReport() {
  const data = JSON.parse(byId("data").textContent);
  themeSwitch(byId("theme"));
  byId("theme").hidden = false;
  startTips();
  startSorting();
  const filter = languageFilter(data.languages);
  for (const place of document.querySelectorAll("[data-chart]"))
    if (place instanceof HTMLElement) {
      const figure = data.charts[place.dataset.chart ?? ""];
      placeFigure(place, { ...figure, records: unpackedRecords(figure.records) }, filter);
    }
  if (data.explain) new ExplainPart(data.explain, filter);
  if (data.bias) new BiasPart(data.bias, filter);
  offerSaving();
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details[data-print]")) part.setAttribute("open", "");
  });
  // Charts take their width from the page: they are drawn in the frame after its layout.
  requestAnimationFrame(() => setTimeout(() => (document.documentElement.dataset.drawn = "all"), 50));
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

startReport();
