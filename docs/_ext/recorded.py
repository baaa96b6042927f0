"""Tables and bars from the CSV files that the benchmarks recorded.

A page says `{recorded} engine` for the table of `benchmarks/engine.csv`, with a line below it on how it was made, from
`benchmarks/runs.json`; and `{bars} pagerank-certified` with the option `row` for some columns of one row, as bars.
"""

import csv
import json
from html import escape
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).parents[1] / "benchmarks"


class Recorded(SphinxDirective):
    """The table of a recorded benchmark and how it was made."""

    required_arguments = 1

    def run(self):
        name = self.arguments[0]
        header, *rows = _table(self, name)
        self.env.note_dependency(str(FOLDER / "runs.json"))
        return [_table_node(header, rows), _origin(name)]


class Bars(SphinxDirective):
    """Columns of one row of a recorded benchmark as bars; each line of the content is `label: column`."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"row": directives.unchanged_required}

    def run(self):
        header, *rows = _table(self, self.arguments[0])
        wanted = self.options.get("row")
        found = [dict(zip(header, row, strict=True)) for row in rows if row[0] == wanted]
        if len(found) != 1:
            raise self.error(f"{len(found)} rows begin with {wanted!r}")
        columns = dict(line.split(": ", 1) for line in self.content)
        if unknown := set(columns.values()) - found[0].keys():
            raise self.error(f"no such columns: {unknown}")
        values = {label: float(found[0][column]) for label, column in columns.items()}
        units = {column.rsplit(", ", 1)[-1] for column in columns.values()}
        if len(units) != 1:
            raise self.error(f"bars of different units: {units}")
        return [nodes.raw("", _bars(values, units.pop()), format="html")]


def _table(directive, name):
    path = FOLDER / f"{name}.csv"
    if not path.is_file():
        raise directive.error(f"nothing was recorded under this name: {name!r}")
    directive.env.note_dependency(str(path))
    with path.open(newline="") as file:
        return list(csv.reader(file))


def _table_node(header, rows):
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=1) for _ in header]
    group += nodes.thead("", _row_node(header))
    group += nodes.tbody("", *(_row_node(map(_shown, row, header)) for row in rows))
    return nodes.table("", group, classes=["recorded"])


def _row_node(cells):
    return nodes.row("", *map(_cell_node, cells))


def _cell_node(cell):
    classes = ["number"] if cell[:1].isdigit() else []
    return nodes.entry("", nodes.paragraph("", cell), classes=classes)


def _shown(cell, column):
    """The cell; numbers below a unit or a ratio to three digits, thousands with commas."""
    if cell.isdigit():
        return f"{int(cell):,}"
    if not cell.replace(".", "", 1).isdigit() or not (", " in column or " / " in column):
        return cell
    value = float(cell)
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"


def _origin(name):
    run = json.loads((FOLDER / "runs.json").read_text())[name]
    machine = run["machine"]
    versions = ", ".join(map(" ".join, run["versions"].items()))
    return nodes.paragraph(
        "",
        "",
        nodes.literal("", run["command"]),
        nodes.Text(
            f" on {run['date']}: {machine['cores']} cores of {machine['cpu']}, Python {machine['python']}, "
            f"{machine['compiler']}; {versions}."
        ),
        classes=["origin"],
    )


def _bars(values, unit):
    longest = max(values.values())
    bars = "".join(
        f'<div class="bar"><span class="label">{escape(label)}</span>'
        f'<span class="track"><span style="width: {max(100 * value / longest, 0.5):.1f}%"></span></span>'
        f'<span class="value">{value:,.0f} {escape(unit)}</span></div>'
        for label, value in values.items()
    )
    return f'<div class="bars">{bars}</div>'


def setup(app):
    app.add_directive("recorded", Recorded)
    app.add_directive("bars", Bars)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
