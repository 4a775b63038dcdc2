import { closeLists } from "./controls.js";
import { openBoard } from "./decode.js";
import { element, plural } from "./dom.js";
import { aboutPage } from "./page_about.js";
import { analysisPage } from "./page_analysis.js";
import { comparePage } from "./page_compare.js";
import { familyPage } from "./page_family.js";
import { languagePage } from "./page_language.js";
import { languagesPage } from "./page_languages.js";
import { leaderboardPage } from "./page_leaderboard.js";
import { systemPage } from "./page_system.js";
import { taskPage } from "./page_task.js";
import { nothing } from "./parts.js";
import { followRoutes, onRoute, readRoute } from "./state.js";
import { themeSwitch } from "./theme.js";
import { startTips } from "./tips.js";

const PAGES = {
  "": leaderboardPage,
  system: systemPage,
  language: languagePage,
  family: familyPage,
  task: taskPage,
  compare: comparePage,
  languages: languagesPage,
  analysis: analysisPage,
  about: aboutPage,
};

// A page is made once for its path; changes of the parameters only update it, so that focus stays where it is.
function openPages(board, place) {
  let path = null;
  let page = null;
  let last = null;
  return () => {
    if (location.hash === last) return;
    last = location.hash;
    const route = readRoute();
    const wanted = JSON.stringify(route.path);
    if (wanted !== path) {
      const first = path === null;
      path = wanted;
      const [name = "", ...rest] = route.path;
      page = Object.hasOwn(PAGES, name) ? PAGES[name](board, rest) : nothing("There is no such page.");
      place.replaceChildren(page.node);
      document.title = `${page.title} · ${board.title ?? "Isogloss board"}`;
      for (const anchor of document.querySelectorAll("#menu a")) {
        const current = anchor.getAttribute("href").replace(/^#\/|\?.*$/g, "") === name;
        if (current) anchor.setAttribute("aria-current", "page");
        else anchor.removeAttribute("aria-current");
      }
      if (!first) {
        scrollTo(0, 0);
        place.focus({ preventScroll: true });
      }
    }
    keepFocus(place, () => page.update?.(route.params));
    document.documentElement.dataset.ready = String(Number(document.documentElement.dataset.ready ?? 0) + 1);
  };
}

// What is drawn anew takes the focus with it: the new one of the same name gets it back, or the page, if there is none.
function keepFocus(place, update) {
  const name = document.activeElement?.dataset.focus;
  update();
  if (!name || document.activeElement !== document.body) return;
  const again = [...place.querySelectorAll("[data-focus]")].find(
    (each) => each.dataset.focus === name && !each.disabled,
  );
  (again ?? place).focus({ preventScroll: true });
}

function start() {
  const place = document.getElementById("page");
  // The hash belongs to the pages, so the link to the content only moves the focus.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    place.focus();
  });
  themeSwitch(document.getElementById("theme"));
  let board;
  try {
    board = openBoard(globalThis.isoglossBoardData);
  } catch (error) {
    place.replaceChildren(element("p", { class: "headline" }, `The board cannot be shown: ${error.message}.`));
    return;
  }
  document.getElementById("suite").textContent = board.title ?? board.suite;
  if (board.submit) document.getElementById("menu").append(element("a", { href: board.submit }, "Submit"));
  document.getElementById("made").textContent =
    `${plural(board.systems.length, "system")} · ${plural(board.tasks.length, "task")} · ${plural(board.languages.length, "language")} · made ${(board.made ?? "").slice(0, 10)} with Isogloss ${board.isogloss}`;
  startTips();
  closeLists();
  const show = openPages(board, place);
  onRoute(show);
  followRoutes();
  show();
}

start();
