"""What each command does, given its parsed arguments."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Hashable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from nx_fastonl._lib.checks import a_few, check_whole
from nx_fastonl.cli.answers import Answer, Output, UsageError, check_folder, check_new_folder, deliver, output_of
from nx_fastonl.cli.screen import (
    growing_table,
    in_one_line,
    say,
    say_json,
    show_frame,
    show_table,
    shows_progress,
    table_lines,
    tell,
    warn,
)

if TYPE_CHECKING:
    from nx_fastonl.graph.csr import CSRGraph
    from nx_fastonl.graph.dynamic import DynamicGraph
    from nx_fastonl.labeling.labeler import OnlineNodeLabeler
    from nx_fastonl.labeling.sequence import LabelSequence
    from nx_fastonl.nxapi.calls import CallRecorder

MEMBER = 22  # of the karate club, at whom the first look is taken
# How many nodes' distributions are in memory at once: with many classes, those of all nodes may not fit.
SHARE_NODES = 10_000


def first_look(_: Any) -> None:
    """Print the karate club's ten members closest to one of them, then how well their sides are predicted online."""
    import networkx as nx

    from nx_fastonl.labeling.stream import online_node_labeling
    from nx_fastonl.push.pagerank import personalized_pagerank_local

    club = nx.karate_club_graph()
    closest, info = personalized_pagerank_local(club, personalization=MEMBER, top_k=10, full_output=True)
    lines = [f"Zachary's karate club, {len(club)} members: the ten closest to member {MEMBER}", ""]
    longest = max(closest.values())
    for node, value in closest.items():
        lines.append(f"  {node:>3}  {value:.4f}  {'#' * round(40 * value / longest)}")
    proven = "proven" if info.top_k_proven else "not proven"
    lines += ["", f"L1 error at most {info.l1_error:.1e}; these ten are {proven}; {info.operations:,} edges walked"]
    sides = online_node_labeling(club, "club")
    lines += [f"Whose side is each member on, asked one by one? {sides.mistakes} mistakes in {len(sides)}"]
    say("\n".join(lines))


def demo(arguments: Any) -> None:
    """Run every method on the digits: first a table that grows, then a picture."""
    import numpy as np

    from nx_fastonl.datasets import load_digits_graph
    from nx_fastonl.labeling.stream import online_node_labeling
    from nx_fastonl.learners.registry import Method

    check_whole("seed", arguments.seed, least=0)
    methods = get_args(Method)
    picture = Path(arguments.out)
    _check_picture(picture)
    data = load_digits_graph()
    nodes = list(data.labels)
    order = np.random.default_rng(arguments.seed).permutation(len(nodes)).tolist()
    label_stream = [(nodes[i], data.labels[nodes[i]]) for i in order]
    sequences: dict[str, LabelSequence] = {}
    results = []
    columns = ("method", "accuracy", "mistakes", "seconds")
    with growing_table(columns, methods, silent=arguments.json) as add:
        for method in methods:
            start = time.perf_counter()
            sequence = online_node_labeling(data.graph, label_stream, method=method, seed=arguments.seed)
            seconds = time.perf_counter() - start
            sequences[method] = sequence
            results.append(dict(zip(columns, (method, sequence.accuracy, sequence.mistakes, seconds), strict=True)))
            add((method, f"{sequence.accuracy:.3f}", str(sequence.mistakes), f"{seconds:.2f}"))
    _draw_error_curves(sequences, f"{len(label_stream):,} handwritten digits in random order", picture)
    if arguments.json:
        say_json({"dataset": data.name, "seed": arguments.seed, "methods": results, "picture": arguments.out})
    else:
        say(f"\nPicture of the error rates: {arguments.out}")


def _check_picture(path: Path) -> None:
    """Raise an error if matplotlib cannot write such a file."""
    from matplotlib.figure import Figure

    check_folder(path)
    known = Figure().canvas.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in known:
        raise UsageError(f"the suffix of {path} names no format of pictures: use one of {', '.join(sorted(known))}")


