import { hatchPattern } from "../charts/hatch.js";
import { fittedText, textWidth } from "../charts/text_width.js";
import { drawn, drawnToWidth, element, missing, scriptName } from "../page/dom.js";
import { arrowKeys } from "../page/keys.js";
import { largestFirst } from "../board/families.js";
import { hashOf } from "../page/state.js";
import { withTip } from "../page/tips.js";

const LEAF_ROW = 24;
const NARROW_TREE = 600;
// The least width of a column, if there are several.
const TREE_COLUMN = 620;
const TREE_GUTTER = 40;
const NAMES_WIDTH = 190;
const NARROW_NAMES = 150;
const TREE_HATCH = "tree-hatch";
// Families and branches with longer names are cut.
const MOST_FAMILY = 180;
const MOST_BRANCH = 190;
const JOINT_ROOM = 28;

// The places of branches and languages behind the longest names before them.
/** @param {Language[]} languages */
function treePlaces(languages) {
  /** @param {string[]} names @param {number} most @param {boolean} [strong] */
  const room = (names, most, strong) =>
    Math.min(most, Math.max(...[...new Set(names)].map((name) => textWidth(name, strong)))) + JOINT_ROOM;
  const branchX = 16 + room(languages.map(({ family }) => family), MOST_FAMILY, true);
  return { branchX, leafX: branchX + room(languages.map(({ branch }) => branch), MOST_BRANCH) + 8 };
}


// Draws row by row. On a narrow screen families and branches have separate lines above their languages.
class TreeDrawing {
  /** @param {number} width @param {TreeLeaves} leaves @param {{ branchX: number, leafX: number }} places */
  constructor(width, leaves, { branchX, leafX }) {
    this.width = width;
    this.narrow = width < NARROW_TREE;
    this.row = this.narrow ? 0 : 0.6;
    this.familyX = this.narrow ? 8 : 16;
    this.branchX = this.narrow ? 16 : branchX;
    this.leafX = this.narrow ? 28 : leafX;
    this.leaves = leaves;
    /** @type {Node[]} */
    this.parts = [];
  }

  /** @param {string} name @param {Language[]} members */
  addFamily(name, members) {
    if (this.narrow) this.row += 0.9;
    const y = (this.narrow ? this.row - 0.45 : this.row + members.length / 2 - 0.5) * LEAF_ROW;
    const shown = this.narrow ? name : fittedText(name, MOST_FAMILY, (text) => textWidth(text, true));
    const end = this.familyX + textWidth(shown, true) + 6;
    for (const [branch, own] of largestFirst(members, (language) => language.branch))
      this.addBranch(branch === "isolate" || branch === name ? "" : branch, own, [end, y]);
    this.parts.push(
      drawn(
        "a",
        { href: hashOf(["family", name]) },
        drawn("text", { x: this.familyX, y: y + 4, class: "family" }, shown),
      ),
    );
    this.row += this.narrow ? 0.1 : 0.6;
  }

  // A branch without a name covers its whole family.
  /** @param {string} name @param {Language[]} members @param {Interval} familyEnd */
  addBranch(name, members, familyEnd) {
    if (this.narrow) {
      if (name) this.parts.push(drawn("text", { x: this.branchX, y: (this.row + 0.55) * LEAF_ROW, class: "branch" }, name));
      this.row += name ? 1.4 : 0.5;
    }
    const y = (this.row + members.length / 2 - 0.5) * LEAF_ROW;
    const shown = fittedText(name, MOST_BRANCH);
    if (!this.narrow)
      this.parts.push(
        joint(...familyEnd, this.branchX - 6, y),
        name
          ? drawn("text", { x: this.branchX, y: y + 4, class: "branch" }, shown)
          : joint(this.branchX - 6, y, this.leafX - 12, y),
      );
    const end = this.branchX + textWidth(shown) + 6;
    for (const language of members.sort((a, b) => a.name.localeCompare(b.name)))
      this.addLeaf(language, name ? [end, y] : null);
  }

  /** @param {Language} language @param {Interval | null} branchEnd */
  addLeaf(language, branchEnd) {
    const y = this.row * LEAF_ROW;
    if (!this.narrow && branchEnd) this.parts.push(joint(...branchEnd, this.leafX - 10, y));
    this.parts.push(leaf(language, this.leaves, { x: this.leafX, y, width: this.width, narrow: this.narrow }));
    this.row += 1;
  }
}

