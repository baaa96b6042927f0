"""The arguments of every command, and its help."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import nx_fastonl
from nx_fastonl._lib.checks import perhaps, shortened
from nx_fastonl.cli import commands
from nx_fastonl.cli.formats import FORMATS
from nx_fastonl.cli.screen import in_one_line

PROGRAM = "nx-fastonl"
# For the demonstration: an order of the digits that is neither lucky nor unlucky.
TYPICAL_SEED = 3
COLUMNS = (
    "Two columns are the nodes of an edge, a third one its weight. What separates\n"
    "them, and whether there is a header, is found from the first lines, or told.\n"
    "Lines that begin with # or % are skipped. The weights of an edge that is listed\n"
    "twice, in either direction, add up.\n"
)
GRAPHS = (
    "GRAPH is a file with an edge in each line, or a folder that convert has made.\n"
    "A file may be compressed (gz, bz2, xz), in Matrix Market or in Parquet.\n"
    f"{COLUMNS}"
)

Number = TypeVar("Number", int, float)
# What to do with nodes that are not in the graph.
UNKNOWN = ("error", "skip", "add")


class Parser(argparse.ArgumentParser):
    """A parser whose errors show arguments without the characters that a terminal would obey."""

    def error(self, message: str) -> NoReturn:
        super().error(in_one_line(message))


def make_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser: argparse.ArgumentParser = _parser_of(
        Parser,
        prog=PROGRAM,
        description="Online node labelling and local personalised PageRank. Without a command: a first look.",
        examples=["example", "label friends.csv clubs.csv --output rest.csv", "ppr friends.csv --source 22 --top 10"],
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {nx_fastonl.__version__}")
    parser.set_defaults(run=commands.first_look, parser=parser)
    parsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for add in (
        _add_demo,
        _add_example,
        _add_label,
        _add_replay,
        _add_ppr,
        _add_ppr_matrix,
        _add_convert,
        _add_calls,
        _add_datasets,
        _add_experiment,
        _add_info,
    ):
        add(parsers)
    return parser


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The arguments of a command."""
    parser = make_parser()
    chosen, rest = parser.parse_known_args(arguments)
    if chosen.run is commands.label:
        # Before Python 3.12.7, LABELS after an option is not seen, since it may be left out.
        if chosen.labels is None and len(rest) == 1 and not rest[0].startswith("-"):
            chosen.labels = rest.pop()
        if chosen.labels is None:  # the only file is LABELS; with a model, there may be none
            chosen.graph, chosen.labels = None, chosen.graph
    if rest:
        command: argparse.ArgumentParser = chosen.parser
        options = command._option_string_actions
        wrong = next((word.partition("=")[0] for word in rest if word.startswith("--")), None)
        command.error(f"unrecognized arguments: {' '.join(rest)}{perhaps(wrong, options) if wrong else ''}")
    return chosen


def _parser_of(make: Callable[..., Any], *names: str, examples: list[str], **options: Any) -> Any:
    lines = "\n".join(f"  {PROGRAM} {example}" for example in examples)
    formatter = argparse.RawDescriptionHelpFormatter
    return make(*names, epilog=f"examples:\n{lines}", formatter_class=formatter, **options)


def _number(text: str) -> float:
    return _read(float, text, "a number")


def _whole_number(text: str) -> int:
    return _read(int, text, "a whole number")


def _columns(text: str) -> list[str] | list[int]:
    names = [name.strip() for name in text.split(",")]
    if len(names) not in (2, 3) or "" in names:
        raise argparse.ArgumentTypeError(f"expected two or three columns with commas between, got {shortened(text)}")
    return [int(name) for name in names] if all(map(str.isdecimal, names)) else names


def _part(text: str) -> tuple[int, int]:
    i, slash, n = text.partition("/")
    if not (slash and i.isdecimal() and n.isdecimal() and 1 <= int(i) <= int(n)):
        raise argparse.ArgumentTypeError(f"expected one part of several, from 1/N to N/N, got {shortened(text)}")
    return int(i), int(n)


def _read(kind: Callable[[str], Number], text: str, expected: str) -> Number:
    try:
        return kind(text)
    except ValueError:  # argparse would show all of the text
        raise argparse.ArgumentTypeError(f"expected {expected}, got {shortened(text)}") from None


