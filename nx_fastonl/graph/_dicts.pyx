"""NetworkX's dicts to arrays, and arrays to dicts: the compiled half of rows.py."""

from cpython.dict cimport PyDict_GetItemWithError, PyDict_SetItem, PyDict_Size
from cpython.float cimport PyFloat_AsDouble, PyFloat_CheckExact, PyFloat_AS_DOUBLE
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.stdint cimport int64_t

import numpy as np

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.limits import WEIGHT_RANGE as _WEIGHT_RANGE, allowed_weights

from nx_fastonl._lib.typedefs cimport node_t

cdef double SMALLEST = _WEIGHT_RANGE[0]
cdef double LARGEST = _WEIGHT_RANGE[1]


cdef bint counts_from_zero(list nodes) noexcept:
    cdef Py_ssize_t i
    for i in range(len(nodes)):
        if type(nodes[i]) is not int or nodes[i] != i:
            return False
    return True


cdef double weight_of(object data, object weight, object u, object v) except -1.0:
    """The weight that an edge's attribute dict gives, 1 where it gives none."""
    cdef double value
    if type(data) is dict:
        if PyDict_Size(data) == 0:
            return 1.0
        found = PyDict_GetItemWithError(data, weight)
        if found is NULL:
            return 1.0
        given = <object> found
    else:
        given = data.get(weight, 1)
    if PyFloat_CheckExact(given):
        value = PyFloat_AS_DOUBLE(given)
    elif isinstance(given, np.complexfloating):  # which would lose its imaginary part with a warning
        value = -1.0
    else:
        try:
            value = PyFloat_AsDouble(given)
        except (TypeError, ValueError, OverflowError):
            value = -1.0
    if value != 0.0 and not (SMALLEST <= value <= LARGEST):
        raise ValueError(
            f"edge ({shortened(u)}, {shortened(v)}) has {weight!s} {shortened(given)}; a weight must be "
            + allowed_weights(False, or_zero=True)
        )
    return value


cdef double parallel_weight(object edges, object weight, object u, object v) except -1.0:
    """The total weight of the parallel edges between two nodes of a multigraph."""
    cdef double total = 0.0
    if weight is None:
        return len(edges)
    for data in edges.values():
        total += weight_of(data, weight, u, v)
    return total


def arrays_from_adjacency(adjacency, weight, bint multigraph):
    """Walk NetworkX's dict of dicts once; return nodes, indptr, indices and weights (None if all are 1).

    `nodes` is a range where the nodes are 0, 1, 2, ... in order. Edges of weight 0 are left out.
    """
    cdef list nodes = list(adjacency)
    cdef Py_ssize_t size = 0, e = 0, row = 0, column, n = len(nodes)
    cdef int overflow
    cdef bint counted = counts_from_zero(nodes), weighted = False
    cdef dict index = None if counted else {node: i for i, node in enumerate(nodes)}
    cdef double value
    for neighbours in adjacency.values():
        size += len(neighbours)
    indptr = np.zeros(len(nodes) + 1, dtype=np.int64)
    indices = np.empty(size, dtype=np.int32)
    weights = np.empty(0)
    cdef int64_t[::1] indptr_out = indptr
    cdef node_t[::1] indices_out = indices
    cdef double[::1] weights_out = weights
    for u, neighbours in adjacency.items():
        if row == len(nodes):
            raise RuntimeError("the graph changed while it was converted")
        for v, data in neighbours.items():
            if e == size:
                raise RuntimeError("the graph changed while it was converted")
            if multigraph:
                value = parallel_weight(data, weight, u, v)
            else:
                value = 1.0 if weight is None else weight_of(data, weight, u, v)
            if value == 0.0:
                continue
            if value != 1.0 and not weighted:
                weighted = True
                weights = np.ones(size)
                weights_out = weights
            if counted and type(v) is int:
                column = PyLong_AsLongLongAndOverflow(v, &overflow)  # -1 where it is too large
            else:
                if index is None:
                    index = {node: i for i, node in enumerate(nodes)}
                column = index.get(v, -1)
            if not 0 <= column < n:
                neighbour = f"the neighbour {shortened(v)}, which is not a node of the graph"
                raise ValueError(f"node {shortened(u)} has {neighbour}")
            indices_out[e] = <node_t> column
            if weighted:
                weights_out[e] = value
            e += 1
        row += 1
        indptr_out[row] = e
    if row < len(nodes):
        raise RuntimeError("the graph changed while it was converted")
    return (
        range(len(nodes)) if counted else tuple(nodes),
        indptr,
        indices[:e],
        weights[:e] if weighted else None,
    )


def some_edges(adjacency, bint multigraph, Py_ssize_t max_edges):
    """The attribute dicts of up to `max_edges` edges, spread evenly over all rows, and whether these are all edges."""
    cdef Py_ssize_t size = 0, position = 0, chosen = 0, step = 1
    cdef dict edges = {}
    for neighbours in adjacency.values():
        size += len(neighbours)
    if size > 2 * max_edges:  # an undirected edge stands in two rows
        step = (size + max_edges - 1) // max_edges
    for neighbours in adjacency.values():
        if position + len(neighbours) <= chosen:
            position += len(neighbours)
            continue
        for data in neighbours.values():
            if position == chosen:
                chosen += step
                if multigraph:
                    edges.update((id(each), each) for each in data.values())
                else:
                    edges[id(data)] = data
            position += 1
    found = list(edges.values())
    if len(found) <= max_edges:
        return found, step == 1
    return found[::(len(found) + max_edges - 1) // max_edges], False


cdef object weight_in(object data, object weight):
    """The weight that an edge's attributes give, 1 by default."""
    if type(data) is not dict:
        return data.get(weight, 1)
    found = PyDict_GetItemWithError(data, weight)
    return 1 if found is NULL else <object> found


cdef bint is_plain(object number) noexcept:
    return PyFloat_CheckExact(number) or PyLong_CheckExact(number)


def weights_of(list edges, object weight):
    """The weights that these attribute dicts give now."""
    return [weight_in(data, weight) for data in edges]


def have_weights(list edges, object weight, list values):
    """Whether these attribute dicts still give these weights."""
    cdef Py_ssize_t i
    for i in range(len(edges)):
        given, value = weight_in(edges[i], weight), values[i]
        if given is value:
            continue
        # Only plain numbers are compared. For anything else the graph is converted again, which checks it.
        if not (is_plain(given) and is_plain(value) and given == value):
            return False
    return True


def dict_from_arrays(nodes, const node_t[::1] ids, const double[::1] values, bint zeros=False):
    """{node: value} as Python floats; without those that are zero, unless `zeros` are wanted too."""
    cdef dict result = {}
    cdef Py_ssize_t i
    cdef tuple names
    if hasattr(nodes, "plain"):  # of a graph that changes
        nodes = nodes.plain()
    if type(nodes) is tuple:
        names = nodes
        for i in range(ids.shape[0]):
            if zeros or values[i] != 0.0:
                PyDict_SetItem(result, <object> PyTuple_GET_ITEM(names, ids[i]), values[i])
    elif type(nodes) is range:
        for i in range(ids.shape[0]):
            if zeros or values[i] != 0.0:
                PyDict_SetItem(result, ids[i], values[i])
    else:  # names in arrays
        for i, node in enumerate(nodes.at(np.asarray(ids))):
            if zeros or values[i] != 0.0:
                PyDict_SetItem(result, node, values[i])
    return result
