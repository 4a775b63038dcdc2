"""Make a built site work from disk, without a request to another host.

python scripts/docs/offline.py out/docs/site

The generator's pages take the script that lets search run from disk from another host; ours replaces it.
"""

import os
import shutil
import sys
from pathlib import Path

FOREIGN = "https://unpkg.com/iframe-worker/shim"


def localize(site: Path) -> None:
    """Use our own script in all pages of a site."""
    target = site / "assets" / "javascripts" / "worker.js"
    shutil.copyfile(Path(__file__).with_name("worker.js"), target)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        local = text.replace(FOREIGN, Path(os.path.relpath(target, page.parent)).as_posix())
        if 'src="http' in local:
            raise SystemExit(f"{page} loads a file from another host")
        page.write_text(local, encoding="utf-8")


if __name__ == "__main__":
    localize(Path(sys.argv[1]))
