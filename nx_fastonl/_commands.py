"""The commands of the command line, each with its arguments as they were parsed. See cli.py."""

from __future__ import annotations

import errno
import importlib.metadata
import importlib.util
import io
import os
import platform
import sys
import time
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import nx_fastonl
from nx_fastonl._screen import growing_table, say, say_json, show_frame, show_table, shows_progress, write

if TYPE_CHECKING:
    from nx_fastonl.graph import CSRGraph
    from nx_fastonl.sequence import LabelSequence

MEMBER = 22  # of the karate club, whom the first look is at
EXTENSIONS = ("_convert", "_diffusion", "_fastonl", "_push", "_relaxation", "_tree")
OPTIONAL_PACKAGES = ("joblib", "matplotlib", "pandas", "pooch", "pyarrow", "rich", "scikit-learn", "tqdm")


class UsageError(Exception):
    """Arguments that do not go together."""


def first_look(_: Any) -> None:
    """Print the karate club's ten members closest to one of them, then how well their sides are predicted online."""
    import networkx as nx

    from nx_fastonl.online import online_node_labeling
    from nx_fastonl.pagerank import personalized_pagerank_local

    club = nx.karate_club_graph()
    closest, info = personalized_pagerank_local(club, personalization=MEMBER, top_k=10, full_output=True)
    lines = [f"Zachary's karate club, {len(club)} members: the ten closest to member {MEMBER}", ""]
    longest = max(closest.values())
    for node, value in closest.items():
        lines.append(f"  {node:>3}  {value:.4f}  {'#' * round(40 * value / longest)}")
    certain = "certain" if info.top_k_certain else "not certain"
    lines += ["", f"L1 error at most {info.l1_error:.1e}; these ten are {certain}; {info.operations:,} edges walked"]
    sides = online_node_labeling(club, "club")
    lines += [f"Whose side is each member on, asked one by one? {sides.mistakes} mistakes in {len(sides)}"]
    say("\n".join(lines))


def demo(arguments: Any) -> None:
    """Run every method over the digits; a table that grows, then a picture."""
    import numpy as np

    from nx_fastonl.datasets import load_digits_graph
    from nx_fastonl.methods import Method
    from nx_fastonl.online import online_node_labeling

    methods = get_args(Method)
    picture_format = _picture_format(arguments.out)
    data = load_digits_graph()
    nodes = list(data.labels)
    order = np.random.default_rng(arguments.seed).permutation(len(nodes)).tolist()
    arrivals = [(nodes[i], data.labels[nodes[i]]) for i in order]
    sequences: dict[str, LabelSequence] = {}
    results = []
    columns = ("method", "accuracy", "mistakes", "seconds")
    with growing_table(columns, methods, silent=arguments.json) as add:
        for method in methods:
            start = time.perf_counter()
            found = online_node_labeling(data.graph, arrivals, method=method, seed=arguments.seed)
            seconds = time.perf_counter() - start
            sequences[method] = found
            results.append(dict(zip(columns, (method, found.accuracy, found.mistakes, seconds), strict=True)))
            add((method, f"{found.accuracy:.3f}", str(found.mistakes), f"{seconds:.2f}"))
    _draw(sequences, f"{len(arrivals):,} handwritten digits in random order", arguments.out, picture_format)
    if arguments.json:
        say_json({"dataset": data.name, "seed": arguments.seed, "methods": results, "picture": arguments.out})
    else:
        say(f"\nError rates as they fell: {arguments.out}")


def label(arguments: Any) -> None:
    """Predict the labels that are missing in a table, or online those that are there."""
    from nx_fastonl._tables import read_graph, read_labels

    if arguments.graph == arguments.labels == "-":
        raise UsageError("GRAPH and LABELS cannot both come from standard input")
    output = _output(arguments)
    source = read_graph(arguments.graph, progress=shows_progress())
    labels = read_labels(arguments.labels, source)
    graph = source.graph
    options = {name: getattr(arguments, name) for name in ("method", "kernel", "smoothness", "seed")}
    answer = (_label_stream if arguments.online else _label_rest)(graph, labels, options)
    report = {"nodes": len(graph), "edges": graph.number_of_edges(), "labels": len(labels), **options, **answer.report}
    _deliver(answer._replace(report=report, message=f"{_size_of(graph)}; {answer.message}"), output, "predictions")


