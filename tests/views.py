"""Reads the views that notebooks show."""

from html.parser import HTMLParser

# All elements and attributes that views are made of: none of them can run anything, or load anything.
ELEMENTS = {"div", "style", "b", "span", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td"}
ELEMENTS |= {"svg", "polyline", "line", "rect", "text"}
ATTRIBUTES = {"class", "style", "scope", "role", "aria-label", "viewbox", "width", "height", "points", "fill", "stroke"}
ATTRIBUTES |= {"stroke-width", "stroke-linejoin", "x", "x1", "x2", "y", "y1", "y2", "text-anchor"}


class View(HTMLParser):
    """The facts, tables, points and bars of a view, which must be well formed."""

    def __init__(self, source):
        super().__init__()
        self.source = source
        self.open, self.texts, self.facts, self.tables, self.points, self.bars = [], [], {}, [], [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in ELEMENTS
        assert {name for name, _ in attrs} <= ATTRIBUTES
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "polyline":
            self.points = [tuple(map(float, point.split(","))) for point in dict(attrs)["points"].split()]
        elif tag == "rect":
            self.bars.append(float(dict(attrs)["height"]))
        elif tag == "dd":
            self.facts[self.texts[-1]] = ""

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open[-1] == "style":
            return
        if self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += text
        elif self.open[-1] == "dd":
            self.facts[next(reversed(self.facts))] += text
        self.texts.append(text)


def view_of(value):
    return View(value._repr_html_())
