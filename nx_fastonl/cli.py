"""The command ``nx-fastonl``: labels and PageRank of files, datasets, the paper's experiments, a demonstration.

Nothing heavy is imported before a command needs it, so that help is quick.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import nx_fastonl
from nx_fastonl import _commands

__all__ = ["main"]

PROGRAM = "nx-fastonl"
INTERRUPTED = 130
PIPE_CLOSED = 141
# For the demonstration: an order that is neither lucky nor unlucky.
TYPICAL_SEED = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the code to exit with.

    0: all went well; 1: something is wrong with the data or the computation, which one line on standard error says;
    2: the arguments are wrong; 130: interrupted; 141: nobody reads standard output any more.
    """
    # Without one, Python has None for it.
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    chosen = make_parser().parse_args(arguments)
    try:
        chosen.run(chosen)
        sys.stdout.flush()
        return 0
    except _commands.UsageError as error:
        command: argparse.ArgumentParser = chosen.parser
        command.error(str(error))
    except KeyboardInterrupt:
        if chosen.run is _commands.experiment:
            sys.stderr.write("stopped; run it again to go on\n")
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_stdout()
        return PIPE_CLOSED
    except Exception as error:
        if not _is_expected(error):
            raise
        _give_up_stdout()
        sys.stderr.write(f"{PROGRAM}: {_in_one_line(error)}\n")
        return 1


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w")


def _is_expected(error: Exception) -> bool:
    """Whether the message tells what to change; otherwise it is a fault of the program, whose traceback is wanted."""
    networkx: Any = sys.modules.get("networkx")
    kinds = (OSError, ValueError, TypeError, ImportError, MemoryError)
    return isinstance(error, kinds) or (networkx is not None and isinstance(error, networkx.NetworkXException))


