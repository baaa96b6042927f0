import builtins
import doctest
import inspect
import re
from dataclasses import is_dataclass
from functools import cached_property
from itertools import pairwise

import networkx as nx
import pytest
import sklearn.exceptions

import nx_fastonl as fo
from nx_fastonl.kernels.table import KernelParameters
from nx_fastonl.learners.registry import LabelerOptions
from tests.conftest import dataset

# Those of numpydoc's headings that are used here, in numpydoc's order.
HEADINGS = ["Parameters", "Attributes", "Returns", "Yields", "Raises", "See Also", "Notes", "References", "Examples"]
OF_DISPATCH = {"backend", "backend_kwargs"}  # which NetworkX adds to the signature
# Parameters that are passed on may be described as one, or each by its name.
OPTIONS = {"**parameters": list(KernelParameters.__annotations__), "**options": list(LabelerOptions.__annotations__)}
RAISES_NOTHING = {"nx_fastonl.datasets.load_karate"}


def public_names():
    for module in (fo, fo.datasets, fo.experiments, fo.plotting, fo.sklearn):
        yield module.__name__, module
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value):
                yield f"{module.__name__}.{name}", value
            for member in vars(value) if inspect.isclass(value) else ():
                found = getattr(value, member, None)
                if member.startswith("set_") and member.endswith("_request"):
                    continue  # made by scikit-learn
                if not member.startswith("_") and (callable(found) or isinstance(found, property | cached_property)):
                    yield f"{module.__name__}.{name}.{member}", found


PUBLIC = dict(public_names())


def sections(doc):
    """The lines below each heading."""
    found, heading = {}, None
    for line, below in pairwise([*doc.splitlines(), ""]):
        if re.fullmatch("-{3,}", below):
            heading = line
            assert len(below) == len(heading), f"the line below {heading} is not as long as it"
            assert heading not in found, f"{heading} is there twice"
            found[heading] = []
        elif heading and not re.fullmatch("-{3,}", line):
            found[heading].append(line)
    assert list(found) == [heading for heading in HEADINGS if heading in found], f"wrong names or order: {list(found)}"
    return found


def described(lines):
    """The names that a section describes: lines such as ``a, b : int``, each with something indented below."""
    for line, below in pairwise([*lines, ""]):
        if re.match(r"\S", line):
            assert below.startswith("    "), f"{line!r} has no description"
            yield from line.split(" : ")[0].split(", ")


def parameters_of(function):
    found = inspect.signature(function).parameters
    left_out = {"self", *(OF_DISPATCH if hasattr(function, "orig_func") else ())}
    parameters = [p for p in found.values() if p.name not in left_out]
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [stars.get(p.kind, "") + p.name for p in parameters]


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring_is_complete(name):
    value = PUBLIC[name]
    doc = inspect.getdoc(value)
    assert doc, "no docstring"
    assert doc.split("\n\n")[0].endswith("."), "no sentence at the start"
    found = sections(doc)
    if not callable(value):
        return  # modules and properties: the sentence is enough
    wanted = {"Examples"}
    if inspect.isclass(value):
        fields = [field for field in inspect.get_annotations(value) if not field.startswith("_")]
        assert list(described(found.get("Attributes", []))) == fields, "Attributes are not the fields"
    elif inspect.signature(value).return_annotation not in (None, "None"):
        wanted.add("Returns")
    if not (is_dataclass(value) or hasattr(value, "_fields")):  # which users get, and do not make
        parameters = parameters_of(value)
        one_by_one = [each for parameter in parameters for each in OPTIONS.get(parameter, [parameter])]
        names = list(described(found.get("Parameters", [])))
        assert names in (parameters, one_by_one), "Parameters are not those of the signature"
        if parameters and name not in RAISES_NOTHING:
            wanted.add("Raises")
    assert wanted <= found.keys(), f"missing: {', '.join(sorted(wanted - found.keys()))}"
    for exception in described(found.get("Raises", [])):
        assert issubclass(exception_class(exception), Exception), f"{exception} is no exception"
    assert all("".join(lines).strip() for lines in found.values()), "a section is empty"
    examples = doctest.DocTestParser().get_examples("\n".join(found["Examples"]))
    assert examples, "Examples without an example"
    is_fetched = "fetch_" in name
    assert is_fetched == any(doctest.SKIP in example.options for example in examples), "a skipped example"


def exception_class(name):
    module, _, name = name.rpartition(".")
    return getattr({"": builtins, "networkx": nx, "sklearn.exceptions": sklearn.exceptions}[module], name)


def test_constants_are_described_with_their_module():
    for module in (fo.datasets, fo.experiments):
        for name in module.__all__:
            assert callable(getattr(module, name)) or f"`{name}`" in module.__doc__


@pytest.mark.parametrize(
    "name", [name for name in fo.datasets.DATASETS if "fetch" in fo.datasets.DATASETS[name].__name__]
)
def test_examples_of_what_is_fetched(name):
    """Doctests skip them, as they may need a download; where the files are, they run."""
    dataset(name)
    function = fo.datasets.DATASETS[name]
    example = inspect.getdoc(function).replace("# doctest: +SKIP", "")
    test = doctest.DocTestParser().get_doctest(example, {}, name, None, None)
    assert doctest.DocTestRunner().run(test).failed == 0
