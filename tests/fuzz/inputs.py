"""Small graphs, parameters and files: all that is permitted, and some that is not."""

import math
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np

# What callers pass by mistake, whatever the parameter.
ODDITIES = (
    None, "0.5", "", b"1", True, [], {}, (), object(), 1j, math.nan, math.inf, -math.inf, 0, 0.0, -0.0, -1, -0.5, 1,
    1.0, 2, 10**400, -(10**400), 2**63, 2**64, 5e-324, 1e-310, 1e308, np.float32(0.5), np.float64("nan"), np.int8(1),
    np.uint64(2**64 - 1), np.longdouble("1e4000"), np.float16(0.1), Fraction(1, 3), Decimal("0.3"), np.array(0.5),
    np.array([0.5]), np.array([1, 2]),
)  # fmt: skip
# What tends to trip readers of tables.
FRAGMENTS = (
    b",", b"\t", b";", b"|", b" ", b"\n", b"\r", b"\r\n", b"\x00", b'"', b'""', b"'", b"#", b"%", b"\xff", b"\x1a",
    b"\xef\xbb\xbf", b"nan", b"inf", b"null", b"-1", b"0", b"007", b"1_0", b"2147483647", b"9223372036854775808",
    b"1e400", b"1e-150", b"9" * 600, b"9" * 5000, b"\xc3\xa9", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"{}", b"[" * 2000,
    b"weight", b"source,target", b"PAR1", b"\x1f\x8b", b"BZh", b"1 2\n" * 40, b"a" * 300,
)  # fmt: skip
NAMES = (
    lambda i, n: i,
    lambda i, n: f"node {i}",
    lambda i, n: n - i,
    lambda i, n: (i, "a"),
    lambda i, n: i + 2**32,
    lambda i, n: i / 4,
    lambda i, n: frozenset([i]),
)


def parameter(draw, usual, oddities=ODDITIES):
    """Mostly what `usual` gives; now and then something that callers pass by mistake."""
    return draw.choice(oddities) if draw.chance(0.04) else usual()


def fraction(draw):
    """A number between 0 and 1: close to 0 or to 1, as close as is permitted and closer."""
    kind = draw.below(8)
    if kind < 4:
        return 0.02 + 0.96 * draw.unit()
    small = draw.log_uniform(-14, -0.3)
    return small if kind < 6 else 1.0 - small


def weights_of(draw):
    """A function that draws weights of one kind."""
    kind = draw.below(9)
    if kind < 3:
        return lambda: 1
    if kind == 3:
        return lambda: draw.between(1, 9)
    if kind == 4:
        return lambda: 0.01 + 10.0 * draw.unit()
    if kind == 5:
        return lambda: draw.log_uniform(-6, 6)
    if kind == 6:
        return lambda: draw.log_uniform(-100, 100)
    if kind == 7:
        scale = draw.log_uniform(-100, 100)
        return lambda: min(scale * (0.1 + draw.unit()), 1e100)
    return lambda: np.float32(draw.log_uniform(-20, 20))


def edges(draw, n, directed):
    """Pairs of rows: a star, a path, a cycle, a clique, several parts, or any."""
    kind = draw.below(8)
    if kind == 0:
        pairs = [(0, v) for v in range(1, n)]
    elif kind == 1:
        pairs = [(u, u + 1) for u in range(n - 1)]
    elif kind == 2:
        pairs = [(u, (u + 1) % n) for u in range(n)] if n > 2 else []
    elif kind == 3:
        pairs = [(u, v) for u in range(min(n, 7)) for v in range(u)]
    elif kind == 4:
        half = n // 2
        pairs = [(u, v) for u in range(half) for v in range(u)] + [(u, u + 1) for u in range(half, n - 1)]
    else:
        pairs = [(draw.below(n), draw.below(n)) for _ in range(draw.below(3 * n + 1))]
    if draw.chance(0.3):
        pairs += [(u, u) for u in draw.some(range(n))]
    if directed:
        pairs = [(v, u) if draw.chance(0.5) else (u, v) for u, v in pairs]
    return pairs


def graph(draw, *, directed=False, max_nodes=9):
    """An nx.Graph or nx.DiGraph with self-loops, isolated nodes, several components or one node."""
    n = draw.between(1, max_nodes)
    name = draw.choice(NAMES) if draw.chance(0.3) else NAMES[0]
    names = [name(i, n) for i in range(n)]
    weight = weights_of(draw)
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_nodes_from(names)
    for u, v in edges(draw, n, directed):
        value = weight()
        if type(value) is int and value == 1:
            G.add_edge(names[u], names[v])
        else:
            G.add_edge(names[u], names[v], weight=value)
    return G


def node(draw, G):
    """A node of the graph; now and then something else."""
    return parameter(draw, lambda: draw.choice(list(G)), ("no such node", None, -1, 1e9, [0], math.nan, 10**400))


def mutated(draw, content, changes):
    """The bytes of a file, after so many changes: fragments put in, bytes replaced, left out or repeated."""
    content = bytearray(content)
    for _ in range(changes):
        at = draw.below(len(content) + 1)
        kind = draw.below(6)
        if kind < 2:
            content[at:at] = draw.choice(FRAGMENTS)
        elif kind == 2:
            content[at : at + 1] = bytes([draw.below(256)])
        elif kind == 3:
            del content[at : at + draw.between(1, 8)]
        elif kind == 4:
            content[at:at] = content[: draw.below(20)]
        else:
            content[at:at] = draw.rest(16)
    return bytes(content)


def text_of(G):
    """A graph as the Python code that makes it again."""
    if not isinstance(G, nx.Graph):
        return repr(G)
    return f"{type(G).__name__}: nodes {list(G)!r}, edges {list(G.edges(data=True))!r}"
