"""The labels that a model has learned, as a read-only mapping that follows the model."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from itertools import islice
from typing import Any, Protocol

__all__ = ["LearnedLabels"]

# With more entries, `repr` shows the first few.
MOST_SHOWN, FEW_SHOWN = 20, 10


class Model(Protocol):
    """What has learned labels. Each answer is of one moment."""

    @property
    def n_learned(self) -> int: ...
    def _label_of(self, node: Any) -> Any:
        """The label that was learned; None if there is none."""

    def _learned_labels(self) -> dict[Any, Any]: ...


class LearnedLabels(Mapping[Any, Any]):
    """``{node: label}`` of what a model has learned by now, in the order in which the nodes were learned.

    Looking up a node and `len` take the same time however many labels there are. Iterators, `keys`, `values`, `items`
    and comparisons are those of a copy, so other threads may learn meanwhile. `copy` is that dict; pickles hold one,
    too, and ``|`` makes one.
    """

    __slots__ = ("_model",)

    def __init__(self, model: Model) -> None:
        self._model = model

    def __getitem__(self, node: Any) -> Any:
        label = self._model._label_of(node)
        if label is None:
            raise KeyError(node)
        return label

    def __contains__(self, node: object) -> bool:
        return self._model._label_of(node) is not None

    def __len__(self) -> int:
        return self._model.n_learned

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    def keys(self) -> KeysView[Any]:
        return self.copy().keys()

    def values(self) -> ValuesView[Any]:
        return self.copy().values()

    def items(self) -> ItemsView[Any, Any]:
        return self.copy().items()

    def copy(self) -> dict[Any, Any]:
        """The labels learned by now, as a dict."""
        return self._model._learned_labels()

    def __or__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        return self.copy() | dict(other) if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        return dict(other) | self.copy() if isinstance(other, Mapping) else NotImplemented

    def __repr__(self) -> str:
        labels = self.copy()
        if len(labels) <= MOST_SHOWN:
            return repr(labels)
        few = ", ".join(f"{node!r}: {label!r}" for node, label in islice(labels.items(), FEW_SHOWN))
        return f"<{len(labels):,} labels: {{{few}, ...}}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.copy(),)