def _add_command(
    parsers: Any, run: Callable[[Any], None], description: str, examples: list[str], usage: str | None = None
) -> Any:
    """Add a command. Its name is that of the function that runs it."""
    name = run.__name__.replace("_", "-")
    summary = description.split(".")[0]
    examples = [f"{name} {example}".strip() for example in examples]
    parser = _parser_of(parsers.add_parser, name, help=summary, description=description, examples=examples, usage=usage)
    parser.set_defaults(run=run, parser=parser)
    return parser


def _add_demo(parsers: Any) -> None:
    parser = _add_command(
        parsers,
        commands.demo,
        "Run all methods on handwritten digits.\n\n"
        "The 1,797 digits of scikit-learn arrive in random order; each is predicted\n"
        "from earlier digits that look like it. Draws the error rates.\n"
        "Needs the extra: pip install 'nx-fastonl[demo]'.",
        ["", "--seed 7 --out errors.svg", "--json"],
    )
    parser.add_argument(
        "--out", metavar="FILE", default="nx-fastonl-demo.png", help="the picture (default: %(default)s)"
    )
    _add_seed(parser, "decides the order, and the random choices of the methods", TYPICAL_SEED)
    _add_json(parser)


def _add_example(parsers: Any) -> None:
    parser = _add_command(
        parsers,
        commands.example,
        "Write two files to try the other commands on.\n\n"
        "friends.csv is the list of edges of Zachary's karate club; clubs.csv is a table\n"
        "with the clubs that ten of its 34 members joined when it split. Files that\n"
        "exist and have other content are not replaced.",
        ["", "--out karate"],
    )
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="the folder (default: this one)")
    _add_json(parser)


def _add_label(parsers: Any) -> None:
    parser = _add_command(
        parsers,
        commands.label,
        "Predict the labels of the nodes that have none.\n\n"
        f"{GRAPHS}"
        "With --directed, edges are arrows, as of citations or links: adaptive learns\n"
        "from each direction, and weighted-majority counts both. The other methods need\n"
        "an undirected graph.\n\n"
        "LABELS is a table of node and label: CSV or TSV, with or without a header\n"
        'node,label; JSON, {node: label} or [{"node": ..., "label": ...}]; or Parquet.\n'
        "--unknown says what happens to nodes that are not in GRAPH.\n\n"
        "Writes node, predicted and probability: of predictions with 0.8, about 80 in 100\n"
        "are right. Methods other than adaptive write share instead: how much of their\n"
        "distribution the predicted label gets. It says nothing about how often the\n"
        "prediction is right.\n"
        "With --online, nodes arrive in the order of LABELS, and each is predicted\n"
        "before its label is learned; writes node, predicted, truth and correct.\n\n"
        "--save-model keeps what was learned in a folder. With --model, LABELS are\n"
        "learned on top of that; those that it has learned before may be among them.\n"
        "Without LABELS, it only predicts. GRAPH is then not needed; if it is given, it\n"
        "must be the same graph.\n\n"
        "The command example writes friends.csv and clubs.csv.\n\n"
        "methods: adaptive, fastonl, fastonl-fifo, relaxation, approximate, perceptron,\n"
        "  weighted-majority, weighted-tree\n"
        "kernels: laplacian (K1), normalized-laplacian (K2), normalized-adjacency (K3),\n"
        "  scaled-laplacian (K4), scaled-regularized (K5), augmented-laplacian (K6)",
        [
            "friends.csv clubs.csv",
            "friends.csv clubs.csv --kernel laplacian --smoothness 0.5 --output rest.json",
            "friends.csv clubs.csv --online --method weighted-majority > stream.csv",
            "friends.csv clubs.csv --directed --output rest.csv",
            "friends.csv clubs.csv --unknown skip --save-model model",
            "more.csv --model model --save-model model",
        ],
        usage=f"{PROGRAM} label GRAPH LABELS [options]\n       {PROGRAM} label [[GRAPH] LABELS] --model DIR [options]",
    )
    _add_graph(parser, nargs="?")
    parser.add_argument("labels", metavar="LABELS", nargs="?", help="the labels known, or - for standard input")
    _add_reading(parser)
    parser.add_argument(
        "--unknown",
        choices=UNKNOWN,
        default="error",
        help="nodes of LABELS that are not in GRAPH: stop, skip them, or, if GRAPH is a file, add them without edges "
        "(default: %(default)s)",
    )
    parser.add_argument("--model", metavar="DIR", help="go on with a model that --save-model has saved")
    parser.add_argument("--save-model", metavar="DIR", help="save the model when the labels are learned")
    parser.add_argument("--online", action="store_true", help="predict each label from the ones in the lines before it")
    _add_method(parser, "0.15; for adaptive 0.01, with --online 0.05")
    _add_output(parser)


