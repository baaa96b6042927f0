"""Nodes whose own code raises: at the k-th call of `__hash__` or `__eq__`, counted over all of them, or from it on."""

from itertools import count


class Broken(Exception):  # noqa: N818  raised by a node, not by the package
    """What a node raises."""


class Fuse:
    """Counts the calls of nodes' own code, and raises at the one with number `at`, or with `lasting` from it on."""

    def __init__(self):
        self.arm(0)

    def arm(self, at, *, lasting=False, error=Broken):
        """With 0, nothing is raised."""
        self.n_calls, self.at, self.lasting, self.error = 0, at, lasting, error

    def call(self):
        self.n_calls += 1
        if self.n_calls == self.at or (self.lasting and self.has_blown):
            raise self.error(f"call {self.n_calls}")

    @property
    def has_blown(self):
        return 0 < self.at <= self.n_calls


class HostileNode:
    """A node that equals others of its name. Few different hashes: look-ups compare nodes that are not equal."""

    def __init__(self, name, fuse, n_hashes=2):
        self.name, self._fuse, self._n_hashes = name, fuse, n_hashes

    def __hash__(self):
        self._fuse.call()
        return self.name % self._n_hashes

    def __eq__(self, other):
        self._fuse.call()
        return isinstance(other, HostileNode) and self.name == other.name

    def __repr__(self):
        return f"<{self.name}>"


def each_call(attempt):
    """Call ``attempt(k)`` for k = 1, 2, ... as long as it says that the fuse has blown; returns the last k."""
    return next(k for k in count(1) if not attempt(k))
