import { element } from "../page/dom.js";

// What an attribute of examples is, in words: "Length of the first text in tokens".
/** @param {string} title */
export const attributeTitle = (title) => title.charAt(0).toUpperCase() + title.slice(1);

// The same with the name that commands and files use.
/** @param {{ attribute: string, title: string }} of @returns {Child[]} */
export const attributeCaption = ({ attribute, title }) => [
  attributeTitle(title || attribute),
  title && title !== attribute ? [" ", element("span", { class: "soft code-name" }, attribute)] : "",
];
