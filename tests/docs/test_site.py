"""The built site, as a reader's browser sees it. `make docs` builds it and runs these tests."""

import functools
import http.server
import os
import re
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import nx_fastonl as fo

SITE = os.environ.get("NX_FASTONL_SITE")
pytestmark = pytest.mark.skipif(not SITE, reason="the site is tested by `make docs`, which builds it")

DESKTOP = {"width": 1400, "height": 900}
PHONE = {"width": 375, "height": 812}
MODULES = ("datasets", "experiments", "plotting", "sklearn")
# By how much the page, or the article in it, which scrolls by itself, is wider than the window.
HIDDEN_WIDTH = """() => Math.max(
    ...[document.documentElement, ...document.querySelectorAll(".bd-article-container")]
    .map(box => box.scrollWidth - box.clientWidth))"""
# The text of a page without its code.
PROSE = """() => {
    const article = document.querySelector("article").cloneNode(true);
    article.querySelectorAll("code, pre").forEach(code => code.remove());
    return article.textContent;
}"""


class Page(HTMLParser):
    """The links of a page, and what in it can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, _tag, attrs):
        attributes = dict(attrs)
        self.anchors |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        self.links += [attributes[key] for key in ("href", "src") if attributes.get(key)]


@pytest.fixture(scope="module")
def pages():
    return {path: Page(path) for path in sorted(Path(SITE).rglob("*.html")) if "_static" not in path.parts}


@pytest.fixture(scope="module")
def address():
    """Where the site is served."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def visit(browser, address):
    """A function that opens a page of the site, and fails the test for whatever the browser complains of."""
    complaints, contexts = [], []

    def open_page(path, viewport=DESKTOP, **options):
        contexts.append(browser.new_context(viewport=viewport, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: message.type != "error" or complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: request.url.startswith((address, "data:")) or complaints.append(request.url))
        page.on("response", lambda answer: answer.status < 400 or complaints.append(f"{answer.status} {answer.url}"))
        page.goto(f"{address}/{path}", wait_until="networkidle")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


def relative(path):
    return path.relative_to(SITE).as_posix()


def test_every_internal_link_leads_somewhere(pages):
    anchors = {path.resolve(): page.anchors for path, page in pages.items()}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            target = urlsplit(link)
            if target.scheme or target.netloc:
                continue
            file = (path.parent / unquote(target.path)).resolve() if target.path else path.resolve()
            if not file.exists() or (target.fragment and target.fragment not in anchors.get(file, [target.fragment])):
                broken.append(f"{relative(path)}: {link}")
    assert not broken


def test_every_public_name_is_in_the_reference(pages):
    anchors = set().union(*(page.anchors for path, page in pages.items() if "reference" in path.parts))
    names = {f"nx_fastonl.{name}" for name in fo.__all__ if name not in ("__version__", *MODULES)}
    for module in MODULES:
        names |= {f"nx_fastonl.{module}.{name}" for name in getattr(fo, module).__all__}
    for cls in (fo.CSRGraph, fo.LabelSequence, fo.OnlineNodeLabeler):
        fields = getattr(cls, "__dataclass_fields__", ())  # the class's own docstring has them, as Attributes
        members = {name for name in vars(cls) if not name.startswith("_")}.difference(fields)
        names |= {f"nx_fastonl.{cls.__name__}.{name}" for name in members}
    assert names <= anchors


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_page_scrolls_sideways_or_has_errors(visit, address, pages, viewport):
    page = visit("index.html", viewport)
    too_wide = []
    for path in pages:
        page.goto(f"{address}/{relative(path)}", wait_until="load")
        if (hidden := page.evaluate(HIDDEN_WIDTH)) > 0:
            too_wide.append(f"{relative(path)}: {hidden} pixels")
    assert not too_wide


def test_formulas_are_drawn(visit, pages):
    theory = [relative(path) for path in pages if "theory" in path.parts]
    assert len(theory) == 10
    for path in theory:
        page = visit(path)
        heights = page.evaluate("[...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().height)")
        assert heights, path
        assert min(heights) > 0, path
        assert page.locator("merror").count() == 0, path
        prose = page.evaluate(PROSE)
        assert not re.search(r"\$|\\[a-zA-Z]", prose), path


def test_search_box_finds_a_function(visit):
    page = visit("index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("fifo_push")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=fifo_push*")
    found = page.locator("#search-results li a")
    found.first.wait_for()
    assert any("nx_fastonl.fifo_push" in link for link in found.evaluate_all("links => links.map(a => a.href)"))
    found.first.click()
    page.wait_for_load_state("load")
    assert "fifo_push" in page.locator("article").inner_text()


def test_menu_opens_on_a_phone(visit):
    page = visit("guide/pagerank.html", PHONE)
    page.locator("button.primary-toggle").click()
    page.get_by_role("link", name="Label a stream").first.click()
    page.wait_for_url("**/guide/streams.html")


def test_copied_code_has_no_prompts(visit):
    page = visit("getting_started.html", permissions=["clipboard-read", "clipboard-write"])
    block = page.locator("div.highlight-pycon").first
    block.hover()
    block.locator("button.copybtn").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("import networkx as nx\nimport nx_fastonl as fo")
    assert ">>>" not in copied


def test_dark_mode_is_dark(visit):
    for scheme, is_dark in (("light", False), ("dark", True)):
        page = visit("theory/push.html", color_scheme=scheme)
        background, ink = (
            sum(map(int, page.evaluate(f"getComputedStyle(document.body).{key}").strip("rgba()").split(",")[:3]))
            for key in ("backgroundColor", "color")
        )
        assert (background < ink) == is_dark