def _add_replay(parsers: Any) -> None:
    parser = _add_command(
        parsers,
        commands.replay,
        "Answer questions about a graph while it changes.\n\n"
        "EVENTS is a file of events, in the order in which they happened: lines of JSON\n"
        "(.jsonl, .ndjson), or a table with the columns event, u, v, node, label, weight\n"
        "and time, as far as they are needed (.csv, .tsv, .parquet). Text may be\n"
        "compressed (gz, bz2, xz).\n\n"
        "events:\n"
        '  {"event": "edge", "u": 1, "v": 2, "weight": 0.5, "time": 7}\n'
        '  {"event": "remove-edge", "u": 1, "v": 2}\n'
        '  {"event": "node", "node": 3}\n'
        '  {"event": "remove-node", "node": 3}\n'
        '  {"event": "label", "node": 1, "label": "red"}\n'
        '  {"event": "question", "node": 2}\n'
        '  {"event": "arrival", "node": 2, "label": "red"}\n'
        '  {"event": "time", "time": 9}\n'
        "weight and time may be left out. An arrival is a question, whose answer is\n"
        "compared with the label, and then learned. With --window, edges that are older\n"
        "leave.\n\n"
        "Writes node, predicted, truth, probability and time of each question and each\n"
        "arrival, as they come. From standard input, each line is answered at once.",
        [
            "events.jsonl --output answers.csv",
            "events.csv.gz --graph friends.csv --window 30 --progress > answers.jsonl",
            "- --method fastonl --format csv < events.jsonl",
        ],
    )
    parser.add_argument("events", metavar="EVENTS", help="a file of events, or - for standard input")
    parser.add_argument("--graph", metavar="GRAPH", help="begin with the graph of a file or folder (default: no nodes)")
    parser.add_argument(
        "--window", metavar="X", type=_number, help="edges that are older than this leave (default: none does)"
    )
    _add_reading(parser)
    _add_method(parser, "0.15; for adaptive 0.05")
    parser.add_argument("--output", metavar="FILE", default="-", help="the answers (default: standard output)")
    parser.add_argument(
        "--format",
        choices=("jsonl", "csv"),
        help="the format of the answers (default: by the suffix of FILE, or jsonl)",
    )
    parser.add_argument("--progress", action="store_true", help="show how many events were applied")
    parser.set_defaults(online=True)


def _add_ppr(parsers: Any) -> None:
    parser = _add_command(
        parsers,
        commands.ppr,
        "Personalised PageRank of the nodes near some others.\n\n"
        "Writes node and value, the largest first, of the nodes that were reached; the\n"
        "values of all others are taken as 0. A line on standard error bounds the error.\n\n"
        f"{GRAPHS}\n"
        "The command example writes friends.csv.",
        [
            "friends.csv --source 22 --top 10",
            "friends.csv --directed --source 0 --source 1 --alpha 0.9 --output near.tsv",
            "- --source 0 --tol 1e-8 --json < friends.csv",
        ],
    )
    _add_graph(parser)
    parser.add_argument(
        "--source",
        metavar="NODE",
        action="append",
        required=True,
        help="where the random walks start; repeat it for several",
    )
    _add_precision(parser)
    parser.add_argument(
        "--top",
        metavar="K",
        type=_whole_number,
        help="write only the K largest values; without --epsilon and --tol, proven",
    )
    _add_reading(parser)
    _add_output(parser)


