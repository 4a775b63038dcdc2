import { drawn, drawnToWidth, element, missing, scoreText, scriptName } from "../page/dom.js";
import { groupedBy } from "../board/ranking.js";
import { hashOf } from "../page/state.js";
import { withTip } from "../page/tips.js";

const LEAF_ROW = 24;
const NARROW = 620;

// Group languages by a key, largest group first.
/** @param {Language[]} languages @param {(language: Language) => string} key @returns {[string, Language[]][]} */
const largestFirst = (languages, key) =>
  [...groupedBy(languages, key)].sort(([a, x], [b, y]) => y.length - x.length || a.localeCompare(b));

// Draws row by row. On a narrow screen families and branches have separate lines above their languages.
class TreeDrawing {
  /** @param {number} width @param {any} leafOf */
  constructor(width, leafOf) {
    this.narrow = width < NARROW;
    this.row = this.narrow ? 0 : 0.6;
    this.familyX = this.narrow ? 8 : 16;
    this.branchX = this.narrow ? 16 : 150;
    this.leafX = this.narrow ? 28 : 330;
    this.leafOf = leafOf;
    /** @type {Node[]} */
    this.parts = [];
  }

  /** @param {string} name @param {Language[]} members */
  addFamily(name, members) {
    if (this.narrow) this.row += 0.9;
    const y = (this.narrow ? this.row - 0.25 : this.row + members.length / 2 - 0.5) * LEAF_ROW;
    const end = Math.min(this.branchX - 20, this.familyX + name.length * 8.2 + 4);
    for (const [branch, own] of largestFirst(members, (language) => language.branch))
      this.addBranch(branch === "isolate" || branch === name ? "" : branch, own, [end, y]);
    this.parts.push(
      drawn(
        "a",
        { href: hashOf(["family", name]) },
        drawn("text", { x: this.familyX, y: y + 4, class: "family" }, name),
      ),
    );
    this.row += this.narrow ? 0.1 : 0.6;
  }

  // A branch without a name covers its whole family.
  /** @param {string} name @param {Language[]} members @param {Interval} familyEnd */
  addBranch(name, members, familyEnd) {
    if (this.narrow && name) {
      this.parts.push(drawn("text", { x: this.branchX, y: (this.row + 0.55) * LEAF_ROW, class: "branch" }, name));
      this.row += 1.4;
    }
    const y = (this.row + members.length / 2 - 0.5) * LEAF_ROW;
    if (!this.narrow)
      this.parts.push(
        joint(...familyEnd, this.branchX - 6, y),
        name
          ? drawn("text", { x: this.branchX, y: y + 4, class: "branch" }, name)
          : joint(this.branchX - 6, y, this.leafX - 12, y),
      );
    const end = Math.min(this.leafX - 40, this.branchX + name.length * 7.6 + 6);
    for (const language of members.sort((a, b) => a.name.localeCompare(b.name)))
      this.addLeaf(language, name ? [end, y] : null);
  }

  /** @param {Language} language @param {Interval | null} branchEnd */
  addLeaf(language, branchEnd) {
    const y = this.row * LEAF_ROW;
    if (!this.narrow && branchEnd) this.parts.push(joint(...branchEnd, this.leafX - 10, y));
    this.parts.push(this.leafOf(language, this.leafX, y, this.narrow));
    this.row += 1;
  }
}

// A tree of families, branches and languages; `paintOf` colours the leaves by `valueOf(language)`.
/**
 * @param {Language[]} languages
 * @param {(language: Language) => number} valueOf
 * @param {(value: any, row?: any, column?: any) => Paint} paintOf
 * @param {string} description
 */
export function familyTree(languages, valueOf, paintOf, description) {
  const families = largestFirst(languages, ({ family }) => family);
  return drawnToWidth(element("div", { class: "plot tree" }), (width) => {
    const tree = new TreeDrawing(
      width,
      (
        /** @type {Language} */ language,
        /** @type {number} */ x,
        /** @type {number} */ y,
        /** @type {boolean} */ narrow,
      ) => leaf(language, valueOf(language), paintOf, x, y, width, narrow),
    );
    for (const [name, members] of families) tree.addFamily(name, members);
    const height = Math.ceil((tree.row + 0.4) * LEAF_ROW);
    return drawn("svg", { role: "group", "aria-label": description, width, height }, tree.parts);
  });
}

/** @param {number} fromX @param {number} fromY @param {number} toX @param {number} toY */
const joint = (fromX, fromY, toX, toY) =>
  drawn("path", {
    class: "joint",
    d: `M${fromX} ${fromY}C${(fromX + toX) / 2} ${fromY} ${(fromX + toX) / 2} ${toY} ${toX} ${toY}`,
  });

/**
 * @param {Language} language
 * @param {number} value
 * @param {(value: any, row?: any, column?: any) => Paint} paintOf
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {boolean} narrow
 */
function leaf(language, value, paintOf, x, y, width, narrow) {
  const hasScore = !missing(value);
  const from = x + (narrow ? 150 : 250);
  const long = Math.max(0, width - from - 48);
  const { fill } = hasScore ? paintOf(value) : { fill: "none" };
  const own = drawn(
    "a",
    { href: hashOf(["language", language.code]) },
    drawn("circle", { cx: x, cy: y, r: 6, fill, class: "leaf" }),
    drawn(
      "text",
      { x: x + 12, y: y + 4 },
      language.name,
      narrow || !language.autonym || language.autonym === language.name
        ? null
        : drawn("tspan", { class: "soft", lang: language.code, dx: 7 }, language.autonym),
    ),
    drawn("rect", { x: from, y: y - 6, width: long, height: 12, class: "empty" }),
    hasScore ? drawn("rect", { x: from, y: y - 6, width: (long * value) / 100, height: 12, fill }) : null,
    drawn("text", { x: width - 4, y: y + 4, "text-anchor": "end" }, scoreText(value)),
  );
  return withTip(own, () => [
    `${language.name}${language.autonym && language.autonym !== language.name ? ` · ${language.autonym}` : ""}`,
    `${language.family}, ${language.branch}; ${scriptName(language.script)}`,
    hasScore ? `score ${scoreText(value)}` : "no score",
  ]);
}
