import { drawn, drawnToWidth, element, missing, scoreText, scriptName } from "./dom.js";
import { groupedBy } from "./ranking.js";
import { hashOf } from "./state.js";
import { withTip } from "./tips.js";

const LEAF_ROW = 24;
const NARROW = 620;

// Families, their branches and languages as a tree that grows to the right; `paintOf` colours its leaves by
// `valueOf(language)`.
export function familyTree(languages, valueOf, paintOf, description) {
  const families = [...groupedBy(languages, ({ family }) => family)]
    .sort(([a, x], [b, y]) => y.length - x.length || a.localeCompare(b))
    .map(([name, members]) => ({
      name,
      branches: [...groupedBy(members, ({ branch }) => branch)].sort(
        ([a, x], [b, y]) => y.length - x.length || a.localeCompare(b),
      ),
    }));
  const place = element("div", { class: "plot tree" });
  return drawnToWidth(place, (width) => {
    const narrow = width < NARROW;
    const [x1, x2, x3] = narrow ? [8, 16, 28] : [16, 150, 330];
    const svg = drawn("svg", { role: "group", "aria-label": description, width });
    let row = narrow ? 0 : 0.6;
    const joint = (fromX, fromY, toX, toY) =>
      drawn("path", {
        class: "joint",
        d: `M${fromX} ${fromY}C${(fromX + toX) / 2} ${fromY} ${(fromX + toX) / 2} ${toY} ${toX} ${toY}`,
      });
    for (const { name, branches } of families) {
      // On a narrow screen the family and the branch have lines of their own, above their languages.
      if (narrow) row += 0.9;
      const familyRow = narrow
        ? row - 0.25
        : row + branches.reduce((sum, [, members]) => sum + members.length, 0) / 2 - 0.5;
      const familyY = familyRow * LEAF_ROW;
      const named = drawn(
        "a",
        { href: hashOf(["family", name]) },
        drawn("text", { x: x1, y: familyY + 4, class: "family" }, name),
      );
      for (const [branch, members] of branches) {
        const alone = branch === "isolate" || branch === name;
        if (narrow && !alone) {
          svg.append(drawn("text", { x: x2, y: (row + 0.55) * LEAF_ROW, class: "branch" }, branch));
          row += 1.4;
        }
        const branchY = (row + members.length / 2 - 0.5) * LEAF_ROW;
        if (!narrow) {
          const width1 = name.length * 8.2;
          svg.append(
            joint(Math.min(x2 - 20, x1 + width1 + 4), familyY, x2 - 6, branchY),
            alone
              ? joint(x2 - 6, branchY, x3 - 12, branchY)
              : drawn("text", { x: x2, y: branchY + 4, class: "branch" }, branch),
          );
        }
        members
          .sort((a, b) => a.name.localeCompare(b.name))
          .forEach((language) => {
            const y = row * LEAF_ROW;
            if (!narrow && !alone)
              svg.append(joint(Math.min(x3 - 40, x2 + branch.length * 7.6 + 6), branchY, x3 - 10, y));
            svg.append(leaf(language, valueOf(language), paintOf, x3, y, width, narrow));
            row += 1;
          });
      }
      svg.append(named);
      row += narrow ? 0.1 : 0.6;
    }
    svg.setAttribute("height", String(Math.ceil((row + 0.4) * LEAF_ROW)));
    return svg;
  });
}

function leaf(language, value, paintOf, x, y, width, narrow) {
  const known = !missing(value);
  const from = x + (narrow ? 150 : 250);
  const long = Math.max(0, width - from - 48);
  const { fill } = known ? paintOf(value) : { fill: "none" };
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
    known ? drawn("rect", { x: from, y: y - 6, width: (long * value) / 100, height: 12, fill }) : null,
    drawn("text", { x: width - 4, y: y + 4, "text-anchor": "end" }, scoreText(value)),
  );
  return withTip(own, () => [
    `${language.name}${language.autonym && language.autonym !== language.name ? ` · ${language.autonym}` : ""}`,
    `${language.family}, ${language.branch}; ${scriptName(language.script)}`,
    known ? `shown: ${scoreText(value)}` : "no score",
  ]);
}
