"""The site: its pages, the frame around each, the index that is searched, and what is wrong with its links."""

import dataclasses
import html
import json
import os
import pathlib
import re
import shutil
import urllib.parse
from html.parser import HTMLParser

THEME = pathlib.Path(__file__).parent / "theme"
WEB = THEME.parents[2]
# What lies beside the pages as it is, by its name there.
ASSETS = {path.name: path for path in [*THEME.iterdir(), WEB / "demo/icon.svg", *(WEB / "docs").glob("*.svg"), *(WEB / "docs").glob("*.png")]}


class SiteError(Exception):
    """What stands in the way of the site, as whoever builds it is told it."""


@dataclasses.dataclass
class Entry:
    """What a search may find: `kind` says in a word what it is, `text` holds further words that lead to it."""

    title: str
    kind: str
    anchor: str = ""
    text: str = ""


@dataclasses.dataclass
class Page:
    """A page; `path` is where it lies in the site, `place` where it comes from."""

    path: str
    title: str
    group: str
    body: str
    place: str
    entries: list = dataclasses.field(default_factory=list)
    # (level, text, anchor)
    headings: list = dataclasses.field(default_factory=list)
    # (title, path) of what stands above it.
    trail: list = dataclasses.field(default_factory=list)
    # Whether the list of all pages has it, and with which name.
    listed: bool = True
    label: str = ""


def relative(path, origin):
    """The link from the page `origin` to `path`, which may end with an anchor."""
    target, mark, anchor = path.partition("#")
    if target == origin and mark:
        return f"#{quoted(anchor)}"
    link = os.path.relpath(target, os.path.dirname(origin) or ".")
    return urllib.parse.quote(link) + (f"#{quoted(anchor)}" if mark else "")


def quoted(anchor):
    return urllib.parse.quote(anchor, safe="()_:,-!*'$.~")


class Site:
    def __init__(self):
        self.pages = {}

    def add(self, page):
        if page.path in self.pages:
            raise SiteError(f"{page.place}: {page.path} is made of {self.pages[page.path].place} already")
        self.pages[page.path] = page

    def write(self, folder):
        """Writes all files into a folder that is empty, or holds a site, which is replaced."""
        folder = pathlib.Path(folder)
        if folder.exists() and any(folder.iterdir()) and not (folder / "search-index.js").exists():
            raise SiteError(f"{folder} holds something that is no site: empty it, or name another folder")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, asset in ASSETS.items():
            shutil.copy(asset, folder / name)
        for page in self.pages.values():
            path = folder / page.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.framed(page), encoding="utf-8")
        (folder / "search-index.js").write_text(self.index(), encoding="utf-8")

    def index(self):
        rows = [
            [entry.title, entry.kind, page.path + (f"#{quoted(entry.anchor)}" if entry.anchor else ""), page.title, entry.text]
            for page in self.pages.values()
            for entry in page.entries
        ]
        # A script, since pages that are files may not fetch others.
        return "globalThis.waybridgeIndex = " + json.dumps(rows, ensure_ascii=False, separators=(",", ":")) + ";\n"

    def navigation(self, current):
        groups = {}
        for page in self.pages.values():
            if page.listed:
                groups.setdefault(page.group, []).append(page)
        parts = []
        for group, pages in groups.items():
            items = "".join(
                f'<li><a href="{relative(page.path, current.path)}"{self.currency(page, current)}>'
                f"{html.escape(page.label or page.title)}</a></li>"
                for page in pages
            )
            parts.append(f"<h2>{html.escape(group)}</h2><ul>{items}</ul>" if group else f"<ul>{items}</ul>")
        return "".join(parts)

    @staticmethod
    def currency(page, current):
        if page is current:
            return ' aria-current="page"'
        return ' aria-current="true"' if any(path == page.path for _, path in current.trail) else ""

    def framed(self, page):
        root = "../" * page.path.count("/")
        trail = "".join(
            f'<li><a href="{relative(path, page.path)}">{html.escape(title)}</a></li>' for title, path in page.trail
        )
        contents = "".join(
            f'<li class="level{level}"><a href="#{quoted(anchor)}">{html.escape(text)}</a></li>'
            for level, text, anchor in page.headings
            if level in (2, 3)
        )
        aside = f'<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>{contents}</ul></nav>'
        return FRAME.format(
            title=html.escape(page.title if page.title == "Waybridge" else f"{page.title} · Waybridge"),
            root=root,
            navigation=self.navigation(page),
            trail=f'<nav class="trail" aria-label="Where this is"><ol>{trail}</ol></nav>' if trail else "",
            body=page.body,
            contents=aside if len(page.headings) > 2 else "",
            place=html.escape(page.place),
        )

    def faults(self):
        """Links within the site that lead nowhere, anchors that stand twice, and pages without a title."""
        parsed = {path: Anatomy(page.body) for path, page in self.pages.items()}
        framing = {"main", "search", "results", "menu"}
        found = []
        for path, anatomy in parsed.items():
            page = self.pages[path]
            twice = sorted({each for each in anatomy.anchors if anatomy.anchors.count(each) > 1})
            found += [f"{page.place}: two things have the anchor {anchor!r}" for anchor in twice]
            if anatomy.titles != 1:
                found.append(f"{page.place}: {anatomy.titles} titles (h1) in the place of one")
            for link in anatomy.links:
                fault = self.fault_of(link, path, parsed, framing)
                if fault:
                    found.append(f"{page.place}: {link}: {fault}")
            for entry in page.entries:
                if entry.anchor and entry.anchor not in anatomy.anchors:
                    found.append(f"{page.place}: the index leads to {entry.anchor!r}, which is not there")
        return found

    def fault_of(self, link, origin, parsed, framing):
        parts = urllib.parse.urlsplit(link)
        if parts.scheme in ("http", "https", "mailto"):
            return None
        if parts.scheme or parts.netloc:
            return "leads out of the site"
        target = os.path.normpath(os.path.join(os.path.dirname(origin), urllib.parse.unquote(parts.path))) if parts.path else origin
        if target not in parsed:
            return None if target in ASSETS else "there is no such page"
        anchor = urllib.parse.unquote(parts.fragment)
        return None if not anchor or anchor in parsed[target].anchors or anchor in framing else "the page has no such anchor"


class Anatomy(HTMLParser):
    """The links, anchors and titles of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.titles = [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.anchors.append(attributes["id"])
        self.titles += tag == "h1"
        self.links += [attributes[name] for name in ("href", "src") if name in attributes]


def words(text):
    """Text without markup, in one line."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text))).strip()


FRAME = """<!doctype html>
<html lang="en" data-root="{root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="{root}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="{root}style.css">
<script src="{root}theme.js"></script>
<script src="{root}site.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header class="top">
<button class="menu" id="menu" type="button" aria-expanded="false" aria-controls="pages">Menu</button>
<a class="home" href="{root}index.html"><img src="{root}icon.svg" alt="" width="24" height="24">Waybridge</a>
<form class="search" role="search" action="#">
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false"
 role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list" aria-keyshortcuts="/">
<ul id="results" role="listbox" aria-label="Found" hidden></ul>
<p class="found" role="status"></p>
</form>
<button class="theme" type="button">Theme</button>
</header>
<div class="columns">
<nav class="pages" id="pages" aria-label="All pages">{navigation}</nav>
<main id="main" tabindex="-1">{trail}<article>{body}</article><footer>Made of <code>{place}</code></footer></main>
{contents}
</div>
</body>
</html>
"""