// A tree of families, branches and languages, in as many columns as fit. `paintOf` colours the bars of `valueOf(language)`
// between the `ends` of the scale; `textOf` is written behind them.
/** @param {Language[]} languages @param {TreeLeaves} leaves */
export function familyTree(languages, leaves) {
  const families = largestFirst(languages, ({ family }) => family);
  return drawnToWidth(element("div", { class: "plot tree" }), (width) => {
    const places = treePlaces(languages);
    const columns = inColumns(families, Math.max(1, Math.min(3, Math.floor(width / TREE_COLUMN))));
    const wide = (width - TREE_GUTTER * (columns.length - 1)) / columns.length;
    const trees = columns.map((own) => {
      const tree = new TreeDrawing(wide, leaves, places);
      for (const [name, members] of own) tree.addFamily(name, members);
      return tree;
    });
    const height = Math.ceil((Math.max(...trees.map(({ row }) => row)) + 0.4) * LEAF_ROW);
    const svg = drawn(
      "svg",
      { role: "group", "aria-label": leaves.description, width, height },
      hatchPattern(TREE_HATCH),
      trees.map(({ parts }, at) => drawn("g", { transform: `translate(${at * (wide + TREE_GUTTER)} 0)` }, parts)),
    );
    arrowKeys(svg);
    return svg;
  });
}

// Divide the families into columns of similar height, in order.
/** @param {[string, Language[]][]} families @param {number} count @returns {[string, Language[]][][]} */
export function inColumns(families, count) {
  /** @param {[string, Language[]]} family */
  const height = ([, members]) => members.length + 0.6;
  const total = families.reduce((sum, family) => sum + height(family), 0);
  /** @type {[string, Language[]][][]} */
  const columns = [[]];
  let sum = 0;
  for (const family of families) {
    const own = height(family);
    const full = (total * columns.length) / count;
    if (columns.length < count && columns[columns.length - 1].length && sum + own / 2 > full) columns.push([]);
    columns[columns.length - 1].push(family);
    sum += own;
  }
  return columns;
}

/** @param {number} fromX @param {number} fromY @param {number} toX @param {number} toY */
const joint = (fromX, fromY, toX, toY) =>
  drawn("path", {
    class: "joint",
    d: `M${fromX} ${fromY}C${(fromX + toX) / 2} ${fromY} ${(fromX + toX) / 2} ${toY} ${toX} ${toY}`,
  });

/**
 * @param {Language} language
 * @param {TreeLeaves} leaves
 * @param {{ x: number, y: number, width: number, narrow: boolean }} place
 */
function leaf(language, { valueOf, textOf, linesOf, paintOf, ends }, { x, y, width, narrow }) {
  const value = valueOf(language);
  const from = x + (narrow ? NARROW_NAMES : NAMES_WIDTH);
  const long = Math.max(0, width - from - textWidth("100.0 % *") - 12);
  const part = Math.min(1, Math.max(0, (value - ends[0]) / (ends[1] - ends[0] || 1)));
  const fill = missing(value) ? `url(#${TREE_HATCH})` : paintOf(value).fill;
  const longName = textWidth(`${language.name} ${language.autonym}`) > NAMES_WIDTH - 30;
  const own = drawn(
    "a",
    { href: hashOf(["language", language.code]), "data-key": `tree-${language.code}` },
    drawn("circle", { cx: x, cy: y, r: 6, fill, class: "leaf" }),
    drawn(
      "text",
      { x: x + 12, y: y + 4 },
      fittedText(language.name, (narrow ? NARROW_NAMES : NAMES_WIDTH) - 22),
      narrow || longName || !language.autonym || language.autonym === language.name
        ? null
        : drawn("tspan", { class: "soft", lang: language.code, dx: 7 }, language.autonym),
    ),
    drawn("rect", { x: from, y: y - 6, width: long, height: 12, class: "empty", fill: missing(value) ? fill : null }),
    missing(value) ? null : drawn("rect", { x: from, y: y - 6, width: long * part, height: 12, fill }),
    drawn("text", { x: width - 4, y: y + 4, "text-anchor": "end" }, textOf(language)),
  );
  return withTip(own, () => [
    ...linesOf(language),
    `${language.family}, ${language.branch}; ${scriptName(language.script)}`,
  ]);
}