def _draw_error_curves(sequences: dict[str, LabelSequence], title: str, path: Path) -> None:
    from matplotlib.figure import Figure

    from nx_fastonl.plotting.curves import plot_error_curves
    from nx_fastonl.plotting.save import save_figure

    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    plot_error_curves(sequences, figure.add_subplot()).set_title(title)
    save_figure(figure, path)


def calls(arguments: Any) -> None:
    """Run a program, then list its calls of NetworkX, where they ran, and why there."""
    if arguments.format and arguments.output is None:
        raise UsageError("--format needs --output: name a file, or - for standard output")
    output = None if arguments.output is None else output_of(arguments)
    if output is not None and output.path is not None:  # the program may change the current folder
        output = output._replace(path=output.path.absolute())
    # Before NetworkX is imported, which reads it, as do processes that the program starts.
    if not any(name.startswith("NETWORKX_BACKEND_PRIORITY") for name in os.environ):
        os.environ["NETWORKX_BACKEND_PRIORITY"] = "fastonl"
    import networkx as nx

    from nx_fastonl.cli.programs import run_program
    from nx_fastonl.nxapi.calls import CallRecorder

    nx.config.warnings_to_ignore.add("cache")  # the message below says it in a line
    recorder = CallRecorder(inner=arguments.inner)
    with recorder:
        code = run_program(arguments.program, arguments.arguments, is_module=arguments.module)
    _tell_calls(recorder, output)
    sys.exit(code)


def _tell_calls(recorder: CallRecorder, output: Output | None) -> None:
    from nx_fastonl.nxapi.calls import CallSummary

    names, found = CallSummary._fields, recorder.summaries()
    columns = {name: [getattr(summary, name) for summary in found] for name in names}
    n_here = sum(summary.calls for summary in found if summary.ran_in == "fastonl")
    message = f"{n_here:,} of {sum(columns['calls']):,} calls of NetworkX ran in fastonl"
    if output is not None:
        deliver(Answer(columns, {}, message), output, "calls")
    else:
        tell(message)
    if recorder.n_reused:
        tell(
            f"{recorder.n_reused:,} of them used a graph as it was converted before; "
            'changes such as G[u][v]["weight"] = 2 need G.__networkx_cache__.clear()'
        )
    rows = [(name, place, f"{n:,}", f"{seconds:.3f}", in_one_line(why)) for name, place, n, seconds, why in found]
    for line in table_lines(names, rows, right_aligned=(2, 3)) if found and output is None else []:
        tell(line)


def example(arguments: Any) -> None:
    """Write a list of edges and a table of labels to try the other commands on."""
    from nx_fastonl._lib.files import write_file
    from nx_fastonl.cli.example import example_files

    files = {arguments.out / name: content for name, content in example_files().items()}
    for path, content in files.items():
        if path.exists() and path.read_bytes() != content:
            raise FileExistsError(f"{path} exists and has other content: move it away, or name a folder with --out")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        if not path.exists():
            write_file(path, content)
    paths = list(map(str, files))
    command = shlex.join(["nx-fastonl", "label", *paths])
    if arguments.json:
        say_json({"files": paths, "next": command})
    else:
        say("\n".join([*paths, f"Try next: {command}"]))


def convert(arguments: Any) -> None:
    """Save the graph of files of edges to a folder that other commands open."""
    from nx_fastonl.cli.graphs import read_edges

    folder = Path(arguments.folder)
    check_new_folder(folder)
    graph = read_edges(arguments.edges, arguments)
    graph.save(folder)
    if arguments.json:
        report = {"nodes": len(graph), "edges": graph.number_of_edges(), "directed": graph.is_directed()}
        say_json({"folder": arguments.folder, **report})
    else:
        say(arguments.folder)
        tell(_size_of(graph))


