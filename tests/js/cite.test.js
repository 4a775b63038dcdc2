import assert from "node:assert/strict";
import test from "node:test";
import { bibTeX, bibText, cardOf, citeSentence, dayText, embedCode } from "../../src/isogloss/site/web/page/cite.js";
import { board } from "./board_fixture.js";

const HASH = "0123456789abcdef".repeat(4);
const cited = (change = {}) => ({ ...board(), title: "Mini & more", data_hash: HASH, ...change });
const WEB = { href: "https://example.org/b/index.html#/find?task=qa&language=sw", title: "Find a model" };
const LOCAL = { href: "file:///home/me/site/index.html#/task/xnli", title: "XNLI" };

test("a sentence names the view, the board, its build and its data", () => {
  assert.equal(
    citeSentence(cited(), WEB),
    `“Find a model”, Mini & more board (suite mini; 3 systems, built 2 January 2026 with Isogloss 1.0, data 0123456789ab): ${WEB.href}`,
  );
  // The path of a local file is private and of no use to others.
  assert.ok(citeSentence(cited(), LOCAL).endsWith(": view #/task/xnli"));
  assert.equal(dayText("soon"), "soon");
});

test("BibTeX has every fact, escaped, with balanced braces", () => {
  assert.equal(
    bibTeX(cited(), WEB),
    `@misc{mini-2026-012345,
  title = {Mini \\& more board: Find a model},
  year = 2026,
  month = jan,
  howpublished = {Isogloss board},
  note = {Suite mini; 3 systems; built 2026-01-02 with Isogloss 1.0; data SHA-256 ${HASH}; view \\#/find?task=qa\\&language=sw},
  url = {${WEB.href}},
}
`,
  );
  assert.ok(!bibTeX(cited(), LOCAL).includes("home"));
  const hostile = bibTeX(cited({ title: "} @misc{x, \\input{y} %" }), { ...WEB, href: `${WEB.href}&x=}{"\\ y` });
  let depth = 0;
  for (const sign of hostile) {
    depth += Number(sign === "{") - Number(sign === "}");
    assert.ok(depth >= 0);
  }
  assert.equal(depth, 0);
  assert.ok(hostile.includes("x=%7D%7B%22%5C%20y"));
  assert.equal(bibText("a{b}"), "a\\textbraceleft{}b\\textbraceright{}");
});

test("system and language pages have a card to embed", () => {
  assert.deepEqual(cardOf(cited(), ["language", "sw"]), { path: "cards/language/sw.svg", name: "Swahili" });
  assert.equal(cardOf(cited(), ["system", "b"]).path, "cards/system/b.svg");
  for (const path of [[], ["system", "none"], ["find"]]) assert.equal(cardOf(cited(), path), null);
  const card = { path: "cards/system/b.svg", name: '"><script>' };
  assert.equal(
    embedCode(cited(), card, "https://example.org/b/#/system/b?x=1&y=2"),
    '<a href="https://example.org/b/#/system/b?x=1&#38;y=2"><img src="https://example.org/b/cards/system/b.svg" width="460" ' +
      'alt="&#34;&#62;&#60;script&#62; on Mini &#38; more"></a>',
  );
  assert.ok(embedCode(cited(), card, LOCAL.href).startsWith('<img src="cards/system/b.svg"'));
});
