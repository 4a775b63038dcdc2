"""Datasets of the Hugging Face hub, or copies of them in a folder, as tables."""

from pathlib import Path
from typing import Any

from isogloss.data.table_files import FileTable
from isogloss.errors import DataError, MissingDataError


def hub_table(name: str, revision: str, config: str, split: str) -> FileTable | None:
    """Read a split of a dataset; return None if the dataset lacks it.

    Args:
        name: `owner/name`, or the path of a folder: one that `save_to_disk` wrote, or a copy of the files.
        revision: commit of the hub's repository.
        config: name of the configuration, "" for the only one.
        split: name of the split.

    Raises:
        DataError: the package is not installed, or the dataset cannot be read.
    """
    where = " ".join(filter(None, (name, revision[:12], config, split)))
    try:
        import datasets
    except ImportError:
        from isogloss.installation import install_command

        fix = f"Run {install_command('hub')}"
        raise DataError("cannot read a hub dataset without the package datasets", where=where, fix=fix) from None
    try:
        loaded = _loaded(datasets, name, revision, config, split)
    except Exception as error:  # the package raises errors of every kind, its own and those of its dependencies
        what = f"cannot load the dataset: {type(error).__name__}: {error!s:.300}"
        fix = "Check hub, revision, config and the network; hub may also be a folder with a copy"
        raise MissingDataError(what, where=where, fix=fix) from None
    if loaded is None:
        return None
    columns = {column: _values(loaded.features[column], list(loaded[column])) for column in loaded.column_names}
    return FileTable(where, columns, tuple(columns))


def _loaded(datasets: Any, name: str, revision: str, config: str, split: str) -> Any:
    """Return the split, or None if the dataset lacks it."""
    folder = Path(name)
    for saved in (folder / config, folder) if folder.is_dir() else ():
        if (saved / "dataset_dict.json").is_file():
            return datasets.load_from_disk(str(saved)).get(split)
        if (saved / "dataset_info.json").is_file():
            return datasets.load_from_disk(str(saved))
    # All splits are downloaded and prepared, whichever is asked for.
    return datasets.load_dataset(name, config or None, revision=revision or None).get(split)


def _values(feature: Any, cells: list[Any]) -> list[Any]:
    """Return cells with the names of class labels instead of their numbers."""
    inner = getattr(feature, "feature", None) or (feature[0] if isinstance(feature, list) else None)
    if inner is not None and hasattr(inner, "int2str"):
        return [[_name(inner, number) for number in cell or ()] for cell in cells]
    return [_name(feature, cell) for cell in cells] if hasattr(feature, "int2str") else cells


def _name(feature: Any, number: Any) -> Any:
    return feature.int2str(number) if isinstance(number, int) and 0 <= number < feature.num_classes else None
