"""The language of kernel expressions, which are parsed and never run as code."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from inspect import signature
from keyword import iskeyword

import numpy as np

from kernsel._base.annotations import Matrix
from kernsel.kernels import priors
from kernsel.kernels.base import DEEPEST, Kernel
from kernsel.kernels.hyperparameter import Parameter
from kernsel.kernels.leaf import Leaf

__all__ = ["Reader"]

_DEEPEST = DEEPEST + 20  # the most brackets open at once: one for each level of the tree of kernels, and some in arguments
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?)
    |(?P<name>[^\W\d]\w*)
    |(?P<text>'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+")
    |(?P<sign>\*\*|[-+*@.,=()\[\]])
    |(?P<end>\Z)
    |(?P<other>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORD = re.compile(r"([^\W\d]\w*)\s*=")
_WORDS = {"True": True, "False": False, "None": None, "inf": np.inf}


class Reader:
    """A recursive-descent parser of one text, which evaluates the expression as it goes.

    Python's own parser overflows a small stack on texts with many nested brackets or many operators. Here sums and products are
    parsed by a loop, so that they may have any number of operands, and the depth of brackets has a limit.
    """

    def __init__(
        self,
        text: str,
        arrays: Mapping[str, Matrix],
        automatic: bool = False,
        columns: Mapping[str, Sequence[int]] | None = None,
        others: Mapping[str, type[Kernel]] | None = None,
    ) -> None:
        self.text = text
        self.arrays = arrays
        self.automatic = automatic
        self.columns = columns
        self.names = _classes() | dict(others or {})
        self.all_names: dict[str, Callable[..., object]] = {
            **self.names,
            "Parameter": Parameter,
            **{name: getattr(priors, name) for name in priors.__all__[:-1]},
        }
        self.brackets = 0
        self.kind, self.token, self.at, self.end = "", "", 0, 0
        self.advance()

    def advance(self) -> str:
        """Move to the next token; return the current one."""
        token = self.token
        match = _TOKEN.match(self.text, self.end)
        assert match is not None
        self.kind = str(match.lastgroup)
        self.token = match[self.kind]
        self.at, self.end = match.span(self.kind)
        return token

    def take(self, sign: str) -> bool:
        """Move on if the current token is this sign; tell whether it was."""
        is_current = self.token == sign and self.kind == "sign"
        if is_current:
            self.advance()
        return is_current

    def problem(self, at: int, what: str, hint: str = "") -> ValueError:
        """Return an error that names its position in the text."""
        return ValueError(f"text: {what} (character {at + 1}){hint}")

    def unexpected(self) -> ValueError:
        """Return the error for a token that the grammar does not allow at its position."""
        if self.kind == "end":
            return ValueError(f"text: {self.text[:60]!r} cannot be read: it ends too early")
        part = self.text[self.at : self.at + 40]
        return self.problem(self.at, f"{part!r} is not part of the language of kernels")

    def whole(self) -> object:
        """Return the value of the whole text."""
        value = self.expression()
        if self.kind != "end":
            raise self.unexpected()
        return value

    def expression(self) -> object:
        """Return the value of a sum of products, from left to right."""
        total: object = None
        product = self.signed()
        while self.kind == "sign" and self.token in ("+", "*", "@"):
            at, sign = self.at, self.advance()
            if sign == "+":
                total = product if total is None else self.combine(at, "+", total, product)
                product = self.signed()
            else:
                product = self.combine(at, sign, product, self.signed())
        return product if total is None else self.combine(self.at, "+", total, product)

    def signed(self) -> object:
        """Return the value of a power, with the plus and minus signs in front of it."""
        begin, minus = self.at, False
        while self.kind == "sign" and self.token in ("+", "-"):
            minus ^= self.advance() == "-"
        has_sign = self.at > begin
        value = self.operand()
        if self.kind == "sign" and self.token == "**":
            at, sign = self.at, self.advance()
            self.enter(at)
            value = self.combine(at, sign, value, self.signed())
            self.brackets -= 1
        if not has_sign:
            return value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.problem(begin, "a sign is for numbers")
        return -value if minus else value

    def operand(self) -> object:
        """Return the value of a number, a text, a name, a call, or of brackets, with all `.on(...)` that follow."""
        at, kind = self.at, self.kind
        value: object
        if kind in ("number", "text"):
            value = self.literal()
        elif kind == "name":
            value = self.named_value()
        elif self.take("("):
            items, _, comma = self.items(")", at)
            value = items[0] if len(items) == 1 and not comma else tuple(items)  # (1) is a number, (1,) is a tuple
        elif self.take("["):
            value = self.items("]", at)[0]
        else:
            raise self.unexpected()
        while self.kind == "sign" and self.token in (".", "("):
            if not self.take(".") or self.token != "on":
                raise self.unexpected()
            self.advance()
            if not self.take("("):
                raise self.unexpected()
            if not isinstance(value, Kernel):
                raise self.problem(at, ".on() is for kernels")
            args, named, _ = self.items(")", at, call=True)
            if len(args) != 1 or named:
                raise self.problem(at, ".on() takes one list of columns")
            value = self.call(at, value.on, [self.indices(at, args[0])], {})
        return value

    def literal(self) -> object:
        """Return a number or a text."""
        at, token = self.at, self.advance()
        try:
            value: object = ast.literal_eval(token)
            return value
        except (SyntaxError, ValueError, MemoryError) as error:
            reason = getattr(error, "msg", error)
            raise ValueError(f"text: {token[:60]!r} cannot be read (character {at + 1}): {reason}") from None

    def named_value(self) -> object:
        """Return the value of a name, or of a call."""
        if iskeyword(self.token) and self.token not in _WORDS:
            raise self.unexpected()
        at, name = self.at, self.advance()
        if name in _WORDS:
            return _WORDS[name]
        called = self.kind == "sign" and self.token == "("
        if name in self.arrays and not called:
            return self.arrays[name]
        what = float if name == "float" else self.known(at, name)
        args, named, _ = self.items(")", at, call=True) if self.take("(") else ([], {}, False)
        if what is not float:
            return self.call(at, what, args, named)
        if args != ["inf"] or named:
            raise self.problem(at, "float is for 'inf'")
        return np.inf

    def items(self, close: str, at: int, *, call: bool = False) -> tuple[list[object], dict[str, object], bool]:
        """Parse up to the closing bracket; return the values, the keyword arguments, and whether a comma is last."""
        self.enter(at)
        values: list[object] = []
        named: dict[str, object] = {}
        comma = False
        while not self.take(close):
            if (values or named) and not comma:
                raise self.unexpected()
            keyword = _KEYWORD.match(self.text, self.at) if call and self.kind == "name" else None
            if keyword:
                if keyword[1] in named:
                    raise self.problem(self.at, f"{keyword[1]} is there twice")
                self.advance()
                self.advance()
                named[keyword[1]] = self.expression()
            elif named:
                raise self.problem(self.at, "an argument without a name follows one with a name")
            else:
                values.append(self.expression())
            comma = self.take(",")
        self.brackets -= 1
        return values, named, comma

    def enter(self, at: int) -> None:
        """Count an opening bracket, or the exponent of a power, as one more level of nesting."""
        self.brackets += 1
        if self.brackets > _DEEPEST:
            raise self.problem(at, f"{self.text[:60]!r} is too deeply nested: brackets can be {_DEEPEST} deep")

    def known(self, at: int, name: str) -> Callable[..., object]:
        """Return the class of kernels or of priors that has this name."""
        if name in self.all_names:
            return self.all_names[name]
        by_lower = {candidate.lower(): candidate for candidate in self.all_names}
        close = get_close_matches(name.lower(), by_lower, 1, 0.6)
        hint = f"did you mean {by_lower[close[0]]}?" if close else f"there are {', '.join(sorted(self.names))}"
        raise self.problem(at, f"there is no kernel {name!r}", f"; {hint}")

    def call(self, at: int, function: Callable[..., object], args: list[object], named: dict[str, object]) -> object:
        """Return function(*args, **named), for a class of kernels, `Parameter`, a prior, or a method of a kernel."""
        function_signature = signature(function)
        try:
            arguments = function_signature.bind(*args, **named).arguments
        except TypeError as error:
            raise self.problem(
                at, f"{function.__name__}: {error}; its arguments are {', '.join(function_signature.parameters) or 'none'}"
            ) from None
        if self.automatic and isinstance(function, type) and issubclass(function, Leaf):
            unset = [name for name in function._hyper if name not in arguments and name not in function._may_be_none]
            named = named | dict.fromkeys(unset, "auto")
        return function(*args, **named)

    def indices(self, at: int, columns: object) -> object:
        """Return columns with each name replaced by the indices that it stands for."""
        if self.columns is None or not isinstance(columns, list | tuple):
            return columns
        numbers: list[object] = []
        for column in columns:
            if isinstance(column, str) and column not in self.columns:
                close = get_close_matches(column, self.columns, 1, 0.6)
                hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(self.columns)}"
                raise self.problem(at, f"there is no column {column!r}", f"; {hint}")
            numbers += self.columns[column] if isinstance(column, str) else [column]
        return numbers

    def combine(self, at: int, sign: str, left: object, right: object) -> Kernel:
        """Return the kernel ``left sign right``, of which at least one is a kernel and the other may be a number."""
        if (
            not isinstance(left, Kernel | int | float)
            or not isinstance(right, Kernel | int | float)
            or isinstance(left, bool)
            or isinstance(right, bool)
            or not (isinstance(left, Kernel) or isinstance(right, Kernel))
        ):
            raise self.problem(at, "an operation is for kernels, and for kernels and numbers")
        if sign == "@":
            if not (isinstance(left, Kernel) and isinstance(right, Kernel)):
                raise self.problem(at, "@ is for two kernels")
            return left @ right
        if sign == "**":
            if not isinstance(left, Kernel) or isinstance(right, Kernel):
                raise self.problem(at, "** is for a kernel and a number")
            return left**right
        if isinstance(left, Kernel):
            return left + right if sign == "+" else left * right
        assert isinstance(right, Kernel)
        return left + right if sign == "+" else left * right


def _classes() -> dict[str, type[Kernel]]:
    """Return the classes of kernels that expressions can name."""
    from kernsel import kernels

    return {
        name: value
        for name in kernels.__all__
        if isinstance(value := getattr(kernels, name), type) and issubclass(value, Kernel) and value is not Kernel
    }
