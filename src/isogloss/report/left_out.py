"""What was left out of scores, in a few lines."""

from collections import defaultdict
from collections.abc import Iterable

from msgspec import structs

from isogloss.predictions.problems import LeftOut

SHOWN = 10


def left_out_notes(left_out: Iterable[LeftOut]) -> list[str]:
    """Why answers are in no score: the languages of a task that share a reason stand together, the rest is counted."""
    groups: dict[tuple[str, ...], list[LeftOut]] = defaultdict(list)
    for each in left_out:
        cell = (each.task, each.split, _of_task(each), each.fix)
        groups[cell if each.task else (each.path, each.reason)].append(each)
    several = list(groups.values())
    notes = [str(_together(group)) for group in several[:SHOWN]]
    rest = sum(map(len, several[SHOWN:]))
    return [*notes, *([f"left out: {rest} more; --json has all"] if rest else [])]


def _of_task(cell: LeftOut) -> str:
    """The reason in words that hold for all languages of the task."""
    return cell.reason.replace(f"{cell.task}/{cell.language}", cell.task)


def _together(group: list[LeftOut]) -> LeftOut:
    if len(group) == 1:
        return group[0]
    codes, paths = ",".join(each.language for each in group), {each.path for each in group}
    path = paths.pop() if len(paths) == 1 else ""
    return structs.replace(group[0], language=codes, reason=_of_task(group[0]), path=path)
