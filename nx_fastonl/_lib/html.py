"""What notebooks show of an object: small pieces of HTML without scripts. Every text in them is escaped here.

Colours follow the page: JupyterLab's and VS Code's theme, the theme of the documentation, or else the system's, by
``color-scheme``. Text has the page's ink on the page's ground, and marks are translucent: both are legible on either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = [
    "NAMES_SHOWN",
    "bars",
    "curve",
    "facts",
    "few_names",
    "fraction",
    "heading",
    "name_of",
    "note",
    "number",
    "record_view",
    "table",
    "view",
    "view_or_none",
]

# Characters of a name that are shown, and values of a collection.
NAME_CHARACTERS = 32
NAMES_SHOWN = 5
# Of other texts, such as paths.
TEXT_CHARACTERS = 300
# Points of a curve and bars of a histogram: a picture has no room for more.
CURVE_POINTS = 120
PICTURE = (300, 96)
# The fraction of a curve that is its beginning.
BEGINNING = 0.1
# Blue, as in pictures; orange attracts, purple repels.
BLUE, ORANGE, PURPLE = "42,127,196", "224,130,20", "128,80,190"
# The faintest and strongest tint under a text.
TINTS = (0.0, 0.42)

# The name of the class comes several times where JupyterLab's own styles of lists and tables would win otherwise.
STYLE = """
.nx-fastonl{color-scheme:light dark;display:inline-block;max-width:100%;box-sizing:border-box;overflow-x:auto;
padding:.5em .8em .6em;border:1px solid rgba(128,128,128,.4);border-radius:4px;font:13px/1.45 system-ui,sans-serif;
color:var(--jp-content-font-color0,var(--vscode-editor-foreground,var(--pst-color-text-base,CanvasText)));
background:var(--jp-layout-color0,var(--vscode-editor-background,var(--pst-color-background,Canvas)))}
[data-theme=light] .nx-fastonl,[data-jp-theme-light=true] .nx-fastonl{color-scheme:light}
[data-theme=dark] .nx-fastonl,[data-jp-theme-light=false] .nx-fastonl,html[theme=dark] .nx-fastonl{color-scheme:dark}
.nx-fastonl .head{margin:0 0 .35em;font-size:14px}
.nx-fastonl .head b{margin-right:.5em}
.nx-fastonl .parts{display:flex;flex-wrap:wrap;gap:.6em 2em;align-items:flex-start}
.nx-fastonl .part{min-width:0;max-width:100%}
.nx-fastonl .title{margin:0 0 .2em;opacity:.8}
.nx-fastonl.nx-fastonl dl{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.1em 1em;margin:0;padding:0;
align-items:start;width:auto;max-width:34em}
.nx-fastonl.nx-fastonl :is(dt,dd){float:none;width:auto;margin:0;padding:0;font-weight:normal}
.nx-fastonl.nx-fastonl dt{opacity:.8;white-space:nowrap}
.nx-fastonl.nx-fastonl dd{overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.nx-fastonl svg{display:block;max-width:100%;height:auto;overflow:visible}
.nx-fastonl svg text{fill:currentColor;font:10px system-ui,sans-serif}
.nx-fastonl.nx-fastonl.nx-fastonl table{border-collapse:collapse;width:auto;margin:0;font-size:12px;border:0;
background:none;color:inherit;table-layout:auto}
.nx-fastonl.nx-fastonl.nx-fastonl tr{background:none}
.nx-fastonl.nx-fastonl.nx-fastonl :is(td,th){padding:.15em .6em;border:1px solid rgba(128,128,128,.3);color:inherit;
text-align:right;font-weight:normal;white-space:nowrap;font-variant-numeric:tabular-nums;max-width:14em;overflow:hidden;
text-overflow:ellipsis}
.nx-fastonl.nx-fastonl.nx-fastonl :is(tbody th,thead th:first-child){text-align:left}
.nx-fastonl .note{margin:.3em 0 0;opacity:.8}
""".replace("\n", "")


def view_or_none(make: Callable[[], str]) -> str | None:
    """What a ``_repr_html_`` returns: a view, or None if making it raises. Then a notebook shows the `repr`."""
    try:
        return make()
    except Exception:  # noqa: BLE001  labels and nodes are anybody's objects, and to look at something is no call
        return None


def view(kind: str, summary: str, *parts: str) -> str:
    """The whole: what it is, one line about it, and its parts side by side. Parts that are empty are left out."""
    shown = "".join(f'<div class="part">{part}</div>' for part in parts if part)
    head = f'<div class="head"><b>{escape(kind)}</b> <span>{escape(summary)}</span></div>'
    return f'<div class="nx-fastonl"><style>{STYLE}</style>{head}<div class="parts">{shown}</div></div>'


def heading(text: str) -> str:
    """A line above a part."""
    return f'<div class="title">{escape(text)}</div>'


def note(text: str) -> str:
    """A line below a part."""
    return f'<div class="note">{escape(text)}</div>'


def facts(values: Mapping[str, object]) -> str:
    """Names and values, one below the other. A value of None is left out."""
    pairs = (f"<dt>{escape(name)}</dt><dd>{_value(value)}</dd>" for name, value in values.items() if value is not None)
    return f"<dl>{''.join(pairs)}</dl>"


def record_view(record: Any, names: Collection[str] = ()) -> str | None:
    """The ``_repr_html_`` of a dataclass: its attributes under their own names. `names` are those that hold a name.

    A name is shown as it is, also where it is a number or True, which of a measurement is rounded or "yes".
    """

    def make() -> str:
        values = {field.name: getattr(record, field.name) for field in fields(record)}
        shown = {name: name_of(value) if name in names else _attribute(value) for name, value in values.items()}
        return view(type(record).__name__, "", facts(shown))

    return view_or_none(make)


def _attribute(value: object) -> object:
    """What `facts` shows of an attribute: numbers and groups of nodes as they are, anything else by its name."""
    is_groups = isinstance(value, tuple) and all(isinstance(group, tuple) for group in value)
    return value if is_groups or isinstance(value, Real | np.bool_) else name_of(value)


def table(columns: Sequence[str], rows: Sequence[tuple[str, Sequence[tuple[str, str]]]], corner: str = "") -> str:
    """A table of texts. A row is its name and cells; a cell is a text, and the colour under it or nothing."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(f'<tr><th scope="row">{escape(name)}</th>{"".join(map(_cell, cells))}</tr>' for name, cells in rows)
    return f"<table><thead><tr><th>{escape(corner)}</th>{head}</tr></thead><tbody>{body}</tbody></table>"


def tint(colour: str, strength: float) -> str:
    """A colour to be put under a text: the stronger, the less of the ground shows."""
    least, most = TINTS
    return f"rgba({colour},{least + (most - least) * min(max(strength, 0.0), 1.0):.2f})"


def curve(values: Sequence[float], x_title: str, description: str) -> str:
    """A line through fractions: at most so many points, evenly spread, the last among them.

    The scale ends where the line does not go after its beginning, which is cut off there: the first values of a mean
    jump.
    """
    n = len(values)
    if n == 0:
        return ""
    (width, height), top = PICTURE, _round_up(max(values[int(BEGINNING * n) :]))
    picked = sorted({round(i * (n - 1) / (CURVE_POINTS - 1)) for i in range(CURVE_POINTS)})
    places = ((width * i / max(n - 1, 1), height * (1.0 - min(values[i] / top, 1.0))) for i in picked)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    line = f'<polyline points="{points}" fill="none" stroke="rgb({BLUE})" stroke-width="1.8" stroke-linejoin="round"/>'
    return _picture(line, {0.0: "0", 0.5: f"{top / 2:.2g}", 1.0: f"{top:.2g}"}, ("1", x_title, f"{n:,}"), description)


def bars(counts: Sequence[int], ends: tuple[str, str, str], description: str) -> str:
    """A histogram; `ends` stand below its left end, its middle and its right end."""
    (width, height), most = PICTURE, max(counts, default=0)
    if most == 0:
        return ""
    step = width / len(counts)
    drawn = "".join(
        f'<rect x="{i * step + 0.5:.1f}" y="{height * (1.0 - count / most):.1f}" width="{max(step - 1.0, 0.5):.1f}" '
        f'height="{height * count / most:.1f}" fill="rgb({BLUE})"/>'
        for i, count in enumerate(counts)
        if count
    )
    return _picture(drawn, {0.0: "0", 1.0: f"{most:,}"}, ends, description)


def _picture(drawn: str, ticks: Mapping[float, str], ends: tuple[str, str, str], description: str) -> str:
    """What is drawn, with lines across it at fractions of its height, and texts below it."""
    width, height = PICTURE
    left = 8 + 6 * max(map(len, ticks.values()))
    lines = "".join(
        f'<line x1="0" x2="{width}" y1="{height * (1.0 - y):.1f}" y2="{height * (1.0 - y):.1f}" '
        f'stroke="rgba(128,128,128,.45)"/><text x="-5" y="{height * (1.0 - y) + 3.5:.1f}" text-anchor="end">'
        f"{escape(text)}</text>"
        for y, text in ticks.items()
    )
    anchors = zip((0, width / 2, width), ("start", "middle", "end"), ends, strict=True)
    below = "".join(
        f'<text x="{x:g}" y="{height + 14}" text-anchor="{anchor}">{escape(text)}</text>' for x, anchor, text in anchors
    )
    box = f"{-left} -8 {width + left + 8} {height + 28}"
    size = f'width="{width + left + 8}" height="{height + 28}"'
    return f'<svg role="img" aria-label="{escape(description)}" viewBox="{box}" {size}>{lines}{drawn}{below}</svg>'


def name_of(value: object) -> str:
    """A label or a node as a short text, whatever it is: what cannot be printed is shown as Python writes it."""
    try:
        text = str.__str__(value) if isinstance(value, str) else repr(value)
    except Exception:  # noqa: BLE001  the `repr` of an object of whoever calls
        return f"a {type(value).__name__}"
    text = text[: NAME_CHARACTERS + 1]
    if not text.isprintable() or not text.strip():
        text = repr(text)
    return text if len(text) <= NAME_CHARACTERS else f"{text[:NAME_CHARACTERS]}…"


def few_names(values: Iterable[object], total: int) -> str:
    """The first of these values, and how many others there are."""
    shown = [name_of(value) for value, _ in zip(values, range(NAMES_SHOWN), strict=False)]
    return ", ".join([*shown, f"{total - len(shown):,} more"] if total > len(shown) else shown)


def number(value: float) -> str:
    """A number as people read it."""
    if isinstance(value, Integral):
        return f"{int(value):,}" if abs(int(value)) < 10**18 else f"{float(value):.3g}"
    return f"{value:.4g}"


def fraction(part: float, whole: float) -> str:
    """A part of a whole, as a percentage."""
    return f"{100.0 * part / whole:.1f} %" if whole else "-"


def _value(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return escape(few_names(value, len(value)) if value else "none")
    if isinstance(value, Real):
        return escape(number(int(value) if isinstance(value, Integral) else float(value)))
    return escape(str(value)[:TEXT_CHARACTERS])


def _cell(cell: tuple[str, str]) -> str:
    text, colour = cell
    style = f' style="background:{colour}"' if colour else ""
    return f"<td{style}>{escape(text)}</td>"


def _round_up(value: float) -> float:
    """A round number that is not below this fraction; 1 for 0, and for what rounding errors leave of it."""
    if not 1e-9 < value < math.inf:
        return 1.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(step * size for step in (1.0, 2.0, 5.0, 10.0) if step * size >= value * (1.0 - 1e-12))
