// On narrow screens the menu of pages unfolds below its button.
/** @param {HTMLElement} button @param {HTMLElement} menu */
export function foldMenu(button, menu) {
  const show = (/** @type {boolean} */ isOpen) => {
    menu.toggleAttribute("data-open", isOpen);
    button.setAttribute("aria-expanded", String(isOpen));
  };
  show(false);
  button.addEventListener("click", () => show(!menu.hasAttribute("data-open")));
  menu.addEventListener("click", () => show(false));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.hasAttribute("data-open")) return;
    show(false);
    button.focus();
  });
}
