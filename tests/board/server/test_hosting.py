"""The hosting guide's nginx configuration, systemd unit, container file and Python code, tested."""

import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import venv
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import requests
import urllib3

from board.server.made_board import METADATA, answers, make_board, make_token, tar_of, zip_of
from board.server.served import ServedBoard, free_port, served
from isogloss.board.server.board import BoardSettings, OpenBoard
from isogloss.cli.main import main

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs/board-server.md").read_text(encoding="utf-8")
DEPLOY = ROOT / "deploy"
FILES = {"ini": "isogloss-board.service", "nginx": "nginx.conf", "dockerfile": "Containerfile"}
API = "/api/v1"

pytestmark = pytest.mark.slow


def block(language: str) -> str:
    """Return the guide's only code block in a language."""
    [block] = re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    return str(block)


def deployed(language: str) -> str:
    return (DEPLOY / FILES[language]).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES.values())
def test_guide_links_the_files(name: str) -> None:
    assert f"](../deploy/{name})" in GUIDE


@pytest.fixture(scope="module")
def served_board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedBoard]:
    folder = tmp_path_factory.mktemp("served") / "board"
    board = make_board(folder, trusted_proxies=["127.0.0.1"], failures_per_minute=3)
    (board.folder / "token").write_text(make_token(board))
    with served(board.folder, workers=1) as running:
        yield running


