"""A real SLURM of several nodes on this machine: munge, a controller and one daemon per node, in a temporary folder."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

import pytest

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
# Debian keeps daemons off the users' PATH.
SEARCHED = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

# A requeued job starts when its credential has expired.
CONFIGURATION = """\
ClusterName=isogloss-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=20
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SwitchType=switch/none
MpiDefault=none
GresTypes=gpu
ReturnToService=2
SchedulerParameters=sched_min_interval=50000,sched_interval=1,bf_interval=1,batch_sched_delay=0
MaxArraySize=5
KillWait=3
MinJobAge=60
SlurmdTimeout=8
SlurmctldTimeout=8
CompleteWait=0
DefMemPerCPU=500
"""


class SlurmSite:
    """The daemons of a site, each of which can be killed and started again."""

    def __init__(self, folder: Path, nodes: int) -> None:
        self.folder = folder
        self.nodes = [f"node{number}" for number in range(nodes)]
        self.configuration = folder / "slurm.conf"
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._configure()

    def _configure(self) -> None:
        host, user = socket.gethostname(), subprocess.check_output(["id", "-un"], text=True).strip()
        controller, *ports = _free_ports(1 + len(self.nodes))
        text = CONFIGURATION.format(folder=self.folder, host=host, user=user, controller=controller)
        devices = [self.folder / f"gpu{number}" for number in range(2)]
        for device in devices:
            device.touch()
        gres = ""
        for node, port in zip(self.nodes, ports, strict=True):
            (self.folder / f"spool-{node}").mkdir()
            place = f"NodeHostname={host} NodeAddr=127.0.0.1 Port={port}"
            text += f"NodeName={node} {place} CPUs=2 RealMemory=3000 Gres=gpu:2 State=UNKNOWN\n"
            gres += "".join(f"NodeName={node} Name=gpu File={device}\n" for device in devices)
        text += "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
        text += "PartitionName=closed Nodes=ALL MaxTime=INFINITE State=DOWN\n"
        self.configuration.write_text(text)
        (self.folder / "gres.conf").write_text(gres)
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))

    def start(self, name: str) -> None:
        """Start a daemon: `munged`, `slurmctld` or that of a node."""
        files = {"socket": "munge.socket", "key-file": "munge.key", "pid-file": "munged.pid", "seed-file": "seed"}
        munge = ["--foreground", "--force", *(f"--{key}={self.folder / file}" for key, file in files.items())]
        arguments = {"munged": munge, "slurmctld": ["-D"]}.get(name, ["-D", "-N", name])
        program = shutil.which(name if name in PROGRAMS else "slurmd", path=SEARCHED)
        assert program is not None
        environment = os.environ | {"SLURM_CONF": str(self.configuration)}
        with (self.folder / f"{name}.log").open("ab") as log:
            # In its own session, so that Ctrl-C in a test does not reach the site.
            self._daemons[name] = subprocess.Popen(
                [program, *arguments], env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self, name: str, how: signal.Signals = signal.SIGKILL) -> None:
        """Kill a daemon."""
        daemon = self._daemons.pop(name)
        daemon.send_signal(how)
        try:
            daemon.wait(timeout=15)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()

    def is_running(self, name: str) -> bool:
        """Return True if a daemon has been started and not killed."""
        return name in self._daemons

    def is_up(self) -> bool:
        """Return True if all nodes accept jobs."""
        asked = subprocess.run(
            ["sinfo", "--noheader", "--Node", "--partition=main", "--format=%T"],
            env=os.environ | {"SLURM_CONF": str(self.configuration)},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        states = asked.stdout.split()
        return len(states) == len(self.nodes) and set(states) <= {"idle", "mixed", "allocated", "completing"}

    def stop(self) -> None:
        """End all jobs and daemons."""
        with suppress(subprocess.SubprocessError):
            environment = os.environ | {"SLURM_CONF": str(self.configuration)}
            subprocess.run(["scancel", "--state=RUNNING", "--state=PENDING"], env=environment, timeout=20, check=False)
        for name in reversed(self._daemons):
            self._daemons[name].send_signal(signal.SIGTERM)
        for name in list(self._daemons):
            self.kill(name, signal.SIGTERM)


def _free_ports(count: int) -> list[int]:
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


def wait_until(happens: Callable[[], bool], seconds: float = 300.0) -> None:
    """Wait until a condition holds; fail if it takes too long."""
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, f"{happens} did not come about in {seconds:.0f} s"
        time.sleep(0.05)


@pytest.fixture(scope="session")
def slurm_site() -> Iterator[SlurmSite]:
    """A SLURM site of two nodes that is up."""
    pytest.importorskip("submitit", reason="submitit is not installed: pip install 'isogloss[slurm]'")
    missing = [name for name in PROGRAMS if shutil.which(name, path=SEARCHED) is None]
    if missing:
        pytest.skip(f"SLURM is not installed (Debian: slurm-wlm, munge): no {', '.join(missing)}")
    # The paths of sockets must be short.
    folder = Path(mkdtemp(prefix="slurm-", dir="/tmp"))
    site = SlurmSite(folder, nodes=2)
    try:
        site.start("munged")
        wait_until((folder / "munge.socket").exists)
        for name in ("slurmctld", *site.nodes):
            site.start(name)
        wait_until(site.is_up)
        yield site
    finally:
        site.stop()
        shutil.rmtree(folder)


@pytest.fixture
def slurm(slurm_site: SlurmSite, monkeypatch: pytest.MonkeyPatch) -> SlurmSite:
    """The site, with the environment for this process and its children."""
    monkeypatch.setenv("SLURM_CONF", str(slurm_site.configuration))
    for name in ("slurmctld", *slurm_site.nodes):
        if not slurm_site.is_running(name):
            slurm_site.start(name)
    if not slurm_site.is_up():
        wait_until(slurm_site.is_up)
    return slurm_site
