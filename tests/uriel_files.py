"""Small versions of URIEL's four files, with the real layout."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

POINTS = ("GC_90_0", "GC_0_0", "GC_0_90", "GC_45_45", "GC_-45_-45")


def sphere(latitude: float, longitude: float) -> np.ndarray:
    """Return a point on the unit sphere."""
    up, east = np.radians([latitude, longitude])
    return np.array([np.cos(up) * np.cos(east), np.cos(up) * np.sin(east), np.sin(up)])


def write_uriel(
    data: Path,
    names: Sequence[str],
    features: Mapping[str, Sequence[float]],
    *,
    unknown: Mapping[str, Sequence[int]] | None = None,
    ancestors: Mapping[str, Sequence[str]] | None = None,
    places: Mapping[str, tuple[float, float]] | None = None,
) -> None:
    """Write features (by ISO 639-3 code), the unattested ones, families, and coordinates in degrees."""
    folder = data / "uriel"
    folder.mkdir(parents=True, exist_ok=True)
    codes = list(features)
    values = np.array([features[code] for code in codes], np.float32)
    averages = values.astype(np.float64)
    for row, code in enumerate(codes):
        averages[row, list((unknown or {}).get(code, ()))] = -1
    families = sorted({name for of in (ancestors or {}).values() for name in of}) or ["None"]
    member = np.array([[name in (ancestors or {}).get(code, ()) for name in families] for code in codes], np.float32)
    points = np.stack([sphere(*map(float, point[3:].split("_"))) for point in POINTS])
    ways = [np.arccos(np.clip(points @ sphere(*(places or {}).get(code, (0, 0))), -1, 1)) / np.pi for code in codes]
    for name, columns, table in (
        ("feature_predictions", names, values),
        ("feature_averages", names, averages),
        ("family_features", [f"F_{name}" for name in families], member),
        ("geocoord_features", POINTS, np.array(ways, np.float32)),
    ):
        np.savez_compressed(
            folder / f"{name}.npz",
            feats=np.array(columns),
            langs=np.array(codes),
            sources=np.array(["all"]),
            data=table[:, :, None],
        )