def _add_ppr_matrix(parsers: Any) -> None:
    parser = _add_command(
        parsers,
        commands.ppr_matrix,
        "Personalised PageRank from every node, in a folder.\n\n"
        "Writes one row per node to DIR, in shards, which fo.open_matrix opens in Python.\n"
        "If DIR holds some of these rows already, only the others are computed: after\n"
        "Ctrl-C or a failure, the same command goes on.\n\n"
        "With --shard I/N, it computes only one of N parts: every N-th shard, from the\n"
        "I-th on. N such commands, for I from 1 to N, may run at the same time, on any\n"
        "machines that see GRAPH and DIR.\n\n"
        f"{GRAPHS}\n"
        "The command example writes friends.csv.",
        [
            "friends.csv --out rows --top 10",
            "graph --out rows --top 32 --epsilon 1e-4 --n-jobs -1",
            "graph --out rows --top 32 --shard $SLURM_ARRAY_TASK_ID/16",
        ],
    )
    _add_graph(parser)
    parser.add_argument("--out", metavar="DIR", required=True, help="the folder, new or with some of these rows")
    parser.add_argument("--top", metavar="K", type=_whole_number, help="write only the K largest values of each row")
    _add_precision(parser)
    parser.add_argument(
        "--dtype", choices=("float64", "float32"), default="float64", help="the type of values (default: %(default)s)"
    )
    parser.add_argument(
        "--rows-per-shard", metavar="N", type=_whole_number, help="fewer take less memory (default: a 64th of all)"
    )
    parser.add_argument(
        "--shard", metavar="I/N", type=_part, help="only every N-th shard, from the I-th on: a part of N"
    )
    parser.add_argument("--n-jobs", metavar="N", type=_whole_number, help="threads; -1 means one per core (default: 1)")
    _add_reading(parser)
    _add_json(parser)


def _add_convert(parsers: Any) -> None:
    parser = _add_command(
        parsers,
        commands.convert,
        "Save the graph of a file to a folder, which opens much faster.\n\n"
        "Every command that takes GRAPH takes such a folder. It reads the folder once, to\n"
        "check that no damage can crash it: ten million edges take milliseconds, if the\n"
        "system still has them in memory.\n\n"
        "EDGES are one or more files of edges, which make one graph, or - for standard\n"
        "input. They may be compressed (gz, bz2, xz), in Matrix Market or in Parquet.\n"
        f"{COLUMNS}\n"
        "The folder appears whole or not at all.\n\n"
        "The command example writes friends.csv.",
        [
            "friends.csv friends",
            "edges-*.csv.gz graph --columns from,to,km --directed",
            "out.ucidata-zachary karate --no-header",
        ],
    )
    parser.add_argument("edges", metavar="EDGES", nargs="+", help="files of edges, or - for standard input")
    parser.add_argument("folder", metavar="FOLDER", help="the folder, new or with an older graph")
    _add_reading(parser)
    _add_json(parser)


def _add_calls(parsers: Any) -> None:
    parser = _add_command(
        parsers,
        commands.calls,
        "Run a program, and list its calls of NetworkX: where each ran, and why there.\n\n"
        "PROGRAM runs as python runs it, with NETWORKX_BACKEND_PRIORITY=fastonl unless\n"
        "a variable with this name says otherwise. What it prints and its exit code are\n"
        "its own. After it has ended, standard error gets a table: the function, where\n"
        "it ran, how often, how long, and why it did not run in fastonl.\n\n"
        "The seconds are those until a call returned, calls inside of it included. Calls\n"
        "in other processes are not seen.",
        ["program.py --its-own options", "-m package.module", "--output calls.csv program.py"],
        usage=f"{PROGRAM} calls [options] [-m] PROGRAM [ARGUMENTS ...]",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module")
    parser.add_argument(
        "--inner", action="store_true", help="also list calls that NetworkX's functions make of each other"
    )
    parser.add_argument("--output", metavar="FILE", help="write the table to a file, or to - for standard output")
    parser.add_argument("--format", choices=FORMATS, help="its format (default: by the suffix of FILE, or csv)")
    parser.add_argument("program", metavar="PROGRAM", help="a file of Python code, or with -m a module")
    rest = parser.add_argument("arguments", metavar="ARGUMENTS", nargs=argparse.REMAINDER, help="those of the program")
    rest.required = False  # errors do not ask for them
    parser.set_defaults(json=False)


def _add_datasets(parsers: Any) -> None:
    parser = _add_command(
        parsers,
        commands.datasets,
        "List the datasets.\n\nA dataset that is not available yet is downloaded when an experiment needs it.",
        ["", "--data-home /data --json"],
    )
    _add_data_home(parser)
    _add_json(parser)


def _add_experiment(parsers: Any) -> None:
    parser = _add_command(
        parsers,
        commands.experiment,
        "Run an experiment of the paper.\n\n"
        "Writes a CSV file and a picture to a folder, and prints a summary. Results\n"
        "of an earlier run in that folder are not computed again. Without NAME, lists\n"
        "the experiments.\n"
        "Needs the extra: pip install 'nx-fastonl[demo]'.",
        [
            "",
            "accuracy --quick",
            "error-curves --graphs cora,citeseer --trials 5 --n-jobs 2 --out results",
            "adaptive --graphs graphs/*.npz",
            "directed --graphs ogbn-arxiv arxiv-by-year=years.npz",
        ],
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="the experiment")
    parser.add_argument(
        "--graphs",
        metavar="A,B,...",
        nargs="+",
        action="extend",
        type=lambda text: [name.strip() for name in text.split(",") if name.strip()],
        help="datasets, and .npz files of graphs, to run it on (default: the paper's; where arrows matter, ogbn-arxiv)",
    )
    parser.add_argument(
        "--trials", metavar="N", type=_whole_number, help="runs of each task (default: 10, with --quick 2)"
    )
    parser.add_argument(
        "--n-jobs", metavar="N", type=_whole_number, help="processes; -1 means one per core (default: 1)"
    )
    parser.add_argument("--quick", action="store_true", help="run two trials on small graphs, without a download")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("results"), help="(default: %(default)s)")
    _add_data_home(parser)
    _add_json(parser)


