"""Small data for examples: strings and clouds that are generated, and molecules as graphs with their boiling points."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from numbers import Integral, Real
from typing import Literal

import numpy as np
from numpy.random import RandomState
from sklearn.utils import check_random_state

from kernsel._base.annotations import Indices, Matrix, Seed, Vector

__all__ = ["Molecules", "gaussian_clouds", "molecule", "molecules", "promoters"]

_BOXES = ("TTGACA", "TATAAT")  # the conserved words of a bacterial promoter
_GAPS = {15: 0.1, 16: 0.2, 17: 0.4, 18: 0.2, 19: 0.1}  # probabilities of the number of letters between the boxes
_AFTER = {5: 0.2, 6: 0.3, 7: 0.3, 8: 0.2}  # and of the number between the second box and the start of transcription
_ATOM = r"Cl|Br|[BCNOPSFIbcnops]"


def promoters(
    n_strings: int = 200, *, length: int = 57, conserved: float = 0.9, random_state: Seed = None
) -> tuple[list[str], Indices]:
    """Generate strings of A, C, G and T, of which half resemble promoters of bacteria.

    A promoter is a string of independent letters, A and T of probability 0.3, C and G of 0.2, in which two boxes are written:
    TTGACA and TATAAT, of which each letter is as it should be with the probability `conserved`, and otherwise one of the three
    others. Between the boxes are 15 to 19 letters, 17 mostly; 5 to 8 letters after the second, transcription starts, at the
    seventh letter from the end. The other strings have independent letters with the frequencies that the promoters have, and so
    boxes by chance only. In real promoters of Escherichia coli, letters are conserved with probabilities between 0.45 and 0.96,
    about 0.7 on average; kernels that compare words anywhere in the strings do not find them in some hundred strings.

    Parameters
    ----------
    n_strings : int
    length : int
        From 46 on, which leaves room for the boxes.
    conserved : float
        From 0 to 1.
    random_state : int, RandomState or None

    Returns
    -------
    strings : list of str
    labels : ndarray of shape (n_strings,)
        1 for promoters, 0 for others, in random order.

    Examples
    --------
    >>> from kernsel.structured.data import promoters
    >>> strings, labels = promoters(4, random_state=0)
    >>> {len(s) for s in strings}, sorted(labels.tolist()), set("".join(strings)) <= set("ACGT")
    ({57}, [0, 0, 1, 1], True)
    """
    _check_count("n_strings", n_strings, 1)
    _check_count("length", length, 7 + max(_AFTER) + 12 + max(_GAPS))
    if isinstance(conserved, bool) or not isinstance(conserved, Real) or not 0 <= conserved <= 1:
        raise ValueError(f"conserved: expected a probability, got {conserved!r}")
    rng = check_random_state(random_state)
    labels = rng.permutation(np.arange(n_strings) % 2)
    background = np.array([0.3, 0.2, 0.2, 0.3])
    positives = [_promoter(length, float(conserved), background, rng) for _ in range(int(labels.sum()))]
    counts = np.array([sum(s.count(letter) for s in positives) for letter in "ACGT"], dtype=np.float64)
    frequencies = counts / counts.sum() if positives else background
    negatives = ["".join(rng.choice(list("ACGT"), length, p=frequencies)) for _ in range(int(n_strings - labels.sum()))]
    return [(positives if label else negatives).pop() for label in labels], labels


def _promoter(length: int, conserved: float, background: Vector, rng: RandomState) -> str:
    letters = rng.choice(list("ACGT"), length, p=background)
    after, gap = (rng.choice(list(spread), p=list(spread.values())) for spread in (_AFTER, _GAPS))
    second = length - 7 - after - 6
    for begin, box in zip((second - gap - 6, second), _BOXES, strict=True):
        for at, letter in enumerate(box, begin):
            letters[at] = letter if rng.uniform() < conserved else rng.choice([other for other in "ACGT" if other != letter])
    return "".join(letters)


def gaussian_clouds(
    n_clouds: int = 100,
    *,
    n_points: int = 50,
    n_features: int = 2,
    parameter: Literal["correlation", "scale"] = "correlation",
    random_state: Seed = None,
) -> tuple[list[Matrix], Vector]:
    """Generate clouds of points, each drawn from a normal distribution of which one parameter is to be learned.

    The mean of each cloud is drawn from a standard normal distribution, independently of the parameter. All columns have the
    standard deviation s, and all pairs of columns the correlation r: ::

        correlation    r uniform between -0.9 / (d - 1) and 0.9, s = 1
        scale          s uniform between 0.5 and 2, r = 0

    Parameters
    ----------
    n_clouds, n_points : int
    n_features : int
        d, from 2 on for "correlation".
    parameter : {"correlation", "scale"}
    random_state : int, RandomState or None

    Returns
    -------
    clouds : list of ndarray of shape (n_points, n_features)
    values : ndarray of shape (n_clouds,)
        The parameter of each.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.structured.data import gaussian_clouds
    >>> clouds, r = gaussian_clouds(20, n_points=1000, random_state=0)
    >>> bool(max(abs(np.corrcoef(cloud.T)[0, 1] - value) for cloud, value in zip(clouds, r)) < 0.1)
    True
    """
    if parameter not in ("correlation", "scale"):
        raise ValueError(f'parameter: expected "correlation" or "scale", got {parameter!r}')
    _check_count("n_clouds", n_clouds, 1)
    _check_count("n_points", n_points, 1)
    _check_count("n_features", n_features, 2 if parameter == "correlation" else 1)
    rng = check_random_state(random_state)
    low, high = (-0.9 / (n_features - 1), 0.9) if parameter == "correlation" else (0.5, 2.0)
    values = rng.uniform(low, high, size=n_clouds)
    clouds = []
    for value in values:
        correlation, deviation = (value, 1.0) if parameter == "correlation" else (0.0, value)
        root = np.linalg.cholesky((1 - correlation) * np.eye(n_features) + correlation)
        clouds.append(rng.standard_normal(n_features) + deviation * rng.standard_normal((n_points, n_features)) @ root.T)
    return clouds, values


def _check_count(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name}: expected a whole number from {least} on, got {value!r}")


@dataclass(frozen=True)
class Molecules:
    """Molecules as graphs, with their boiling points, as :func:`molecules` returns them.

    Attributes
    ----------
    graphs : list of pairs (edges, labels)
        The nodes are the atoms but hydrogen, their labels the symbols of the elements; edges are triples whose label is the
        bond, "-", "=", "#" or ":" (aromatic).
    boiling_points : ndarray of shape (n,)
        In degrees Celsius, at one atmosphere.
    names, formulas : list of str
    """

    graphs: list[tuple[list[tuple[int, int, str]], list[str]]]
    boiling_points: Vector
    names: list[str]
    formulas: list[str]


def molecules() -> Molecules:
    """Return small organic molecules as graphs, with their boiling points.

    There are 118 molecules, of one to ten atoms without hydrogen: alkanes, alkenes, aromatics, alcohols, ethers, aldehydes,
    ketones, acids, esters, amines, nitriles, halides and sulfides. The boiling points are facts that the CRC Handbook of
    Chemistry and Physics, Lange's Handbook of Chemistry and the NIST Chemistry WebBook tabulate. They were written down for
    this module, and then compared with a public transcription of the first: all agree to half a degree, but for
    tetrahydrofuran, where the transcription has 65 and the other sources have 66.

    Returns
    -------
    molecules : Molecules

    Examples
    --------
    >>> from kernsel.structured.data import molecules
    >>> found = molecules()
    >>> i = found.names.index("acetic acid")
    >>> found.formulas[i], float(found.boiling_points[i]), found.graphs[i]
    ('C2H4O2', 117.9, ([(0, 1, '-'), (1, 2, '='), (1, 3, '-')], ['C', 'C', 'O', 'O']))
    """
    lines = files("kernsel.structured").joinpath("molecules.txt").read_text(encoding="utf-8").splitlines()
    names, structures, formulas, boiling_points = zip(*[line.split("|") for line in lines if line[0] != "#"], strict=True)
    graphs = [molecule(structure) for structure in structures]
    return Molecules(graphs, np.array([float(text) for text in boiling_points]), list(names), list(formulas))


def molecule(text: str) -> tuple[list[tuple[int, int, str]], list[str]]:
    """Return the graph of a molecule that is written in a subset of the notation SMILES.

    Atoms are B, C, N, O, P, S, F, Cl, Br and I, or b, c, n, o, p and s where they are aromatic. Bonds are "-", "=", "#" and
    ":"; by default, ":" between aromatic atoms, and "-" between others. A branch is in parentheses, and a digit opens a ring
    and closes it. Hydrogen is left out.

    Parameters
    ----------
    text : str

    Returns
    -------
    edges : list of triples (int, int, str)
    labels : list of str

    Examples
    --------
    >>> from kernsel.structured.data import molecule
    >>> molecule("C1CC1=O")
    ([(0, 1, '-'), (1, 2, '-'), (2, 0, '-'), (2, 3, '=')], ['C', 'C', 'C', 'O'])
    """
    tokens = re.findall(rf"{_ATOM}|.", text, re.S)
    edges: list[tuple[int, int, str]] = []
    atoms: list[str] = []
    branches: list[int] = []
    rings: dict[str, tuple[int, str]] = {}
    last, bond = -1, ""

    def bond_of(u: int, v: int, symbol: str) -> str:
        return symbol or (":" if atoms[u].islower() and atoms[v].islower() else "-")

    for at, token in enumerate(tokens, 1):
        if re.fullmatch(_ATOM, token):
            atoms.append(token)
            if last >= 0:
                edges.append((last, len(atoms) - 1, bond_of(last, len(atoms) - 1, bond)))
            last, bond = len(atoms) - 1, ""
        elif last < 0 or (bond and not token.isdigit()):
            raise ValueError(f"text: expected a molecule as described, got {token!r} as symbol {at} of {text!r}")
        elif token == "(":
            branches.append(last)
        elif token == ")" and branches:
            last = branches.pop()
        elif token in "-=#:":
            bond = token
        elif token.isdigit() and token in rings:
            other, opening_bond = rings.pop(token)
            edges.append((last, other, bond_of(last, other, bond or opening_bond)))
            bond = ""
        elif token.isdigit():
            rings[token] = (last, bond)
            bond = ""
        else:
            raise ValueError(f"text: expected a molecule as described, got {token!r} as symbol {at} of {text!r}")
    if not atoms or branches or rings or bond:
        raise ValueError(f"text: expected a molecule whose branches, rings and bonds all end, got {text!r}")
    return edges, [atom.capitalize() for atom in atoms]
