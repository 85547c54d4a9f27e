"""The first page, and the order of what the site has."""

import html
import re

from .markup import Markdown, first_sentence, slug
from .site import Entry, Page, relative
from .symbolgraphs import PRODUCTS, ROOT

GROUPS = ["", "Guides", "Coming from another router", "Protocol", "JavaScript", "Swift", "Project"]
PATH = "index.html"


def page(documents, reference, summaries):
    """What Waybridge is, in the words of README; a way into each part; the picture of the sources."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    opening = readme.partition("\n## ")[0]
    # Links lead into the repository, so only their text remains. Pictures are assets of the site.
    opening = re.sub(r"(?<!!)\[([^\]]+)\]\([^)]*\)", r"\1", opening)
    document = Markdown(opening, PATH, "README.md", lambda target: target.rpartition("/")[2])
    guides = [each for each in documents if each.group == "Guides" and each.path.startswith("guides/")]
    cards = "".join(
        f'<li><a href="{relative(each.path, PATH)}"><strong>{html.escape(each.title)}</strong><span>{html.escape(summaries[each.path])}</span></a></li>'
        for each in guides
    )
    rows = [("protocol.html", "The protocol", "every message, rule and error"), ("methods.html", "Methods", "params, results and errors of each"),
            ("codes.html", "Codes", "errors and close codes"), ("javascript.html", "JavaScript", "the client of web pages"),
            ("guides.html#coming-from-another-router", "Coming from another router", "BBRouter, JLRoutes, TheRouter, maps of actions")]  # fmt: skip
    rows += [(f"swift/{name.lower()}.html", name, f"Swift: {abstract(name)}") for name in PRODUCTS if reference]
    links = "".join(f'<li><a href="{path}"><strong>{title}</strong><span>{about}</span></a></li>' for path, title, about in rows)
    parts = [
        document.html,
        f'<h2 id="guides">Guides</h2><ul class="cards">{cards}</ul>',
        f'<h2 id="reference">Reference</h2><ul class="cards">{links}</ul>',
        '<h2 id="architecture">Architecture</h2>',
        '<p class="picture"><img src="architecture.svg" alt="The targets of the package, and which imports which"></p>',
        f'<p>What each is: <a href="{relative("sources.html", PATH)}">map of the sources</a>.</p>',
    ]
    return Page(PATH, "Waybridge", "", "\n".join(parts), "README.md", [Entry("Waybridge", "page")], label="Start")


def abstract(product):
    """The first sentence of a product's article."""
    article = (ROOT / f"Sources/{product}/{product}.docc/{product}.md").read_text(encoding="utf-8")
    return html.escape(first_sentence(article.split("\n\n")[1].replace("\n", " ")))


def placeholder_page(site, guides):
    """A page in place of the Swift reference, for a site that is built without it."""
    for name in PRODUCTS:
        folder = ROOT / f"Sources/{name}/{name}.docc"
        for article in sorted(folder.glob("*.md")):
            path = guides.swift_article(str(article.relative_to(ROOT)))
            title, *sections = headings(article.read_text(encoding="utf-8"))
            body = f"<h1>{html.escape(title)}</h1><p>This site was built without the reference of the Swift products.</p>"
            taken = set()
            # Links from other documents lead to them.
            body += "".join(f'<h2 id="{html.escape(slug(each, taken))}">{html.escape(each)}</h2>' for each in sections)
            site.add(Page(path, title, "Swift", body, str(article.relative_to(ROOT)), listed=False))


def headings(text):
    """Those of a document, without what its blocks of code hold."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return [found.replace("`", "") for found in re.findall(r"^#+ (.+)$", prose, re.MULTILINE)]