@pytest.fixture(scope="module")
def nginx(served_board: ServedBoard) -> Iterator[str]:
    """Start nginx with the guide's configuration, except for paths and names, and yield its address."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None or shutil.which("openssl") is None:
        pytest.skip("nginx or openssl is missing (Debian packages nginx-light and openssl)")
    folder, port = served_board.folder.with_name("nginx"), free_port()
    folder.mkdir()
    named = ["-subj", "/CN=board.example.org", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    files = ["-keyout", "privkey.pem", "-out", "fullchain.pem"]
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *named, *files]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    config = deployed("nginx").replace("/etc/letsencrypt/live/board.example.org", str(folder))
    for standard, ours in ((443, port), (80, free_port())):
        config = config.replace(f"listen {standard}", f"listen 127.0.0.1:{ours}")
    config = re.sub(r"listen \[::\]:\d+.*;", "", config)
    assert "http://127.0.0.1:8000" in config
    config = config.replace("127.0.0.1:8000", f"127.0.0.1:{served_board.port}")
    places = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    head = f"pid {folder}/pid; daemon off; error_log {folder}/error.log;\nevents {{}}\n"
    (folder / "nginx.conf").write_text(f"{head}http {{ access_log off; {places}\n{config} }}\n")
    subprocess.run([program, "-t", "-c", folder / "nginx.conf", "-e", folder / "error.log"], check=True)
    process = subprocess.Popen([program, "-c", folder / "nginx.conf", "-e", folder / "error.log"])
    try:
        yield f"https://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture
def browser(nginx: str, served_board: ServedBoard) -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env, session.verify = False, str(served_board.folder.with_name("nginx") / "fullchain.pem")
        retry = requests.adapters.HTTPAdapter(max_retries=urllib3.Retry(8, backoff_factor=0.1))
        session.mount("https://", retry)
        session.get(f"{nginx}/submit.html", timeout=30)
        session.mount("https://", requests.adapters.HTTPAdapter())  # no retries from here on
        session.headers["Authorization"] = f"Bearer {(served_board.folder / 'token').read_text()}"
        yield session


def test_nginx(
    browser: requests.Session, nginx: str, served_board: ServedBoard, request: pytest.FixtureRequest
) -> None:
    size = request.config.getoption("--board-upload-megabytes") << 20
    files = answers(1) | {"README.md": os.urandom(size)}
    fields = {"metadata": json.dumps(METADATA), "publish": "true"}
    sent = browser.post(
        f"{nginx}{API}/submissions", data=fields, files={"archive": ("a.tar", tar_of(files, "w"))}, timeout=300
    )
    assert sent.status_code == 201, sent.text
    # nginx passes the server's compression, ETag and security headers through.
    for path in ("/submit.js", f"{API}/openapi.json"):
        packed = browser.get(f"{nginx}{path}", timeout=30)
        direct = browser.get(f"{served_board.address}{path}", timeout=30)
        assert packed.content == direct.content
        for name in ("etag", "content-encoding", "cache-control", "content-security-policy", "x-content-type-options"):
            assert packed.headers[name] == direct.headers[name], name
        assert packed.headers["strict-transport-security"]
        again = browser.get(f"{nginx}{path}", headers={"If-None-Match": packed.headers["etag"]}, timeout=30)
        assert again.status_code == 304
    key = sent.json()["key"]
    assert browser.get(f"{nginx}{API}/submissions/{key}", timeout=30).json()["system"]["name"] == "Made-up"


def test_nginx_refuses_oversized_uploads(browser: requests.Session, nginx: str) -> None:
    """The guide's limit is slightly above the board's."""
    limit = int(re.findall(r"client_max_body_size (\d+)m", deployed("nginx"))[0])
    assert BoardSettings().upload_bytes < limit << 20 < BoardSettings().upload_bytes + (16 << 20)
    host, port = nginx.removeprefix("https://").split(":")
    context = ssl.create_default_context(cafile=str(browser.verify))
    with closing(http.client.HTTPSConnection(host, int(port), timeout=30, context=context)) as line:
        line.putrequest("POST", f"{API}/submissions")
        line.putheader("Content-Length", str((limit << 20) + 1))
        line.endheaders()
        assert line.getresponse().status == 413


def wrong_tokens(session: requests.Session, address: str) -> list[list[int]]:
    """Return the responses to two clients that send invalid tokens and X-Forwarded-For."""
    return [
        [session.get(f"{address}{API}/team", headers=headers, timeout=30).status_code for _ in range(5)]
        for headers in (
            {"Authorization": "Bearer wrong", "X-Forwarded-For": f"203.0.113.{number}"} for number in range(2)
        )
    ]


def test_limits_apply_to_the_real_client(browser: requests.Session, nginx: str, served_board: ServedBoard) -> None:
    """Behind nginx, clients cannot forge their address; only nginx can set it."""
    responses = wrong_tokens(browser, nginx)
    assert responses == [[401, 401, 401, 429, 429], [429] * 5]
    direct = wrong_tokens(browser, served_board.address)
    assert direct == [[401, 401, 401, 429, 429]] * 2, "127.0.0.1 is trusted, and speaks for two clients"


def test_no_proxy_is_trusted_by_default(tmp_path: Path) -> None:
    board = make_board(tmp_path / "board", failures_per_minute=3)
    with served(board.folder) as server:
        responses = wrong_tokens(requests.Session(), server.address)
    assert responses == [[401, 401, 401, 429, 429], [429] * 5]


def test_systemd_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is missing (Debian package systemd)")
    # systemd-analyze requires an existing program; the rest is as in the guide.
    unit = deployed("ini").replace("/opt/isogloss/bin/isogloss", f"{sys.executable} -m isogloss")
    (tmp_path / "isogloss-board.service").write_text(unit)
    done = subprocess.run(
        [program, "verify", tmp_path / "isogloss-board.service"], capture_output=True, text=True, check=False
    )
    about = [line for line in (done.stdout + done.stderr).splitlines() if "isogloss-board" in line]
    assert (done.returncode, about) == (0, []), done.stderr
    secured = subprocess.run(
        [program, "security", "--offline=true", "--threshold=20", tmp_path / "isogloss-board.service"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert secured.returncode == 0, f"exposure above 2.0: {secured.stdout}"


def test_unit_protects_files_and_allows_many_connections() -> None:
    lines = deployed("ini").splitlines()
    assert {"UMask=0077", "LimitNOFILE=65536", "CapabilityBoundingSet=", "NoNewPrivileges=true"} <= set(lines)


def container_steps() -> dict[str, str]:
    """Return the last instruction of the container file by keyword."""
    lines = [line for line in deployed("dockerfile").replace("\\\n", " ").splitlines() if not line.startswith("#")]
    return {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in lines}


def test_container_file() -> None:
    """The file installs existing extras, and its unprivileged user can write to the board's folder."""
    steps = container_steps()
    extras = re.findall(r"\{PACKAGE\}\[(.*?)\]", steps["RUN"])[0].split(",")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras)
    user, group = steps["USER"].split(":")
    assert "0" not in (user, group)
    assert f"install -d -o {user} -g {group} -m 700 {steps['VOLUME']}" in steps["RUN"], "or only root could write there"
    words = json.loads(steps["CMD"])
    assert words[:4] == ["isogloss", "board", "serve", steps["VOLUME"]]
    assert f"ISOGLOSS_CACHE={steps['VOLUME']}/" in steps["ENV"]


