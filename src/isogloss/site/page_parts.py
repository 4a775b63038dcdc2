"""Pages in one file: a body, its style, script and data inside one frame."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from isogloss.escaping import html_text, printable_values
from isogloss.site.bundle import bundle
from isogloss.version import __version__

# Modules and styles that all pages share; `inlined` has those of pages in one file.
WEB = Path(__file__).with_name("web")


def packaged_file(name: str) -> str:
    """Return the text of a file of the front end."""
    inlined = WEB / "inlined" / name
    return (inlined if inlined.exists() else WEB / name).read_text(encoding="utf-8")


def inlined_page(name: str, title: str, parts: Mapping[str, str], data: Callable[[int], Any]) -> str:
    """Return a self-contained page.

    Args:
        name: name of the body, the style and the script in the front end.
        title: title of the page, as HTML.
        parts: HTML at the positions `{{name}}` of the body.
        data: function from the size of the page without its data, in bytes, to the script's data.
    """
    script = bundle(WEB, f"{name}.js")
    frame = {
        "title": title,
        "version": html_text(__version__),
        # The page's security policy lets only this script run.
        "hashes": f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'",
        "style": packaged_file("look.css") + packaged_file(f"{name}.css"),
        "body": _filled(f"{name}.html", {**parts, "title": title}),
        "script": script,
    }
    frame["data"] = script_json(printable_values(data(sum(len(part.encode()) for part in frame.values()))))
    return _filled("page.html", frame)


def _filled(template: str, parts: Mapping[str, str]) -> str:
    # One pass, so that inserted text is never searched for positions.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], packaged_file(template))


def script_json(value: Any) -> str:
    """Encode JSON that is safe inside a script element."""
    text = msgspec.json.encode(value).decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
