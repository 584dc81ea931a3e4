"""Errors about arguments that a constructor does not have."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature

__all__ = ["naming_unknown_arguments"]


def naming_unknown_arguments(constructor: Callable[..., None]) -> Callable[..., None]:
    """Return an `__init__` whose TypeError for an unknown argument names the class and the argument that may be meant.

    Python's own error names the class in which `__init__` is defined, which may be one that users do not know.
    """
    parameters = list(signature(constructor).parameters.values())[1:]  # without self
    known = {parameter.name for parameter in parameters}
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return constructor

    in_order = [p.name for p in parameters if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    any_number = any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters)

    @wraps(constructor)
    def checked(self: object, *arguments: object, **options: object) -> None:
        if len(arguments) > len(in_order) and not any_number:
            few = f"{', '.join(in_order)} at most" if in_order else "none"
            raise TypeError(f"{type(self).__name__}: expected as arguments without a name {few}, got {len(arguments)} of them")
        if not options.keys() <= known:
            unknown = next(name for name in options if name not in known)
            raise TypeError(f"{type(self).__name__}: there is no argument {unknown!r}; {_cure(unknown, known)}")
        constructor(self, *arguments, **options)

    return checked


def _cure(unknown: str, known: set[str]) -> str:
    close = get_close_matches(unknown, known, 1, 0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"it has {', '.join(sorted(known))}" if known else "it has none"
