"""Events of a replay: what each kind holds, and dicts and tuples -> events that were checked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np

from nx_fastonl._lib.checks import as_float, shortened
from nx_fastonl._lib.limits import allowed_weights, weight_range
from nx_fastonl._lib.plain import is_missing
from nx_fastonl.graph.edgebunch import checked_node, checked_time
from nx_fastonl.labeling.labels import checked_label

__all__ = ["FIELDS", "Event", "event_of"]

# What messages and tables call the parts of an event.
FIELDS = ("event", "u", "v", "node", "label", "weight", "time")
# The fields of each kind after its name, in the order of a tuple. Those in `OPTIONAL` may be left out.
KINDS = {
    "edge": ("u", "v", "weight", "time"),
    "remove-edge": ("u", "v", "time"),
    "node": ("node", "time"),
    "remove-node": ("node", "time"),
    "label": ("node", "label", "time"),
    "question": ("node", "time"),
    "arrival": ("node", "label", "time"),
    "time": ("time",),
}
OPTIONAL = {kind: {"weight", "time"} if kind != "time" else set() for kind in KINDS}
NODES = ("u", "v", "node")


class Event(NamedTuple):
    """One event. Fields that its kind does not have are None, as are those that were left out."""

    kind: str
    u: Hashable = None
    v: Hashable = None
    node: Hashable = None
    label: Hashable = None
    weight: float | None = None
    time: float | None = None


def event_of(item: Any, *, directed: bool) -> Event:
    """The event that a dict or a tuple means, of a directed graph or not; an error that says what is wrong with it."""
    if isinstance(item, tuple | list) and item:
        kind = item[0]
        given: Mapping[str, Any] = dict(zip(_fields_of(kind), item[1:], strict=False))
        if len(item) - 1 > len(KINDS[kind]):
            _refuse(kind, f"has {len(item) - 1} values after its name")
        return _checked(kind, given, directed)
    if isinstance(item, Mapping):
        return _checked(item.get("event"), item, directed)
    raise TypeError(
        'an event must be a dict such as {"event": "edge", "u": 1, "v": 2}, or a tuple such as ("edge", 1, 2), '
        f"got {shortened(item)}"
    )


def _fields_of(kind: Any) -> tuple[str, ...]:
    fields = KINDS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        known = ", ".join(f'"{name}"' for name in KINDS)
        if kind is None:
            raise ValueError(f"no event is named; event must be one of {known}")
        raise ValueError(f"unknown event {shortened(kind)}; expected one of {known}")
    return fields


def _checked(kind: Any, given: Mapping[str, Any], directed: bool) -> Event:
    fields = _fields_of(kind)
    found: dict[str, Any] = {}
    for name, value in given.items():
        if value is None or name == "event":
            continue
        if name not in fields:
            _refuse(kind, f"has no {shortened(name)}")
        if name == "weight":
            found[name] = _weight(value, directed)
        elif name == "time":
            found[name] = checked_time(value)
        elif name == "label":
            found[name] = checked_label(given.get("node"), value) if not is_missing(value) else None
        else:
            found[name] = checked_node(value)
    for name in fields:
        if found.get(name) is None and name not in OPTIONAL[kind]:
            _refuse(kind, f"lacks {name}")
    return Event(kind, **found)


def _refuse(kind: str, problem: str) -> NoReturn:
    optional = OPTIONAL[kind]
    expected = ", ".join(f"{name} (optional)" if name in optional else name for name in KINDS[kind])
    raise ValueError(f'the event "{kind}" {problem}; it takes {expected}')


def _weight(value: Any, directed: bool) -> float:
    smallest, largest = weight_range(directed)
    try:
        found = np.nan if isinstance(value, str | bool) else as_float(value)
    except (TypeError, ValueError):
        found = np.nan
    if not smallest <= found <= largest:
        raise ValueError(
            f'the weight must be {allowed_weights(directed)}, got {shortened(value)}; "remove-edge" removes an edge'
        )
    return found
