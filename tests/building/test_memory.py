"""Memory of a vocabulary of 12 million entities, extrapolated from a measured one of a million."""

import pickle
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from isogloss.building.dumps import FilePart
from isogloss.building.inputs import DumpFile
from isogloss.building.parts import PartCounts, ScanJob, ScanSettings, write_arrays
from isogloss.building.titles import Wiki

# Eight pages per entity, as in Wikidata, all of them in the largest Wikipedias, and a redirect per page.
CODES = "en de fr es ja ru sv nl".split()
SCRIPT = """
import pickle, sys
from pathlib import Path
from isogloss.building.vocabulary import build_vocabulary

folder = Path(sys.argv[1])
jobs, codes, sample = pickle.loads((folder / "jobs").read_bytes())
vocabulary = build_vocabulary(jobs, folder, codes)
for code, (hashes, items) in sample.items():
    assert (vocabulary.lookup(code, hashes) == items).all()
print(int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024)
"""


def write_scans(folder: Path, count: int) -> None:
    """Write the scans of Wikidata and of the Wikipedias as arrays, without dumps."""

    def scan(kind: str, wiki: Wiki | None, codes: list[str]) -> ScanJob:
        dump = DumpFile(Path(f"{kind}-{wiki}"), kind, wiki)
        job = ScanJob(dump=dump, part=FilePart(Path("x")), stamp=(1, 1), settings=ScanSettings(), folder=folder)
        job.path.mkdir(parents=True)
        (job.path / "counts.json").write_bytes(msgspec.json.encode(PartCounts({}, codes)))
        return job

    rng = np.random.default_rng(0)
    hashes = rng.integers(1, 2**64, count * len(CODES), np.uint64)
    numbers = np.arange(1, count + 1, dtype=np.uint32)
    jobs = [scan("entities", None, CODES)]
    write_arrays(
        jobs[0].path,
        numbers=numbers,
        flags=np.zeros(count, np.uint8),
        link_items=np.tile(numbers, len(CODES)),
        link_hashes=hashes,
        site_ends=np.arange(1, len(CODES) + 1) * count,
    )
    sample = {}
    for code, pages in zip(CODES, hashes.reshape(len(CODES), count), strict=True):
        redirects = rng.integers(1, 2**64, count, np.uint64)
        sample[code] = (np.concatenate([pages[:99], redirects[:99]]), np.concatenate([np.arange(99)] * 2))
        jobs.append(scan("pages", Wiki("wikipedia", code), [code]))
        write_arrays(
            jobs[-1].path,
            numbers=np.arange(count, dtype=np.uint64),
            hashes=pages,
            redirect_from=redirects,
            redirect_to=pages,
            described=pages,
            description_hashes=pages,
            link_hashes=np.sort(pages),
            link_counts=np.ones(count, np.int64),
            link_ends=np.array([count]),
        )
    (folder / "jobs").write_bytes(pickle.dumps((jobs, CODES, sample)))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_twelve_million_entities_in_four_gigabytes(tmp_path: Path) -> None:
    peaks = []
    # The fixed part is measured with few entities, the rest grows with their number.
    for count in (1_000, 500_000):
        write_scans(tmp_path / str(count), count)
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / str(count))]
        peaks.append(int(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    fixed, whole = peaks
    assert fixed + 24 * (whole - fixed) < 4e9, peaks
