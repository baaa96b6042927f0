"""The views of notebooks, as a browser draws them: light and dark, in plain pages and in those with a theme."""

import networkx as nx
import pytest

import nx_fastonl as fo

# The variables of JupyterLab's themes, and how the documentation says which of its own is on.
LAB = {
    "light": ":root{--jp-layout-color0:#fff;--jp-content-font-color0:rgba(0,0,0,1)}",
    "dark": ":root{--jp-layout-color0:#111;--jp-content-font-color0:rgba(255,255,255,1)}",
}
# Its own styles of tables and lists in outputs.
LAB_STYLES = """
.jp-OutputArea-output dl{width:100%;overflow:hidden;padding:0;margin:0}
.jp-OutputArea-output dt{font-weight:bold;float:left;width:20%;padding:0;margin:0}
.jp-OutputArea-output dd{float:left;width:80%;padding:0;margin:0}
.jp-RenderedHTMLCommon tbody tr:nth-child(odd){background:rgb(245,245,245)}
.jp-RenderedHTMLCommon :is(td,th,tr){text-align:right;padding:.5em;white-space:normal}
.jp-RenderedHTMLCommon table{table-layout:fixed;margin:0 auto}
"""
HOSTILE = [
    "<script>window.ran = true</script>",
    '"><img src=x onerror="window.ran = true">',
    "a\nb",
    "W" * 500,
    "</style>",
    "Ωمرحبا🙂",
]

