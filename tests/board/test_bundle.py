"""Test the bundle: modules in order, each once; unsupported forms are rejected."""

import shutil
import subprocess
from pathlib import Path

import pytest

from isogloss.errors import DataError
from isogloss.site.page_parts import bundle


def written(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder


def test_modules_come_once_after_their_imports(tmp_path):
    web = written(
        tmp_path,
        main='import { first } from "./first.js";\nimport {\n  second,\n  third,\n} from "./second.js";\n'
        "first(second(third));\n",
        second='import { first } from "./first.js";\nexport const third = 3;\n'
        "export async function second(x) { return first(x); }\n",
        first="const hidden = 1;\nexport function first(x) { return x + hidden; }\n",
    )
    script = bundle(web)
    places = [script.index(f"// {name}.js") for name in ("first", "second", "main")]
    assert places == sorted(places)
    assert script.count("function first") == 1
    assert "import" not in script
    assert "export" not in script
    assert script.startswith('(() => {\n"use strict";\n')
    assert script.endswith("})();\n")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('import main from "./other.js";', "not supported"),
        ('import * as other from "./other.js";', "not supported"),
        ('import { a as b } from "./other.js";', "does not export a as b"),
        ('import { a } from "https://example.org/x.js";', "not supported"),
        ('import { a } from "../other.js";', "not supported"),
        ("export default function () {}", "not supported"),
        ("const a = 1;\nexport { a };", "not supported"),
        ('export * from "./other.js";', "not supported"),
        ("const { a, b } = globalThis;", "not supported"),
        ("var a = 1;", "not supported"),
        ('import { missing } from "./other.js";', "does not export missing"),
        ('import { hidden } from "./other.js";', "does not export hidden"),
        ('import { a } from "./other.js";\nconst hidden = 2;', "hidden is declared in other.js too"),
        ('import { b } from "./circle.js";', "circle"),
        ('import { b } from "./nowhere.js";', "no such file"),
    ],
)
def test_unsupported_forms_are_rejected(tmp_path, text, what):
    written(
        tmp_path,
        main=text,
        other="const hidden = 1;\nexport const a = hidden;\n",
        circle='import { x } from "./main.js";\nexport const b = 1;\n',
    )
    with pytest.raises(DataError, match=what):
        bundle(tmp_path)


def test_only_the_beginning_of_a_line_is_checked(tmp_path):
    text = 'const words = "import { a } from nowhere";\n// import and export\nfunction f() {\n  var inside = 1;\n}\n'
    assert '"import { a } from nowhere"' in bundle(written(tmp_path, main=text))


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_script_runs(tmp_path):
    web = written(
        tmp_path,
        main='import { Sum } from "./sum.js";\nconsole.log(new Sum(2).plus(3));\n',
        sum="export class Sum {\n  constructor(x) { this.x = x; }\n  plus(y) { return this.x + y; }\n}\n",
    )
    script = tmp_path / "out.js"
    script.write_text(bundle(web), encoding="utf-8")
    assert subprocess.run(["node", script], capture_output=True, text=True, check=True).stdout == "5\n"
