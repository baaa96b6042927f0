"""Files of arbitrary bytes through the command line, in this process: an exit code, and never a traceback."""

import contextlib
import csv
import functools
import io
import os
import sys
import tempfile
from pathlib import Path

from nx_fastonl._lib.checks import printable
from nx_fastonl.cli.main import main
from tests.fuzz.inputs import mutated
from tests.fuzz.verdicts import check

# Lists of edges, and a table of labels in each format that fits them.
EDGES = (
    b"source,target\n1,2\n2,3\n3,4\n4,1\n3,5\n",
    b"1 2\n2 3\n3 4\n",
    b"1\t2\t2\n2\t3\t0.5\n# a comment\n\n3\t4\t1e3\n",
    b"from,to,weight\n1,2,1\n2,3,2.5\n3,1,1e-3\n3,4,1\n",
    b"\xef\xbb\xbfu,v\r\n1,2\r\n2,3\r\n",
    b'"1","2"\n2,"3"\n',
    b'1,"a, b"\n2,1\n"a, b",c\n',
)
TABLES = {
    "csv": (b"node,label\n1,x\n2,y\n", b"1,left\n2,right\n", b"label,node\nx,1\ny,2\n"),
    "tsv": (b"node\tlabel\n1\tx\n2\ty\n", b"1\tx\n2\ty\n"),
    "json": (
        b'{"1": "x", "2": 2}',
        b'[{"node": "1", "label": "x"}, {"node": 2, "label": true}]',
        b'{"1": null, "2": 1.5}',
    ),
    "txt": (b"1 x\n2 y\n",),
    "parquet": (b"PAR1\x00\x00PAR1",),
}
# Texts that a terminal would obey, none of which it may get.
COMMANDS = (b"\x1b[2J", b"\xc2\x9b2J", b"\x1b]0;t\x07", b"\xe2\x80\xae", b"\x08\x7f")
NUMBERS = ("0.5", "0.85", "1e-3", "0", "-1", "1", "nan", "inf", "1e400", "", "x", "1e-300", "5", "0x1", "٣")


@functools.cache
def _folder():
    """A folder of this process, which is also where it works: whatever is written goes there."""
    folder = tempfile.mkdtemp(prefix="nx-fastonl-fuzz-")
    os.chdir(folder)
    return Path(folder)


def _content(draw, examples):
    if draw.chance(0.03):
        return draw.rest()
    return mutated(draw, draw.choice(examples), draw.choice([0, 0, 1, 1, 2, 4]))


