"""Accelerators are often on bare machines: loop and benchmark need only numpy, torch, transformers and accelerate."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs torch")
pytest.importorskip("transformers", reason="the benchmark needs transformers")

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_benchmark_runs_without_optional_packages():
    script = (
        "import sys\n"
        "for name in ('msgspec', 'pooch', 'platformdirs'): sys.modules[name] = None\n"
        "sys.path[:0] = sys.argv[1:]\n"
        "import run, extrapolate\n"
        "rates = {'train': 1000, 'predict': 5000, 'tokens': 40, 'capture': 5}\n"
        "extrapolate.show('made up', dict.fromkeys(('xnli', 'squad', 'pos'), rates))\n"
    )
    folders = [str(ROOT / "src"), str(ROOT / "benchmarks" / "gpu")]
    done = subprocess.run([sys.executable, "-c", script, *folders], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # 2 x 392,702 pairs of 40 tokens at 40,000 per second, and 15 x 5,010 at 200,000.
    assert "2 x 392,702 x  40 tokens at    40 k/s =   785 s;    75,150 predicted at    200 k/s =   15 s" in done.stdout
