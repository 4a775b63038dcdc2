import { element } from "./dom.js";

// Light or dark colours, by the reader's system or as chosen on this or another page of the same kind.
/** @type {Record<string, string>} */
const THEMES = { auto: "◐", light: "☀", dark: "☾" };
const THEME_KEY = "isogloss-theme";

function storedTheme() {
  try {
    return localStorage.getItem(THEME_KEY);
  } catch {
    return null;
  }
}

/** @param {HTMLElement} button */
export function themeSwitch(button) {
  const names = Object.keys(THEMES);
  const show = (/** @type {string} */ theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    // Narrow screens show the sign alone.
    button.replaceChildren(THEMES[theme], element("span", {}, ` ${theme[0].toUpperCase()}${theme.slice(1)}`));
    button.setAttribute("aria-label", `Colours: ${theme}. Change`);
  };
  let theme = names.find((name) => name === storedTheme()) ?? "auto";
  show(theme);
  button.addEventListener("click", () => {
    theme = names[(names.indexOf(theme) + 1) % names.length];
    try {
      localStorage.setItem(THEME_KEY, theme);
    } catch {
      /* without storage, the choice lasts until the page is closed */
    }
    show(theme);
  });
}
