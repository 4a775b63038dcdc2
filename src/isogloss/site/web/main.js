import { offerCitation, shortHash } from "./page/cite.js";
import { closeLists } from "./page/controls.js";
import { openBoard } from "./board/decode.js";
import { byId, element, patchChildren, plural } from "./page/dom.js";
import { findPage } from "./finder/page_find.js";
import { aboutPage } from "./leaderboard/page_about.js";
import { progressPage } from "./progress/page_progress.js";
import { analysisPage } from "./analysis/page_analysis.js";
import { comparePage } from "./compare/page_compare.js";
import { familyPage } from "./languages/page_family.js";
import { languagePage } from "./languages/page_language.js";
import { languagesPage } from "./languages/page_languages.js";
import { leaderboardPage } from "./leaderboard/page_leaderboard.js";
import { systemPage } from "./systems/page_system.js";
import { taskPage } from "./tasks/page_task.js";
import { foldMenu } from "./page/menu.js";
import { watchEdges } from "./page/edges.js";
import { oneStop } from "./page/keys.js";
import { keepPlaces, returnTo, turnPlace } from "./page/places.js";
import { nothing } from "./board/parts.js";
import { watchCharts } from "./page/save_chart.js";
import { followRoutes, readRoute } from "./page/state.js";
import { themeSwitch } from "./page/theme.js";
import { startTips } from "./page/tips.js";

/** @type {Record<string, (board: Board, rest: string[]) => Page>} */
const PAGES = {
  "": leaderboardPage,
  system: systemPage,
  language: languagePage,
  family: familyPage,
  task: taskPage,
  compare: comparePage,
  languages: languagesPage,
  analysis: analysisPage,
  find: findPage,
  progress: progressPage,
  about: aboutPage,
};

// The render loop. A page is a title and `view(params)`, which returns nodes, or a promise of nodes. A new path replaces the
// page; a change of parameters patches it.
/** @param {Board} board @param {HTMLElement} main */
function renderLoop(board, main) {
  let [path, turn] = ["", 0];
  /** @type {string | null} */
  let lastHash = null;
  /** @type {Page | null} */
  let page = null;
  const checkEdges = watchEdges(main);
  keepPlaces(main);
  /** @param {any[]} nodes @param {ReturnType<typeof turnPlace>} place */
  const show = (nodes, place) => {
    keepFocus(main, () =>
      patchChildren(
        main,
        nodes.flat(Infinity).filter((node) => node instanceof Node),
      ),
    );
    if (place) returnTo(main, place);
    checkEdges();
    byId("skip-table").hidden = !firstTable(main);
    const { dataset } = document.documentElement;
    dataset.ready = String(Number(dataset.ready ?? 0) + 1);
  };
  return (again = false) => {
    if (location.hash === lastHash && !again) return;
    const first = lastHash === null;
    const place = location.hash === lastHash ? null : turnPlace(main);
    lastHash = location.hash;
    const route = readRoute();
    const wanted = JSON.stringify(route.path);
    if (!page || wanted !== path) {
      path = wanted;
      page = openPage(board, main, route.path);
      if (!first) {
        scrollTo(0, 0);
        main.focus({ preventScroll: true });
      }
    }
    const { title } = page;
    document.title = `${typeof title === "string" ? title : title(route.params)} · ${board.title ?? "Isogloss board"}`;
    const own = ++turn;
    const nodes = page.view(route.params);
    if (!(nodes instanceof Promise)) show(nodes, place);
    else nodes.then((ready) => own === turn && show(ready, place));
  };
}

/** @param {Board} board @param {HTMLElement} main @param {string[]} path @returns {Page} */
function openPage(board, main, [name = "", ...rest]) {
  const page = Object.hasOwn(PAGES, name) ? PAGES[name](board, rest) : nothing("This page does not exist.");
  main.replaceChildren();
  for (const anchor of document.querySelectorAll("#menu a")) {
    if (anchor.getAttribute("href")?.replace(/^#\/|\?.*$/g, "") === name) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  return page;
}

// A moved or removed element loses the focus: return it to the element with the same key, or to the page.
/** @param {HTMLElement} main @param {() => void} update */
function keepFocus(main, update) {
  const before = document.activeElement;
  const key = main.contains(before) ? before?.dataset.key : null;
  update();
  oneStop(document.activeElement);
  if (!key || (document.activeElement === before && before?.dataset.key === key)) return;
  const again = [...main.querySelectorAll("[data-key]")].find((node) => node.dataset.key === key && !node.disabled);
  (again ?? main).focus({ preventScroll: true });
}

// The words in a saved picture of a chart: what it shows, and where it is from.
/** @param {Board} board @param {Element} chart */
function chartCaption(board, chart) {
  const described = chart.querySelector("svg[aria-label]")?.getAttribute("aria-label");
  const caption = chart.closest("figure")?.querySelector("figcaption") ?? chart.querySelector("caption");
  const page = document.title.replace(` · ${board.title ?? "Isogloss board"}`, "");
  const source = [
    page,
    board.title ?? board.suite,
    shortHash(board) ? `data ${shortHash(board)}` : "",
    `built ${(board.made ?? "").slice(0, 10)} with Isogloss ${board.isogloss}`,
  ];
  const label = chart.matches("[role=region]") ? chart.getAttribute("aria-label") : null;
  return { title: caption?.textContent ?? described ?? label ?? page, source: source.filter(Boolean).join(" · ") };
}

// The first tab stop in the rows of the page's first table.
/** @param {HTMLElement} main */
const firstTable = (main) => main.querySelector("table.data tbody:not(.before) [tabindex='0']");

// The hash holds the route, so the skip links only move the focus.
/** @param {HTMLElement} main */
function skipLinks(main) {
  for (const skip of document.querySelectorAll(".skip"))
    skip.addEventListener("click", (event) => {
      event.preventDefault();
      const target = skip.id === "skip-table" ? firstTable(main) : main;
      if (target !== main) target?.scrollIntoView({ block: "center" });
      target?.focus({ preventScroll: true });
    });
}

function start() {
  const main = byId("page");
  skipLinks(main);
  themeSwitch(byId("theme"));
  foldMenu(byId("menu-button"), byId("menu"));
  let board;
  try {
    board = openBoard(globalThis.isoglossBoardData);
  } catch (error) {
    main.replaceChildren(
      element("p", { class: "headline" }, `Cannot show the board: ${error instanceof Error ? error.message : error}.`),
    );
    return;
  }
  byId("suite").textContent = board.title ?? board.suite;
  if (board.submit) byId("menu").append(element("a", { href: board.submit }, "Submit"));
  byId("made").textContent =
    `${plural(board.systems.length, "system")} · ${plural(board.tasks.length, "task")} · ${plural(board.languages.length, "language")} · built ${(board.made ?? "").slice(0, 10)} with Isogloss ${board.isogloss}${shortHash(board) ? ` · data ${shortHash(board)}` : ""}`;
  offerCitation(board, byId("cite"));
  startTips();
  closeLists();
  followRoutes(renderLoop(board, main));
  watchCharts(main, (chart) => chartCaption(board, chart));
}

start();
