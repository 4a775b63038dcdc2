"""What several attributes are made from: computed once for the examples of a cell, and forgotten with them."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from isogloss.tasks.examples import Examples

T = TypeVar("T")
P = ParamSpec("P")


def cached_per_examples(make: Callable[Concatenate[Examples, P], T]) -> Callable[Concatenate[Examples, P], T]:
    """A function of examples that gives the same object again for as long as these examples live."""
    known: WeakKeyDictionary[Examples, dict[Hashable, T]] = WeakKeyDictionary()

    @wraps(make)
    def of(examples: Examples, /, *rest: P.args, **named: P.kwargs) -> T:
        made = known.setdefault(examples, {})
        key = (rest, tuple(named.items()))
        if key not in made:
            made[key] = make(examples, *rest, **named)
        return made[key]

    return of
