"""The paper's Table 1: from the name of a kernel and its parameters to its form. It knows nothing of graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypedDict

from numpy.typing import ArrayLike

from nx_fastonl._lib.checks import check_at_least_zero, check_between, check_strictly_between, shortened
from nx_fastonl._lib.limits import SMOOTHNESS_RANGE, WEIGHT_RANGE

DEFAULT_SMOOTHNESS = 0.15


class KernelParameters(TypedDict, total=False):
    """The parameters of a kernel beside `smoothness`; see `kernel_column`."""

    lam: float | None
    beta: float | None
    b: float | None
    S: Mapping[Hashable, float] | ArrayLike | None


class Parameters(NamedTuple):
    n: int
    lam: float
    smoothness: float  # lam / n
    beta: float
    b: float


class Form(NamedTuple):
    """``M = a diag(s) inv(diag(c) + L) diag(s) - g`` with ``c = shift + slope * S`` and ``s = sqrt(S)``."""

    a: float
    shift: float
    slope: float
    g: float = 0.0
    isolated: float = 0.0  # K^-1 at a node without edges, where S = D


@dataclass(frozen=True)
class Recipe:
    """An entry of the table: which S, which parameters, and the form that they give."""

    alias: str
    diagonal: Literal["ones", "degrees", "any"]
    form: Callable[[Parameters], Form]
    takes: tuple[str, ...] = ()
    default_beta: Callable[[float], float] = lambda smoothness: smoothness


def _augmented(p: Parameters) -> Form:
    al = p.beta + p.smoothness
    return Form(a=2 * p.lam, shift=0.0, slope=al, g=2 * p.lam * p.b / (al * (al + p.n * p.b)))


KERNELS = {
    # K^-1 = L
    "laplacian": Recipe("K1", "ones", lambda p: Form(2 * p.lam, 0.0, p.smoothness)),
    # K^-1 = D^-1/2 L D^-1/2
    "normalized-laplacian": Recipe("K2", "degrees", lambda p: Form(2 * p.lam, 0.0, p.smoothness)),
    # K^-1 = I - beta D^-1/2 W D^-1/2
    "normalized-adjacency": Recipe(
        "K3",
        "degrees",
        # fsum rounds once: beta may be so close to 1 + smoothness that few digits are left of the difference.
        lambda p: Form(2 * p.lam / p.beta, 0.0, math.fsum((1.0, p.smoothness, -p.beta)) / p.beta, isolated=1.0),
        ("beta",),
    ),
    # K^-1 = beta I + S^-1/2 L S^-1/2
    "scaled-laplacian": Recipe(
        "K4",
        "any",
        lambda p: Form(2 * p.lam, 0.0, p.beta + p.smoothness, isolated=p.beta),
        ("beta", "S"),
        lambda smoothness: 1.0 - smoothness,
    ),
    # K^-1 = S^-1/2 (beta I + L) S^-1/2
    "scaled-regularized": Recipe("K5", "any", lambda p: Form(2 * p.lam, p.beta, p.smoothness), ("beta", "S")),
    # K^-1 = L + b 11^T + beta I
    "augmented-laplacian": Recipe("K6", "ones", _augmented, ("beta", "b")),
}
ALIASES = {recipe.alias: name for name, recipe in KERNELS.items()}


def full_name(name: str) -> str:
    full = ALIASES.get(name, name) if isinstance(name, str) else None
    if full not in KERNELS:
        names = ", ".join(f'"{known}" ({recipe.alias})' for known, recipe in KERNELS.items())
        raise ValueError(f"unknown kernel {shortened(name)}; the kernels are {names}")
    return full


def checked_parameters(n: int, name: str, smoothness: float | None, parameters: KernelParameters) -> Parameters:
    """The parameters of a kernel on n nodes, defaults filled in; raises for those that are not its own."""
    recipe = KERNELS[name]
    for parameter, value in parameters.items():
        if parameter not in KernelParameters.__annotations__:
            known = ", ".join(KernelParameters.__annotations__)
            raise TypeError(f"there is no parameter {shortened(parameter)}; kernels have {known}")
        if value is not None and parameter not in ("lam", *recipe.takes):
            takes = " and ".join(recipe.takes) or "neither beta, b nor S"
            raise TypeError(f"kernel {name!r} takes {takes}; it has no parameter {parameter}")
    lam, beta, b = parameters.get("lam"), parameters.get("beta"), parameters.get("b")
    if lam is not None and smoothness is not None:
        raise ValueError(
            f"smoothness is lam / n: give one of them, got smoothness={shortened(smoothness)} and lam={shortened(lam)}"
        )
    smallest, largest = SMOOTHNESS_RANGE
    if lam is not None:
        check_between("lam", lam, smallest * n, largest * n)
        lam = float(lam)
        smoothness = lam / n
    elif smoothness is not None:
        check_between("smoothness", smoothness, smallest, largest)
        smoothness = float(smoothness)
    else:
        smoothness = DEFAULT_SMOOTHNESS
    if beta is None:
        beta = recipe.default_beta(smoothness)
        if beta < 0.0:
            raise ValueError(
                f"kernel {name!r} has beta = 1 - smoothness by default, which is negative for smoothness = "
                f"{smoothness:g}; pass a beta of at least 0"
            )
    elif name == "normalized-adjacency":
        check_strictly_between("beta", beta, 0.0, 1.0 + smoothness)
    else:
        check_at_least_zero("beta", beta)
        beta = beta if beta >= WEIGHT_RANGE[0] else 0.0  # the inverse of a smaller number may overflow
    if b is None:
        b = 1.0 / n
    check_at_least_zero("b", b)
    return Parameters(n, smoothness * n if lam is None else lam, smoothness, float(beta), float(b))