def _arguments(draw, folder):
    command = draw.choice(["label", "label", "label", "ppr", "ppr", "convert", "other"])
    if command == "other":
        return draw.choice(
            [
                ["info"],
                [],
                ["datasets"],
                ["experiment"],
                ["--version"],
                ["nothing"],
                ["label"],
                ["info", "--json"],
                ["--help"],
                ["label", "--help"],
            ]
        )
    edges = _content(draw, EDGES)
    (folder / "edges.csv").write_bytes(edges)
    draw.note(edges=edges)
    arguments = [command, draw.choice(["edges.csv"] * 15 + ["graph", "graph", "-", ".", "missing", ""])]
    if draw.chance(0.1):
        arguments.append(draw.choice(["--header", "--no-header"]))
    if draw.chance(0.1):
        arguments.append(f"--delimiter={draw.choice([',', ';', ' ', 'TAB', '', 'ab', '1'])}".replace("TAB", "\t"))
    if draw.chance(0.1):
        arguments.append(f"--columns={draw.choice(['0,1', '1,0', '0,1,2', 'from,to', '0', '0,0', 'a,1', '9,10'])}")
    if draw.chance(0.1):
        arguments.append(f"--comments={draw.choice(['', '#', '%', '1'])}")
    if command == "convert":
        arguments.append(draw.choice(["graph", "graph", "edges.csv", ".", "no/graph"]))
        return arguments
    if command == "label":
        suffix = draw.choice(["csv"] * 5 + ["json"] * 5 + ["tsv", "tsv", "txt", "parquet"])
        table = _content(draw, TABLES[suffix])
        (folder / f"labels.{suffix}").write_bytes(table)
        draw.note(labels=table)
        arguments.append(draw.choice([f"labels.{suffix}"] * 15 + ["-", "edges.csv", "missing"]))
        if draw.chance(0.3):
            arguments.append("--online")
        if draw.chance(0.3):
            arguments.append(f"--unknown={draw.choice(['error', 'skip', 'skip', 'add', 'add', 'x'])}")
        if draw.chance(0.1):
            arguments.append(f"--save-model={draw.choice(['model', 'model', 'graph', '.'])}")
        if draw.chance(0.1):
            arguments.append(f"--model={draw.choice(['model', 'model', 'graph', 'missing'])}")
        if draw.chance(0.3):
            arguments += [
                "--method",
                draw.choice(
                    [
                        "fastonl",
                        "relaxation",
                        "weighted-majority",
                        "weighted-tree",
                        "approximate",
                        "fastonl-fifo",
                        "perceptron",
                        "x",
                        "",
                    ]
                ),
            ]
        if draw.chance(0.2):
            arguments += ["--kernel", draw.choice(["K1", "K2", "K3", "K4", "K5", "K6", "laplacian", "x"])]
        if draw.chance(0.2):
            arguments += [f"--smoothness={draw.choice(NUMBERS)}"]
        if draw.chance(0.1):
            arguments += [f"--seed={draw.choice(['1', '-1', 'x', '9' * 30])}"]
    else:
        arguments += ["--source", draw.choice(["1"] * 4 + ["2", "2", "a, b", "no", "", "-1"])]
        for name in ("alpha", "epsilon", "tol"):
            if draw.chance(0.15):
                arguments += [f"--{name}={draw.choice(NUMBERS)}"]
        if draw.chance(0.2):
            arguments += [f"--top={draw.choice(['1', '3', '0', '-1', 'x', '9' * 30])}"]
        if draw.chance(0.3):
            arguments.append("--directed")
    if draw.chance(0.2):
        arguments.append("--json")
    if draw.chance(0.2):
        arguments += [
            "--output",
            draw.choice(["out.csv", "out.json", "out.tsv", "out.txt", "no/such/folder.csv", ".", "-"]),
        ]
    if draw.chance(0.1):
        arguments += ["--format", draw.choice(["csv", "json", "tsv", "x"])]
    return arguments


def command_line(draw):
    """One command with files and arguments."""
    folder = _folder()
    arguments = _arguments(draw, folder)
    is_terminal = draw.chance(0.3)
    if is_terminal:
        command = draw.choice(COMMANDS)
        for name in ("edges.csv", "labels.csv", "labels.json"):
            if (folder / name).is_file():
                (folder / name).write_bytes((folder / name).read_bytes().replace(b"2", command))
        arguments = [argument.replace("2", command.decode()) for argument in arguments]
    draw.note(arguments=arguments, is_terminal=is_terminal)
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    out.isatty = lambda: is_terminal
    stdin = io.TextIOWrapper(io.BytesIO(_content(draw, EDGES) if "-" in arguments else b""))
    previous, sys.stdin = sys.stdin, stdin
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(arguments)
            except SystemExit as exit_:
                code = exit_.code
    finally:
        sys.stdin = previous
    out.flush()
    check(code in (0, 1, 2, None), "exit code {}", code)
    check("Traceback" not in err.getvalue(), "a traceback: {}", err.getvalue())
    if is_terminal and {"label", "ppr"} & set(arguments):  # other commands draw tables with rich
        shown = out.buffer.getvalue().decode() + err.getvalue()
        check(printable(shown) == shown, "a terminal gets {!r}", shown)
    if code == 1:
        check(
            [line.split(": ")[0] for line in err.getvalue().splitlines() if not line.startswith("warning: ")]
            == ["nx-fastonl"],
            "not one line: {!r}",
            err.getvalue(),
        )
    if code == 0 and arguments and arguments[0] == "ppr" and not {"--json", "--output", "--format"} & set(arguments):
        rows = list(csv.DictReader(io.StringIO(out.buffer.getvalue().decode())))
        check(all(0.0 <= float(row["value"]) <= 2.0 for row in rows), "values {}", rows)
    return code == 0