@pytest.mark.parametrize("script", sorted(DEPLOY.glob("*.sh")), ids=lambda path: path.name)
def test_scripts_are_valid(script: Path) -> None:
    subprocess.run(["bash", "-n", script], check=True)
    assert os.access(script, os.X_OK)


def test_commands_of_the_guide_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    """Every `board …` command of the section on servers names existing verbs and options."""
    section = GUIDE.partition("## On a server")[2].partition("## Threats")[0]
    commands = re.findall(
        r"^(?:podman exec board isogloss )?board (admin \w[\w-]*|doctor)\b(.*)$", section, re.MULTILINE
    )
    assert len(commands) >= 6
    for verb, rest in commands:
        with pytest.raises(SystemExit) as ended:
            main(["board", *verb.split(), "--help"])
        assert not ended.value.code
        help_text = capsys.readouterr().out
        assert all(option in help_text for option in re.findall(r"--[a-z-]+", rest)), (verb, rest)


@pytest.mark.skipif(os.environ.get("ISOGLOSS_INSTALL") != "1", reason="ISOGLOSS_INSTALL=1 installs from an index")
def test_container_steps_in_a_clean_environment(tmp_path: Path) -> None:
    """Run all steps except FROM: install, create and serve as the file's user."""
    steps, folder = container_steps(), tmp_path / "board"
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    extras = re.findall(r"\{PACKAGE\}(\[.*?\])", steps["RUN"])[0]
    subprocess.run([home / "bin/pip", "install", "-q", "--no-cache-dir", f"{ROOT}{extras}"], check=True)
    folder.mkdir()
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:
        for path in (tmp_path, *tmp_path.parents):
            path.chmod(path.stat().st_mode | 0o055)
            if path.parent == Path("/"):
                break
        shutil.chown(folder, "nobody")
        as_user = {"user": "nobody"}
    environment = {"PATH": f"{home}/bin:/usr/bin:/bin", "ISOGLOSS_CACHE": f"{folder}/.cache", "HOME": str(folder)}
    create = ["isogloss", "board", "admin", "create", str(folder), "--suite", "mini"]
    subprocess.run([home / "bin/isogloss", *create[1:]], check=True, env=environment, **as_user)
    port = free_port()
    words = [str(folder) if word == steps["VOLUME"] else word for word in json.loads(steps["CMD"])]
    process = subprocess.Popen([home / "bin/isogloss", *words[1:], "--port", str(port)], env=environment, **as_user)
    try:
        address = f"http://127.0.0.1:{port}"
        session = requests.Session()
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=urllib3.Retry(9, backoff_factor=0.2)))
        assert session.get(f"{address}/healthz", timeout=60).ok
        wait = urllib3.Retry(9, backoff_factor=0.2, status_forcelist=[503], raise_on_status=False)
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=wait))
        assert "<title>" in session.get(f"{address}/", timeout=60).text
    finally:
        process.terminate()
        process.wait(60)


def test_python_of_the_guide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board: OpenBoard = make_board(tmp_path / "board")
    (tmp_path / "predictions.zip").write_bytes(zip_of(answers(1)))
    with served(board.folder, workers=1) as server:
        code = block("python").replace("http://127.0.0.1:8000", server.address)
        code = code.replace('"predictions"', repr(str(tmp_path / "predictions.zip")))
        exec(compile(code, "guide", "exec"), {"token": make_token(board), "metadata": METADATA})  # noqa: S102 - our own
    output = capsys.readouterr().out
    assert "mini-xcopa" in output
    assert "Made-up" in output


def test_nginx_limits_requests(nginx: str, served_board: ServedBoard) -> None:
    """More requests than the burst, at once and from one address, are refused by nginx, not by the board.

    The last test, because the address has no requests left for some seconds.
    """
    burst = int(re.findall(r"burst=(\d+)", deployed("nginx"))[0])
    certificate = str(served_board.folder.with_name("nginx") / "fullchain.pem")
    with requests.Session() as session:
        session.trust_env, session.verify = False, certificate
        with ThreadPoolExecutor(8) as pool:
            statuses = list(
                pool.map(lambda _: session.get(f"{nginx}/submit.html", timeout=30).status_code, range(8 * burst))
            )
    assert set(statuses) == {200, 429}
    assert statuses.count(200) > burst
    assert served_board.process.poll() is None