def label(arguments: Any) -> None:
    """Predict the labels of the nodes that have none or, online, those that are in the table."""
    from nx_fastonl.cli.label_tables import labels_of, read_labels
    from nx_fastonl.cli.models import check_arguments, labeled_graph, new_labels, save_model

    check_arguments(arguments)
    output = output_of(arguments)
    if arguments.save_model is not None:
        check_new_folder(Path(arguments.save_model))
    table = None if arguments.labels is None else read_labels(arguments.labels)
    source, model, settings = labeled_graph(arguments, table)
    labels: dict[Hashable, Hashable] = {}
    skipped: list[Hashable] = []
    if table is not None:
        labels, skipped = labels_of(table, source, skip=arguments.unknown == "skip")
        labels = new_labels(model, labels, table)
    if table is not None and skipped:
        warn(f"{table.name}: skipped what is not in {source.name}: {a_few(skipped)}")
    added = source.without_edges(labels) if arguments.unknown == "add" else []
    if table is not None and added:
        warn(f"{table.name}: added nodes without edges to {source.name}: {a_few(added)}")
    if arguments.online:
        answer = _label_online(model, labels)
    else:
        if arguments.model is None:
            model.fit(labels)
        else:
            model.learn_many(labels)
        answer = _label_rest(model)
    graph = source.graph
    report = {"nodes": len(graph), "edges": graph.number_of_edges(), "labels": len(labels), **settings, **answer.report}
    report |= {name: len(nodes) for name, nodes in (("skipped", skipped), ("added", added)) if nodes}
    if arguments.save_model is not None:
        save_model(model, graph, arguments.save_model)
        report["saved_model"] = arguments.save_model
    deliver(answer._replace(report=report, message=f"{_size_of(graph)}; {answer.message}"), output, "predictions")


def _label_rest(model: OnlineNodeLabeler) -> Answer:
    nodes, n_known = model.unlabeled_nodes(), model.n_learned
    predicted = model.predict_many(nodes, progress=shows_progress())
    name = "probability" if model.calibrated else "share"
    columns = {"node": nodes, "predicted": predicted, name: _shares(model, nodes, predicted)}
    message = f"{len(nodes):,} nodes labelled from {n_known:,} others"
    if not nodes:
        message = "every node has a label; --online predicts them one by one"
    return Answer(columns, {"classes": list(model.classes)}, message)


def _shares(model: OnlineNodeLabeler, nodes: Sequence[Hashable], predicted: Sequence[Any]) -> list[float]:
    """What the learner's distribution gives to each predicted label."""
    columns = {label: j for j, label in enumerate(model.classes)}
    shares: list[float] = []
    for start in range(0, len(nodes), SHARE_NODES):
        block = slice(start, start + SHARE_NODES)
        by_class = model.predict_proba_many(nodes[block])
        shares += [float(row[columns[label]]) for row, label in zip(by_class, predicted[block], strict=True)]
    return shares


def _label_online(model: OnlineNodeLabeler, labels: dict[Hashable, Hashable]) -> Answer:
    found = model.run(labels, progress=shows_progress())
    columns = {"node": found.nodes, "predicted": found.predicted, "truth": found.truth, "correct": found.correct}
    return Answer(
        columns,
        {"mistakes": found.mistakes, "error_rate": found.error_rate},
        f"error rate {found.error_rate:.4f}: {found.mistakes:,} mistakes in {len(found):,} nodes",
    )


def _size_of(graph: CSRGraph | DynamicGraph) -> str:
    return f"{graph.number_of_nodes():,} nodes, {graph.number_of_edges():,} edges"


def replay(arguments: Any) -> None:
    """Apply a file of events to a graph, and write the answers as they come."""
    from nx_fastonl.cli.graphs import warnings_as_lines
    from nx_fastonl.cli.replays import AnswerWriter, open_replay

    writer = AnswerWriter(arguments)
    with open_replay(arguments) as stream, writer, warnings_as_lines():
        start = time.perf_counter()
        for answer in stream:
            writer.write(answer)
        seconds = time.perf_counter() - start
    parts = [f"{stream.n_events:,} events", f"{stream.n_answers:,} answers"]
    arrivals = stream.sequence
    if arrivals:
        parts.append(f"accuracy {arrivals.accuracy:.4f} in {len(arrivals):,} arrivals")
    parts.append(f"{stream.n_events / max(seconds, 1e-9):,.0f} events a second")
    tell(f"{_size_of(stream.graph)}; {', '.join(parts)}")


