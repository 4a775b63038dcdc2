"""Make a built site work from disk, without a request to another host, and keep options of commands in one piece.

python scripts/docs/offline.py out/docs/site

The generator's pages take the script that lets search run from disk from another host; ours replaces it.
"""

import os
import re
import shutil
import sys
from pathlib import Path

FOREIGN = "https://unpkg.com/iframe-worker/shim"
_CODE = re.compile(r"<code>.*?</code>", re.DOTALL)
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")


def localize(site: Path) -> None:
    """Use our own script in all pages of a site."""
    target = site / "assets" / "javascripts" / "worker.js"
    shutil.copyfile(Path(__file__).with_name("worker.js"), target)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        local = text.replace(FOREIGN, Path(os.path.relpath(target, page.parent)).as_posix())
        if 'src="http' in local:
            raise SystemExit(f"{page} loads a file from another host")
        page.write_text(_CODE.sub(_unbroken, local), encoding="utf-8")


def _unbroken(code: re.Match[str]) -> str:
    """Return code whose options do not wrap at their hyphens."""
    return _OPTION.sub(r'<span class="option">\g<0></span>', code[0])


if __name__ == "__main__":
    localize(Path(sys.argv[1]))