def _add_info(parsers: Any) -> None:
    parser = _add_command(
        parsers,
        commands.info,
        "Show versions, compiled modules and optional packages.\n\nAdd its output to a bug report.",
        ["", "--json"],
    )
    _add_json(parser)


def _add_graph(parser: Any, nargs: str | None = None) -> None:
    meaning = "a file of edges, a pattern of files, a folder, or - for standard input"
    parser.add_argument("graph", metavar="GRAPH", nargs=nargs, help=meaning)


def _add_method(parser: Any, smoothness: str) -> None:
    """Add what says how labels are learned."""
    parser.add_argument("--method", metavar="NAME", help="(default: adaptive)")
    parser.add_argument(
        "--kernel", metavar="NAME", help="(default: normalized-laplacian; for perceptron, augmented-laplacian)"
    )
    parser.add_argument(
        "--smoothness", metavar="X", type=_number, help=f"lambda / n of the kernel (default: {smoothness})"
    )
    _add_seed(parser, "decides the random choices of the method", None)


def _add_reading(parser: Any) -> None:
    """Add what says how a file of edges is read."""
    parser.add_argument("--directed", action="store_true", help="edges lead only from the first node to the second")
    parser.add_argument(
        "--delimiter",
        metavar="C",
        type=lambda text: text.replace("\\t", "\t"),
        help="what stands between columns: one character, \\t for a tab (default: found from the first lines)",
    )
    parser.add_argument(
        "--columns",
        metavar="A,B[,C]",
        type=_columns,
        help="source, target and weight: names in the header, or numbers from 0 (default: found likewise)",
    )
    parser.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first line is a header (default: found likewise)",
    )
    parser.add_argument(
        "--comments", metavar="CC", help="lines that begin with one of these are skipped (default: #%%)"
    )


def _add_precision(parser: Any) -> None:
    parser.add_argument("--alpha", type=_number, default=0.85, help="the damping (default: %(default)s)")
    precision = parser.add_mutually_exclusive_group()
    precision.add_argument(
        "--epsilon",
        type=_number,
        help="the residual per neighbour that may remain (default: 1e-6, less in dense graphs)",
    )
    precision.add_argument(
        "--tol", metavar="X", type=_number, help="instead of --epsilon: an upper bound on the L1 error"
    )


def _add_output(parser: Any) -> None:
    parser.add_argument("--output", metavar="FILE", default="-", help="the table (default: standard output)")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="the format of the table (default: by the suffix of FILE, or csv)",
    )
    _add_json(parser)


def _add_json(parser: Any) -> None:
    parser.add_argument("--json", action="store_true", help="print the answer as JSON, and nothing else")


def _add_seed(parser: Any, meaning: str, default: int | None) -> None:
    parser.add_argument(
        "--seed", metavar="N", type=_whole_number, default=default, help=f"{meaning} (default: {default or 0})"
    )


def _add_data_home(parser: Any) -> None:
    parser.add_argument(
        "--data-home", metavar="DIR", help="where downloads are kept (default: $NX_FASTONL_DATA, or a cache folder)"
    )
