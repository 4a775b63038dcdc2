// Colours of the day or the night, as the reader's system says, or as was chosen on this page or another of its kind.
const THEMES = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" };
const THEME_KEY = "isogloss-theme";

function storedTheme() {
  try {
    return localStorage.getItem(THEME_KEY);
  } catch {
    return null;
  }
}

export function themeSwitch(button) {
  const names = Object.keys(THEMES);
  const show = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = THEMES[theme];
    button.setAttribute("aria-label", `Colours: ${theme}. Change`);
  };
  let theme = names.includes(storedTheme()) ? storedTheme() : "auto";
  show(theme);
  button.addEventListener("click", () => {
    theme = names[(names.indexOf(theme) + 1) % names.length];
    try {
      localStorage.setItem(THEME_KEY, theme);
    } catch {
      /* a page without a store keeps the choice until it is closed */
    }
    show(theme);
  });
}
