const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
// Everything a reader sees is set as text: names, words and loaded files are never read as markup.
const element = (tag, text = "", attributes = {}) => {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};
