"""Commands that install extras and packages as Isogloss itself was installed: pip, uv, uvx, pipx, or a checkout."""

import json
import shlex
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlparse

# Extras with torch, and the index of its builds without CUDA, which save about 6 GB.
_WITH_TORCH = frozenset({"train"})
CPU_INDEX = "https://download.pytorch.org/whl/cpu"


def install_command(extra: str, *, prefix: Path | None = None) -> str:
    """Return the command that adds an extra to this installation; without a GPU, torch comes without CUDA.

    `prefix` is the environment, by default the running one.
    """
    environment = Path(sys.prefix) if prefix is None else prefix
    requirement, editable = _requirement(extra)
    quoted = shlex.quote(requirement)
    torch = extra in _WITH_TORCH
    cpu_only = torch and shutil.which("nvidia-smi") is None
    parts = environment.parts
    if "pipx" in parts:
        index = f" --pip-args='--extra-index-url {CPU_INDEX}'" if cpu_only else ""
        if "venvs" not in parts:  # the environment of `pipx run`, in its cache
            return f"pipx run{index} --spec {quoted} isogloss …"
        return f"pipx install --force{index}{' --editable' * editable} {quoted}"
    backend = "UV_TORCH_BACKEND=auto " if torch else ""  # uv looks for a GPU itself
    if "uv" in parts and "tools" in parts:
        return f"{backend}uv tool install --force{' --editable' * editable} {quoted}"
    if "archive-v0" in parts:  # the environment of `uvx` in its cache
        return f"{backend}uvx --from {quoted} isogloss …"
    if _made_by_uv(environment):
        return f"{backend}uv pip install --python {shlex.quote(sys.executable)}{' --editable' * editable} {quoted}"
    index = f" --extra-index-url {CPU_INDEX}" if cpu_only else ""
    return f"{shlex.quote(sys.executable)} -m pip install{index}{' --editable' * editable} {quoted}"


def package_command(package: str, *, prefix: Path | None = None) -> str:
    """Return the command that adds a package that is in no extra, such as the client of a service.

    `prefix` is the environment, by default the running one.
    """
    environment = Path(sys.prefix) if prefix is None else prefix
    quoted, parts = shlex.quote(package), environment.parts
    if "pipx" in parts and "venvs" in parts:
        return f"pipx inject isogloss {quoted}"
    if "uv" in parts and "tools" in parts:
        return f"uv tool install --force --with {quoted} isogloss"
    if "archive-v0" in parts:
        return f"uvx --with {quoted} isogloss …"
    if _made_by_uv(environment):
        return f"uv pip install --python {shlex.quote(sys.executable)} {quoted}"
    return f"{shlex.quote(sys.executable)} -m pip install {quoted}"


def _made_by_uv(environment: Path) -> bool:
    """Return True if uv created the environment, which then has no pip."""
    try:
        lines = (environment / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    return any(line.partition("=")[0].strip() == "uv" for line in lines)


def _requirement(extra: str) -> tuple[str, bool]:
    """Return the requirement with an extra from where it was installed, and True if it is an editable checkout."""
    checkout = Path(__file__).parents[2]
    try:
        recorded = json.loads(distribution("isogloss").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        recorded = {"url": checkout.as_uri(), "dir_info": {"editable": True}}
    except ValueError:
        recorded = {}
    url = urlparse(str(recorded.get("url", "")))
    if url.scheme == "file":
        editable = bool(recorded.get("dir_info", {}).get("editable"))
        # Another checkout may come first on the path.
        is_here = editable and (checkout / "pyproject.toml").is_file()
        path = checkout if is_here else Path(unquote(url.path))
        return f"{path}[{extra}]", editable
    if version_control := recorded.get("vcs_info", {}).get("vcs"):
        return f"isogloss[{extra}] @ {version_control}+{recorded['url']}", False
    return f"isogloss[{extra}]", False
