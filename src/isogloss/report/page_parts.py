"""What pages that need nothing but themselves are made of: packaged files, data and scripts inside one template."""

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from isogloss.escaping import printable_values


def packaged_path(name: str) -> Path:
    """The path of a file beside this one."""
    return Path(__file__).with_name(name)


def packaged_file(name: str) -> str:
    """The text of a file beside this one."""
    return packaged_path(name).read_text(encoding="utf-8")


def packaged_module(name: str) -> str:
    """A JavaScript module that imports nothing, as a part of a plain script."""
    return re.sub(r"^export ", "", packaged_file(name), flags=re.MULTILINE)


def filled_page(template: str, parts: Mapping[str, str]) -> str:
    """A packaged template with its parts, which are HTML, in their places `{{name}}`."""
    # One pass, so that what is put in is never searched for places itself.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], packaged_file(template))


def page_json(value: Any) -> str:
    """JSON that cannot end the script element it stands in, of printable text."""
    return msgspec.json.encode(printable_values(value)).decode().replace("<", "\\u003c")


def inside_script(code: str) -> str:
    """JavaScript whose strings cannot end the element either, or open a comment in it."""
    return code.replace("</script", r"<\/script").replace("<!--", r"<\!--")


def script_hashes(*scripts: str) -> str:
    """What lets these scripts run under the page's policy, and no others, whatever else finds its way into it."""
    hashes = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    return " ".join(f"'sha256-{each}'" for each in hashes)


def strict_script(*parts: str) -> str:
    """Scripts as one, in strict mode and a scope of their own."""
    return f'"use strict";\n(() => {{\n{"".join(parts)}}})();\n'
