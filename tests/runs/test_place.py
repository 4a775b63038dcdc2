"""Places to run: names, files, errors in files, and copies."""

from pathlib import Path

import pytest

from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.runs import place as place_module
from isogloss.runs.api import run
from isogloss.runs.place import Place
from isogloss.workers import Resources
from runs.grid_fake import mini_cache, mini_data

__all__ = ["mini_cache", "mini_data"]

FULL = """
engine = "ray"
address = "ray://head:10001"
files = "ship"
jobs = 12
environment = ["WANDB_*"]

[resources]
cpus = 2
memory = "4 GB"
hours = 1.5

[systems."encoder:*".resources]
gpus = 0.2
memory = "1.5GiB"

[systems."encoder:*large*".resources]
gpus = 2
"""


def read(tmp_path: Path, text: str) -> Place:
    path = tmp_path / "place.toml"
    path.write_text(text, encoding="utf-8")
    return Place.of(path)


@pytest.mark.parametrize(
    ("name", "engine", "address", "partition"),
    [
        (None, "processes", "", ""),
        ("processes", "processes", "", ""),
        ("ray", "ray", "", ""),
        ("ray://head:10001", "ray", "ray://head:10001", ""),
        ("ray:10.0.0.1:6379", "ray", "10.0.0.1:6379", ""),
        ("ray:auto", "ray", "auto", ""),
        ("slurm", "slurm", "", ""),
        ("slurm:gpu", "slurm", "", "gpu"),
    ],
)
def test_names(name: str | None, engine: str, address: str, partition: str) -> None:
    place = Place.of(name)
    assert (place.engine_name, place.address, place.partition) == (engine, address, partition)
    assert Place.of(place) is place


@pytest.mark.parametrize("name", ["rays", "processes:4", "", "slrum:gpu"])
def test_an_unknown_name_is_rejected(name: str) -> None:
    with pytest.raises(UnknownNameError, match="unknown place to run on"):
        Place.of(name)


def test_a_file_with_all_settings(tmp_path: Path) -> None:
    place = read(tmp_path, FULL)
    assert (place.engine_name, place.address, place.files, place.jobs) == ("ray", "ray://head:10001", "ship", 12)
    assert place.environment == (*Place.environment, "WANDB_*")
    assert place.resources_for("ngram", fine_tuned=False) == Resources(2, 0, 4_000_000_000, 1.5)
    assert place.resources_for("encoder:xlm-roberta-base", fine_tuned=True) == Resources(2, 0.2, 3 << 29, 1.5)
    # The last matching pattern overrides the common resources.
    assert place.resources_for("encoder:xlm-roberta-large", fine_tuned=True) == Resources(2, 2, 4_000_000_000, 1.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('engin = "ray"', "unknown key of a place 'engin'. Did you mean engine or environment?"),
        ('engine = "rya"', "unknown engine 'rya'. Did you mean ray?"),
        ('files = "shipp"', "unknown files 'shipp'. Did you mean ship?"),
        ('on_interrupt = "detatch"', "Did you mean detach?"),
        ('files = "ship"', 'files = "ship" with engine = "processes"'),
        ('on_interrupt = "detach"', "processes of this machine end with the command"),
        ('engine = "slurm"\naddress = "auto"', 'address needs engine = "ray", got "slurm"'),
        ('engine = "ray"\npartition = "gpu"', 'Set engine = "slurm", or remove partition'),
        ('engine = "ray"\n[slurm]\nqos = "long"', '[slurm] needs engine = "slurm"'),
        ('engine = "ray"\nfiles = "ship"\non_interrupt = "detach"', "the command must receive the files"),
        ('environment = "WANDB"', "environment = 'WANDB' is not a list of strings"),
        ("address = 3", "address = 3 is not a string"),
        ("jobs = -1", "jobs = -1 is not a whole number"),
        ("jobs = true", "jobs = True is not a whole number"),
        ("resources = 3", "3 is not a table"),
        ("[resources]\ngpu = 1", "Did you mean gpus or cpus?"),
        ("[resources]\ngpus = 1.5", "invalid gpus = 1.5"),
        ("[resources]\ncpus = -1", "cpus = -1 is not a number"),
        ('[resources]\nmemory = "lots"', "memory = 'lots' is not a size"),
        ("[resources]\nmemory = 4", 'Write it as "4 GB"'),
        (f'[resources]\nmemory = "{"9" * 400} TB"', "is not a size"),
        ("systems = 3", "systems = 3 is not a table"),
        ('systems."encoder:*" = 3', "3 is not a table"),
        ('engine = "slurm"\n[slurm]\nsetup = "module load cuda"', "is not a list of strings"),
        ('engine = "slurm"\n[slurm]\nqoss = "long"', "Did you mean qos?"),
        ('[systems."encoder:*"]\nresource = {}', "Did you mean resources?"),
        ('[systems."encoder:*".resources]\nhour = 1', "Did you mean hours?"),
    ],
)
def test_errors_in_a_file_name_it(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(IsoglossError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert str(tmp_path / "place.toml") in str(caught.value)


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place_module, "find_spec", lambda name: None)
    with pytest.raises(IsoglossError, match=r"ray is not installed. Run .*\[cluster\]'"):
        Place.of("ray").workers()
    with pytest.raises(IsoglossError, match=r"submitit is not installed. Run .*\[slurm\]'"):
        Place.of("slurm").workers()


def test_the_file_is_copied_into_the_results(mini_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('engine = "processes"  # of this machine\n', encoding="utf-8")
    run("fake", suite="mini", tasks=["mini-xnli"], languages=["en"], seeds=2, out=tmp_path / "runs", on=path)
    for seed in range(2):
        copied = tmp_path / "runs" / "fake" / "zero-shot" / f"seed-{seed}" / "place.toml"
        assert copied.read_bytes() == path.read_bytes()