def _in_one_line(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name and "." not in error.name:
        return f"this needs {error.name}: pip install {error.name}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def _give_up_stdout() -> None:
    """Leave nothing in standard output that Python would fail to write, and say so, when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_parser() -> argparse.ArgumentParser:
    """The arguments of every command."""
    parser: argparse.ArgumentParser = _parser_of(
        argparse.ArgumentParser,
        prog=PROGRAM,
        description="Online node labelling and local personalised PageRank. Without a command: a first look.",
        examples=["demo", "label friends.csv clubs.csv --output rest.csv", "ppr links.txt --source 22 --top 10"],
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {nx_fastonl.__version__}")
    parser.set_defaults(run=_commands.first_look, parser=parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for add in (_add_demo, _add_label, _add_ppr, _add_datasets, _add_experiment, _add_info):
        add(commands)
    return parser


def _parser_of(make: Callable[..., Any], *names: str, examples: list[str], **options: Any) -> Any:
    lines = "\n".join(f"  {PROGRAM} {example}" for example in examples)
    formatter = argparse.RawDescriptionHelpFormatter
    return make(*names, epilog=f"examples:\n{lines}", formatter_class=formatter, **options)


def _add_command(commands: Any, run: Callable[[Any], None], description: str, examples: list[str]) -> Any:
    """A command whose name is that of the function which runs it."""
    name = run.__name__
    summary = description.split(".")[0]
    examples = [f"{name} {example}".strip() for example in examples]
    parser = _parser_of(commands.add_parser, name, help=summary, description=description, examples=examples)
    parser.set_defaults(run=run, parser=parser)
    return parser


def _add_demo(commands: Any) -> None:
    parser = _add_command(
        commands,
        _commands.demo,
        "Run all methods on handwritten digits.\n\n"
        "The 1,797 digits of scikit-learn arrive in random order; each is predicted\n"
        "from the digits that look like it and came before. Draws the error rates.\n"
        "Needs the extra: pip install 'nx-fastonl[demo]'.",
        ["", "--seed 7 --out errors.svg", "--json"],
    )
    parser.add_argument(
        "--out", metavar="FILE", default="nx-fastonl-demo.png", help="the picture (default: %(default)s)"
    )
    _add_seed(parser, "decides the order and what is drawn at random", TYPICAL_SEED)
    _add_json(parser)


def _add_label(commands: Any) -> None:
    parser = _add_command(
        commands,
        _commands.label,
        "Predict the labels of the nodes that have none.\n\n"
        "GRAPH is a list of edges: two nodes in each line and, optionally, a weight,\n"
        "separated by commas, tabs or blanks. Lines that begin with # are skipped; a\n"
        "header reads source,target,weight. Edges listed twice, in either direction,\n"
        "add up. Directed graphs cannot be labelled.\n\n"
        "LABELS is a table of node and label: CSV or TSV, with or without a header\n"
        'node,label; JSON, {node: label} or [{"node": ..., "label": ...}]; or Parquet.\n\n'
        "Writes node, predicted and probability, which is the learner's own and\n"
        "cautious. With --online, nodes arrive in the order of LABELS, each is\n"
        "predicted before it is learned; writes node, predicted, truth and correct.\n\n"
        "methods: fastonl, fastonl-fifo, relaxation, approximate, weighted-majority,\n"
        "  weighted-tree\n"
        "kernels: laplacian (K1), normalized-laplacian (K2), normalized-adjacency (K3),\n"
        "  scaled-laplacian (K4), scaled-regularized (K5), augmented-laplacian (K6)",
        [
            "friends.csv clubs.csv",
            "citations.tsv topics.json --kernel laplacian --smoothness 0.01 --output rest.parquet",
            "friends.csv clubs.csv --online --method weighted-majority > stream.csv",
        ],
    )
    _add_graph(parser)
    parser.add_argument("labels", metavar="LABELS", help="the labels known, or - for standard input")
    parser.add_argument("--online", action="store_true", help="predict each label from those in the lines before it")
    parser.add_argument("--method", metavar="NAME", default="fastonl", help="(default: %(default)s)")
    parser.add_argument("--kernel", metavar="NAME", default="normalized-laplacian", help="(default: %(default)s)")
    parser.add_argument(
        "--smoothness", metavar="X", type=float, default=0.15, help="lambda / n of the kernel (default: %(default)s)"
    )
    _add_seed(parser, "decides what a method draws at random")
    _add_output(parser)


def _add_ppr(commands: Any) -> None:
    parser = _add_command(
        commands,
        _commands.ppr,
        "Personalised PageRank of the nodes near some others.\n\n"
        "GRAPH is a list of edges, as for label. Writes node and value, the largest\n"
        "first, of the nodes reached; all others count as 0. How far the values can be\n"
        "from the exact ones is said on standard error.",
        [
            "links.txt --source 22 --top 10",
            "links.csv --directed --source home --source news --alpha 0.9 --output near.tsv",
            "- --source 0 --tol 1e-8 --json < links.txt",
        ],
    )
    _add_graph(parser)
    parser.add_argument(
        "--source", metavar="NODE", action="append", required=True, help="where walks start; give it again for more"
    )
    parser.add_argument("--alpha", type=float, default=0.85, help="the damping (default: %(default)s)")
    precision = parser.add_mutually_exclusive_group()
    precision.add_argument(
        "--epsilon", type=float, default=1e-6, help="the residual per neighbour that may stay (default: %(default)s)"
    )
    precision.add_argument("--tol", metavar="X", type=float, help="an L1 error that is not exceeded, instead")
    parser.add_argument("--top", metavar="K", type=int, help="write only the K largest values")
    parser.add_argument("--directed", action="store_true", help="edges lead only from the first node to the second")
    _add_output(parser)


def _add_datasets(commands: Any) -> None:
    parser = _add_command(
        commands,
        _commands.datasets,
        "List the datasets.\n\nWhat is not there yet is downloaded when an experiment first needs it.",
        ["", "--data-home /data --json"],
    )
    _add_data_home(parser)
    _add_json(parser)


def _add_experiment(commands: Any) -> None:
    parser = _add_command(
        commands,
        _commands.experiment,
        "Run an experiment of the paper.\n\n"
        "Leaves a CSV file and a picture in a folder, and prints a summary. What an\n"
        "earlier run left there is not computed again. Without NAME, lists them all.\n"
        "Needs the extra: pip install 'nx-fastonl[demo]'.",
        ["", "accuracy --quick", "error-curves --graphs cora,citeseer --trials 5 --jobs 2 --out results"],
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="the experiment")
    parser.add_argument(
        "--graphs",
        metavar="A,B,...",
        type=lambda text: [name.strip() for name in text.split(",") if name.strip()],
        help="datasets to run it on (default: the paper's)",
    )
    parser.add_argument("--trials", metavar="N", type=int, help="runs for each (default: 10, with --quick 2)")
    parser.add_argument("--jobs", metavar="N", type=int, help="processes; -1 for one on each core (default: 1)")
    parser.add_argument("--quick", action="store_true", help="two trials on small graphs, without a download")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("results"), help="(default: %(default)s)")
    _add_data_home(parser)
    _add_json(parser)


def _add_info(commands: Any) -> None:
    parser = _add_command(
        commands,
        _commands.info,
        "Show versions, compiled modules and optional packages.\n\nWhat a report of a problem should contain.",
        ["", "--json"],
    )
    _add_json(parser)


def _add_graph(parser: Any) -> None:
    parser.add_argument("graph", metavar="GRAPH", help="the list of edges, or - for standard input")


def _add_output(parser: Any) -> None:
    parser.add_argument("--output", metavar="FILE", default="-", help="the table (default: standard output)")
    parser.add_argument(
        "--format",
        choices=("csv", "tsv", "json", "parquet"),
        help="of the table (default: as the suffix of FILE says, or CSV)",
    )
    _add_json(parser)


def _add_json(parser: Any) -> None:
    parser.add_argument("--json", action="store_true", help="print what was found as JSON, and nothing else")


def _add_seed(parser: Any, meaning: str, default: int = 0) -> None:
    parser.add_argument("--seed", metavar="N", type=int, default=default, help=f"{meaning} (default: %(default)s)")


def _add_data_home(parser: Any) -> None:
    parser.add_argument(
        "--data-home", metavar="DIR", help="where downloads are kept (default: $NX_FASTONL_DATA, or a cache folder)"
    )
