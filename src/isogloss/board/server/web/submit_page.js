// What the form's modules share, and the header, which is that of the board's pages. All text is set as text.
/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/** @param {string} name @param {any} [text] @param {any} [parent] @returns {any} */
export function element(name, text, parent) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

/** @type {Record<string, string>} */
const THEMES = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" };
const THEME_KEY = "isogloss-theme";

// Without storage the choice lasts until the page is closed.
function storedTheme() {
  try {
    return localStorage.getItem(THEME_KEY) ?? "auto";
  } catch {
    return "auto";
  }
}

function themeButton() {
  const names = Object.keys(THEMES);
  const button = byId("theme");
  let theme = names.find((name) => name === storedTheme()) ?? "auto";
  const show = () => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = THEMES[theme];
    button.setAttribute("aria-label", `Colours: ${theme}. Change`);
  };
  show();
  button.addEventListener("click", () => {
    theme = names[(names.indexOf(theme) + 1) % names.length];
    try {
      localStorage.setItem(THEME_KEY, theme);
    } catch {
      // Nothing to do.
    }
    show();
  });
}

// On narrow screens the menu unfolds below its button.
function menuButton() {
  const [button, menu] = [byId("menu-button"), byId("menu")];
  /** @param {boolean} isOpen */
  const show = (isOpen) => {
    menu.toggleAttribute("data-open", isOpen);
    button.setAttribute("aria-expanded", String(isOpen));
  };
  show(false);
  button.addEventListener("click", () => show(!menu.hasAttribute("data-open")));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.hasAttribute("data-open")) return;
    show(false);
    button.focus();
  });
}

export function startHeader() {
  themeButton();
  menuButton();
}