def _label_rest(graph: CSRGraph, labels: dict[Hashable, Hashable], options: dict[str, Any]) -> Answer:
    from nx_fastonl._batch import with_progress
    from nx_fastonl.online import OnlineNodeLabeler

    progress = shows_progress()
    model = OnlineNodeLabeler(graph, **options).fit(labels)
    nodes = [node for node in graph if node not in labels]
    predicted = model.predict_many(nodes, progress=progress)
    pairs = with_progress(zip(nodes, predicted, strict=True), len(nodes), progress, "probability")
    probabilities = [model.predict_proba_one(node)[label] for node, label in pairs]
    return Answer(
        {"node": nodes, "predicted": predicted, "probability": probabilities},
        {"classes": list(model.classes)},
        f"{len(nodes):,} nodes labelled from {len(labels):,} others"
        if nodes
        else "every node has a label; --online predicts them one by one",
    )


def _label_stream(graph: CSRGraph, labels: dict[Hashable, Hashable], options: dict[str, Any]) -> Answer:
    from nx_fastonl.online import online_node_labeling

    found = online_node_labeling(graph, labels, progress=shows_progress(), **options)
    columns = {"node": found.nodes, "predicted": found.predicted, "truth": found.truth, "correct": found.correct}
    return Answer(
        columns,
        {"mistakes": found.mistakes, "error_rate": found.error_rate},
        f"error rate {found.error_rate:.4f}: {found.mistakes:,} mistakes in {len(found):,} nodes",
    )


def _size_of(graph: CSRGraph) -> str:
    return f"{graph.number_of_nodes():,} nodes, {graph.number_of_edges():,} edges"


def ppr(arguments: Any) -> None:
    """Write the personalised PageRank around some nodes."""
    from nx_fastonl._tables import read_graph
    from nx_fastonl.pagerank import personalized_pagerank_local

    output = _output(arguments)
    source = read_graph(arguments.graph, directed=arguments.directed, progress=shows_progress())
    seeds = [source.node(name) for name in arguments.source]
    values, info = personalized_pagerank_local(
        source.graph,
        arguments.alpha,
        dict.fromkeys(seeds, 1.0),
        tol=arguments.tol,
        epsilon=arguments.epsilon,
        top_k=arguments.top,
        full_output=True,
    )
    nodes = sorted(values, key=lambda node: -values[node])
    report = {
        "nodes": len(source.graph),
        "edges": source.graph.number_of_edges(),
        "sources": seeds,
        "alpha": arguments.alpha,
        "l1_error": info.l1_error,
        "top_certain": info.top_k_certain,
        "operations": info.operations,
    }
    certain = {None: "", True: "; these are certain to be the largest", False: "; others may be as large"}
    message = f"{_size_of(source.graph)}; L1 error at most {info.l1_error:.1e}{certain[info.top_k_certain]}"
    _deliver(Answer({"node": nodes, "value": [values[node] for node in nodes]}, report, message), output, "values")


def datasets(arguments: Any) -> None:
    """List the datasets, and say which are there."""
    from nx_fastonl.datasets import DATASETS, summary

    found = [
        {"name": name, "available": _is_available(name, arguments.data_home), "description": summary(name)}
        for name in DATASETS
    ]
    if arguments.json:
        say_json(found)
    else:
        show_table(
            ("name", "there", "description"),
            [(str(row["name"]), "yes" if row["available"] else "no", str(row["description"])) for row in found],
        )


def _is_available(name: str, data_home: str | None) -> bool:
    from nx_fastonl.datasets import is_available

    try:
        return is_available(name, data_home)
    except ImportError:  # pooch, without which there is no folder to look in
        return False


def experiment(arguments: Any) -> None:
    """Run an experiment and show its summary, or list them."""
    from nx_fastonl import experiments

    name = arguments.name
    if name is None:
        titles = {name: experiment.title for name, experiment in experiments.EXPERIMENTS.items()}
        if arguments.json:
            say_json(titles)
        else:
            show_table(("experiment", "what it shows"), list(titles.items()))
        return
    frame = experiments.run(
        name,
        graphs=arguments.graphs,
        trials=arguments.trials,
        quick=arguments.quick,
        jobs=arguments.jobs,
        out=arguments.out,
        data_home=arguments.data_home,
        progress=shows_progress(),
    )
    chosen, table = experiments.EXPERIMENTS[name], experiments.summary(name, frame)
    stem = f"{name}-quick" if arguments.quick else name
    files = [str(arguments.out / f"{stem}.{suffix}") for suffix in ("csv", "png")]
    if arguments.json:
        say_json({"experiment": name, "summary": table.reset_index().to_dict("records"), "files": files})
        return
    say(f"{chosen.title}: {chosen.table}\n")
    show_frame(table)
    say(f"\nAll figures: {', '.join(files)}")


