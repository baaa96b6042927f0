"""What a caller gives as a seed."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from nx_fastonl._lib.checks import shortened


def as_seed(seed: Any) -> int:
    """A seed as a whole number: that which is given, or a random one."""
    if seed is None or isinstance(seed, np.random.Generator):
        return int(np.random.default_rng(seed).integers(2**63))
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise TypeError(f"seed must be a whole number, a numpy Generator or None, got {shortened(seed)}")
    if int(seed) < 0:
        raise ValueError(f"seed must be at least 0, got {shortened(seed)}")
    return int(seed)