def ppr(arguments: Any) -> None:
    """Write the personalised PageRank around some nodes."""
    from nx_fastonl.cli.graphs import open_or_read
    from nx_fastonl.push.pagerank import personalized_pagerank_local

    output = output_of(arguments)
    source = open_or_read(arguments)
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
        "top_proven": info.top_k_proven,
        "tied": info.tied,
        "operations": info.operations,
    }
    proven = {None: "", True: "; these are proven to be the largest", False: "; others may be as large"}
    message = f"{_size_of(source.graph)}; L1 error at most {info.l1_error:.1e}{proven[info.top_k_proven]}"
    deliver(Answer({"node": nodes, "value": [values[node] for node in nodes]}, report, message), output, "values")


def ppr_matrix(arguments: Any) -> None:
    """Write the personalised PageRank of every node to a folder, or one part of it."""
    from nx_fastonl.batch.jobs import write_part
    from nx_fastonl.batch.matrix import complete_shards
    from nx_fastonl.cli.graphs import open_or_read
    from nx_fastonl.push.matrix import plan_rows

    check_new_folder(Path(arguments.out))
    graph = open_or_read(arguments).graph
    parameters = {name: getattr(arguments, name) for name in ("alpha", "epsilon", "tol", "dtype")}
    rows = plan_rows(graph, top_k=arguments.top, **parameters)
    part = arguments.shard or (1, 1)
    try:
        done, total = write_part(
            rows, arguments.out, part, arguments.rows_per_shard, arguments.n_jobs, shows_progress()
        )
    except KeyboardInterrupt:
        with suppress(OSError, ValueError):  # the folder may not have been begun
            done, total = complete_shards(arguments.out)
            tell(f"stopped; {done:,} of {total:,} shards are complete; the same command continues from here")
        raise
    if arguments.json:
        report = {"nodes": len(graph), "edges": graph.number_of_edges(), "shards": total, "done": done}
        say_json({"folder": arguments.out, **report})
    else:
        say(arguments.out)
        tell(f"{_size_of(graph)}; {done:,} of {total:,} shards are complete")


def datasets(arguments: Any) -> None:
    """List the datasets, and say which need no download."""
    from nx_fastonl.datasets import DATASETS, summary

    found = [
        {"name": name, "available": _is_available(name, arguments.data_home), "description": summary(name)}
        for name in DATASETS
    ]
    if arguments.json:
        say_json(found)
    else:
        show_table(
            ("name", "available", "description"),
            [(str(row["name"]), "yes" if row["available"] else "no", str(row["description"])) for row in found],
        )


def _is_available(name: str, data_home: str | None) -> bool:
    from nx_fastonl.datasets import is_available

    try:
        return is_available(name, data_home)
    except ImportError:  # pooch, which knows the cache folder, is not installed
        return False


def experiment(arguments: Any) -> None:
    """Run an experiment and show its summary, or list the experiments."""
    from nx_fastonl import experiments

    name, graphs = arguments.name, arguments.graphs
    if name is None:
        if graphs is not None:
            raise UsageError("which experiment? Its name comes first, before --graphs")
        titles = {name: experiment.title for name, experiment in experiments.EXPERIMENTS.items()}
        if arguments.json:
            say_json(titles)
        else:
            show_table(("experiment", "what it shows"), list(titles.items()))
        return
    frame = experiments.run(
        name,
        graphs=None if graphs is None else [graph for several in graphs for graph in several],
        trials=arguments.trials,
        quick=arguments.quick,
        n_jobs=arguments.n_jobs,
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
    for note in chosen.notes():
        say(f"\n{note}")
    say(f"\nAll results: {', '.join(files)}")


def info(arguments: Any) -> None:
    """Show what is installed and what works."""
    from nx_fastonl.cli.installation import installation

    report = installation()
    if arguments.json:
        say_json(report)
        return
    compiled = report["compiled"]
    broken = [name for name, loads in compiled.items() if not loads]
    shown = {name: value or "not installed" for name, value in report["packages"].items()}
    shown |= {
        "platform": report["platform"],
        "compiled modules": f"{', '.join(broken)} cannot be loaded" if broken else f"all {len(compiled)} load",
        "NetworkX backend": "fastonl is known" if report["backend"] else "fastonl is not known to NetworkX",
        "data folder": report["data_folder"] or "unknown without pooch",
    }
    show_table(("", ""), list(shown.items()))