def info(arguments: Any) -> None:
    """Show what is installed and what works."""
    report = _installation()
    if arguments.json:
        say_json(report)
        return
    broken = [name for name, loads in report["compiled"].items() if not loads]
    shown = {name: value or "not installed" for name, value in report["packages"].items()}
    shown |= {
        "platform": report["platform"],
        "compiled modules": f"{', '.join(broken)} cannot be loaded" if broken else "all load",
        "NetworkX backend": "fastonl is known" if report["backend"] else "fastonl is not known to NetworkX",
        "data folder": report["data_folder"] or "unknown without pooch",
    }
    show_table(("", ""), list(shown.items()))


def _installation() -> dict[str, Any]:
    packages = ("numpy", "scipy", "networkx", *OPTIONAL_PACKAGES)
    return {
        "packages": {
            "nx_fastonl": nx_fastonl.__version__,
            "Python": platform.python_version(),
            **{name: _version(name) for name in packages},
        },
        "platform": platform.platform(),
        "compiled": {name: _loads(f"nx_fastonl.{name}") for name in EXTENSIONS},
        "backend": _is_known_to_networkx(),
        "data_folder": _data_folder(),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _loads(module: str) -> bool:
    try:
        importlib.import_module(module)
    except (ImportError, ValueError):  # a ValueError where it was built for another numpy
        return False
    return True


def _is_known_to_networkx() -> bool:
    found: Any = importlib.import_module("networkx.utils.backends")
    return "fastonl" in found.backends


def _data_folder() -> str | None:
    from nx_fastonl.datasets import data_folder

    try:
        return str(data_folder())
    except ImportError:
        return None


# Where answers go


class Output(NamedTuple):
    """Where the table goes, None for standard output; in which format; and whether JSON is asked for beside it."""

    path: Path | None
    file_format: str
    json: bool


class Answer(NamedTuple):
    """A table, what else there is to report, and that in a line for people."""

    columns: Mapping[str, Sequence[Any]]
    report: dict[str, Any]
    message: str


def _output(arguments: Any) -> Output:
    """Where the answer goes, checked before anything that takes long."""
    from nx_fastonl._tables import format_of

    if arguments.output != "-":
        path = Path(arguments.output)
        _check_folder(path)
        file_format = arguments.format or format_of(arguments.output)
        if file_format is None:
            raise UsageError(f"the suffix of {path} tells no format: add --format csv, tsv, json or parquet")
        return Output(path, file_format, arguments.json)
    if arguments.json and arguments.format:
        raise UsageError("--json prints to standard output: with --format, name a file by --output")
    if arguments.format == "parquet" and sys.stdout.isatty():
        raise UsageError("Parquet is not for reading: name a file by --output")
    return Output(None, arguments.format or "csv", arguments.json)


def _check_folder(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))


def _deliver(answer: Answer, output: Output, name: str) -> None:
    """Write the table, and the rest beside it; as JSON, both in one under this name, unless the table has its file."""
    from nx_fastonl._tables import records_of, render, write_file

    if output.path is not None:
        write_file(output.path, render(answer.columns, output.file_format))
    elif not output.json:
        write(render(answer.columns, output.file_format))
    if output.json:
        table = {"output": str(output.path)} if output.path is not None else {name: records_of(answer.columns)}
        say_json({**answer.report, **table})
    else:
        sys.stderr.write(f"{answer.message}\n")


def _picture_format(path: str) -> str:
    from matplotlib.figure import Figure

    _check_folder(Path(path))
    suffix = Path(path).suffix.lower().removeprefix(".")
    known = Figure().canvas.get_supported_filetypes()
    if suffix not in known:
        raise UsageError(f"the suffix of {path} tells no format of pictures: there are {', '.join(sorted(known))}")
    return suffix


def _draw(sequences: dict[str, LabelSequence], title: str, path: str, picture_format: str) -> None:
    from matplotlib.figure import Figure

    from nx_fastonl._tables import write_file
    from nx_fastonl.plotting import plot_error_curves

    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    plot_error_curves(sequences, figure.add_subplot()).set_title(title)
    content = io.BytesIO()
    figure.savefig(content, format=picture_format, dpi=150)
    write_file(Path(path), content.getvalue())
