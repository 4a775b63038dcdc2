"""Memory of a vocabulary of 12 million entities, extrapolated from a measured one of a million."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from isogloss.building.dumps import FilePart
from isogloss.building.inputs import DumpFile
from isogloss.building.parts import PartCounts, ScanJob, ScanSettings, write_arrays
from isogloss.building.vocabulary import build_vocabulary
import msgspec

def peak():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024

folder, count = Path(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
# Eight pages per entity, as in Wikidata: most in the largest Wikipedias.
codes = ["en", "de", "fr", "es", "ja", "ru", "sv", "nl"]
dump = DumpFile(Path("x.json.bz2"), "entities", None)
job = ScanJob(dump=dump, part=FilePart(Path("x")), stamp=(1, 1), settings=ScanSettings(), folder=folder)
job.path.mkdir(parents=True)
start = peak()
numbers = np.arange(1, count + 1, dtype=np.uint32)
write_arrays(job.path, numbers=numbers, flags=np.zeros(count, np.uint8), link_items=np.tile(numbers, len(codes)),
             link_hashes=rng.integers(1, 2**64, count * len(codes), np.uint64),
             site_ends=np.arange(1, len(codes) + 1) * count)
(job.path / "counts.json").write_bytes(msgspec.json.encode(PartCounts({}, codes)))
if len(sys.argv) > 3:
    vocabulary = build_vocabulary([job], folder, codes)
    hashes = np.load(job.path / "link_hashes.npy", mmap_mode="r")
    assert (vocabulary.lookup("de", hashes[count:2 * count]) == np.arange(count)).all()
print(peak())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_twelve_million_entities_in_four_gigabytes(tmp_path: Path) -> None:
    def peak(name: str, count: int, *options: str) -> int:
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / name), str(count), *options]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    # The fixed part is measured with few entities, the rest grows with their number.
    fixed = peak("few", 1_000, "build")
    whole = peak("million", 1_000_000, "build")
    assert fixed + 12 * (whole - fixed) < 4e9
    size = sum(path.stat().st_size for path in (tmp_path / "million").glob("vocabulary-*/*"))
    assert 12 * size < 4e9