# The texts of a view with the least contrast, and what sticks out. Colours are blended over what is below them.
LOOK = """() => {
    // A translucent colour as it is drawn: the canvas of the browser knows every way to write one.
    const context = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d");
    const rgba = text => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = text;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
    const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(
        c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
    ).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const contrast = (one, other) => {
        const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
        return (bright + 0.05) / (dark + 0.05);
    };
    const found = [];
    for (const view of document.querySelectorAll(".nx-fastonl")) {
        const walker = document.createTreeWalker(view, NodeFilter.SHOW_TEXT);
        const contrasts = [];
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const owner = node.parentElement;
            if (!node.textContent.trim() || owner.tagName === "STYLE") continue;
            const chain = [];
            for (let box = owner; box !== view.parentElement; box = box.parentElement) chain.unshift(box);
            let ground = rgba(getComputedStyle(view).backgroundColor), opacity = 1;
            const own = getComputedStyle(owner);
            for (const box of chain.slice(1)) {
                ground = over(rgba(getComputedStyle(box).backgroundColor), ground);
                opacity *= Number(getComputedStyle(box).opacity);
            }
            const ink = rgba(owner instanceof SVGElement ? own.fill : own.color);
            contrasts.push(contrast(over([ink[0], ink[1], ink[2], ink[3] * opacity], ground), ground));
        }
        const box = view.getBoundingClientRect();
        const outside = [...view.querySelectorAll("*")].map(part => part.getBoundingClientRect())
            .filter(part => part.width && (part.right > box.right + 1 || part.left < box.left - 1)).length;
        found.push({
            texts: contrasts.length,
            contrast: Math.min(...contrasts),
            hidden: view.scrollWidth - view.clientWidth,
            outside: view.scrollWidth > view.clientWidth ? 0 : outside,
            broken: [...view.querySelectorAll("dt, dd")]
                .filter(part => part.textContent.length < 20 && part.offsetHeight > 30).length,
            dark: light(rgba(getComputedStyle(view).backgroundColor)) < 0.2,
            rows: [...view.querySelectorAll("tbody tr")].map(row => getComputedStyle(row).backgroundColor),
        });
    }
    return found;
}"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """One of everything that has a view, with hostile names and without."""
    folder = tmp_path_factory.mktemp("views")
    karate = nx.karate_club_graph()
    G = nx.Graph()
    for i, name in enumerate(HOSTILE):
        G.add_edges_from([(name, HOSTILE[i - 1]), (name, i), (i, i + 1)])
    labels = {node: HOSTILE[i % len(HOSTILE)] for i, node in enumerate(G)}
    model = fo.OnlineNodeLabeler(G, seed=0)
    seq = model.run(labels)
    rows = fo.ppr_matrix(karate, top_k=3, out=folder / "<b>rows")
    with fo.DurableGraph(folder / HOSTILE[0].replace("/", ""), G, sync="never") as durable:
        durable.labeler(HOSTILE[1])
        durable_view = durable._repr_html_()
    *_, push = fo.fifo_push(karate, 0, full_output=True)
    _, ranks = fo.personalized_pagerank_local(karate, personalization=22, top_k=3, full_output=True)
    _, resistances = fo.effective_resistance(karate, [(0, 33)], full_output=True)
    _, column = fo.kernel_column(karate, 0, full_output=True)
    everything = [
        fo.online_node_labeling(karate, "club", seed=0),
        seq,
        seq[:0],
        seq.calibration(),
        model,
        model.compatibility,
        model.certify_one(HOSTILE[0]),
        fo.CSRGraph.from_networkx(G),
        fo.DynamicGraph(G),
        fo.DynamicGraph(),
        rows,
        push,
        ranks,
        column,
        fo.local_community(G, HOSTILE[0]),
        resistances,
    ]
    return [durable_view, *(value._repr_html_() for value in everything)]


@pytest.fixture
def look(browser, shown):
    """A function that opens a page with all views, and says how they look; nothing may be loaded, nothing may run."""
    contexts, requests = [], []

    def open_page(scheme, head="", around="<main>", viewport=(1100, 800)):
        contexts.append(
            browser.new_context(color_scheme=scheme, viewport=dict(zip(("width", "height"), viewport, strict=True)))
        )
        page = contexts[-1].new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.set_content(f"<!doctype html><style>{head}</style><body>{around}{'<p>'.join(shown)}")
        page.wait_for_timeout(50)
        assert page.evaluate("window.ran") is None
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert requests == []


def check(found, scheme, n_views):
    assert len(found) == n_views
    for view in found:
        assert view["texts"] > 1
        assert view["contrast"] >= 4.5
        assert view["outside"] == 0
        assert view["broken"] == 0  # short texts take one line
        assert view["dark"] == (scheme == "dark")
        assert set(view["rows"]) <= {"rgba(0, 0, 0, 0)"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 375])
def test_plain_pages(look, shown, scheme, width):
    page = look(scheme, viewport=(width, 800))
    found = page.evaluate(LOOK)
    check(found, scheme, len(shown))
    if width == 1100:
        assert [view["hidden"] for view in found] == [0] * len(shown)
    # What is wider than a phone scrolls inside of its own frame.
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_of_jupyterlab_counts_more_than_that_of_the_system(look, shown, scheme):
    system = {"light": "dark", "dark": "light"}[scheme]
    is_light = "true" if scheme == "light" else "false"
    around = f'<div data-jp-theme-light="{is_light}" class="jp-RenderedHTMLCommon jp-OutputArea-output">'
    check(look(system, LAB[scheme] + LAB_STYLES, around).evaluate(LOOK), scheme, len(shown))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_of_the_documentation_counts_too(look, shown, scheme):
    system = {"light": "dark", "dark": "light"}[scheme]
    check(look(system, "", f'<div data-theme="{scheme}">').evaluate(LOOK), scheme, len(shown))


def test_hostile_names_are_texts(look):
    page = look("light")
    assert page.locator(".nx-fastonl :is(script, img, a, iframe, object, link)").count() == 0
    assert (
        page.evaluate("""() => [...document.querySelectorAll(".nx-fastonl *")]
        .flatMap(part => part.getAttributeNames()).filter(name => name.startsWith("on")).length""")
        == 0
    )
    text = page.evaluate("document.body.innerText")
    assert "<script>window.ran = true</scri" in text
    assert "</style>" in text
    assert "WWWWWWWW…" in text
    assert "Ωمرحبا🙂" in text
