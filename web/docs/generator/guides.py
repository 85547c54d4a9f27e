"""The guides and the other documents in Markdown, and the files that they lead to."""

import html
import pathlib
import re

from .markup import Markdown, code, joined
from .site import ASSETS, Entry, Page, SiteError, relative
from .symbolgraphs import ROOT

# The order of the list; guides that it does not name follow.
GUIDES = [
    "concepts.md", "start.md", "tutorial.md", "frameworks.md", "tables.md", "installing.md", "deployment.md", "proxy.md", "policy.md", "durable.md", "cluster.md", "cluster-operating.md", "cluster-design.md", "testing.md",
    "operating.md", "metrics.md", "own-client.md", "troubleshooting.md", "faq.md", "security.md", "compatibility.md", "comparison.md", "decisions.md",
]  # fmt: skip
MIGRATION_GUIDES = ["bbrouter.md", "jlroutes.md", "therouter.md", "therouter-android.md", "webviewaction.md"]
# Documents elsewhere: where each goes, in which group, and how the list calls it.
OTHERS = [
    ("README.md", "overview.html", "", "Overview"),
    ("protocol/PROTOCOL.md", "protocol.html", "Protocol", "The protocol"),
    ("protocol/HTTP.md", "protocol-http.html", "Protocol", "HTTP and admission"),
    ("protocol/ADMINISTRATION.md", "protocol-administration.html", "Protocol", "Administration"),
    ("protocol/CONFORMANCE.md", "protocol-conformance.html", "Protocol", "Conformance"),
    ("web/bridge/README.md", "javascript.html", "JavaScript", "Using the client"),
    ("Sources/README.md", "sources.html", "Project", "Map of the sources"),
    ("Tests/Benchmarks/README.md", "benchmarks.html", "Project", "Benchmarks"),
]
LANGUAGES = {
    ".json": "json", ".js": "js", ".mjs": "js", ".ts": "ts", ".swift": "swift", ".sh": "sh", ".html": "html", ".py": "python",
    ".conf": "nginx", ".dart": "dart", ".kt": "kotlin", ".css": "css", ".yml": "yaml", ".yaml": "yaml", ".c": "c",
}  # fmt: skip


class Guides:
    def __init__(self):
        folder = ROOT / "web/docs"
        named = [name for name in GUIDES if (folder / name).exists()]
        rest = sorted(path.name for path in folder.glob("*.md") if path.name not in [*GUIDES, *MIGRATION_GUIDES, "README.md"])
        self.sources = [
            OTHERS[0],
            ("web/docs/README.md", "guides.html", "Guides", "All guides"),
            *((f"web/docs/{name}", f"guides/{pathlib.Path(name).stem}.html", "Guides", "") for name in [*named, *rest]),
            *((f"web/docs/{name}", f"guides/{pathlib.Path(name).stem}.html", "Coming from another router", "") for name in MIGRATION_GUIDES),
            *OTHERS[1:],
        ]
        self.paths = {source: path for source, path, _, _ in self.sources}
        self.files = {}
        self.anchors = {}  # of the protocol's documents, by headings: PAGE#ANCHOR
        self.summaries = {}

    def pages(self):
        found = [self.page(*each) for each in self.sources]
        done = set()
        while set(self.files) - done:
            for source in sorted(set(self.files) - done):
                found.append(self.file_page(source))
                done.add(source)
        return found

    def page(self, source, path, group, label):
        document = Markdown((ROOT / source).read_text(encoding="utf-8"), path, source, lambda target: self.leading(source, target))
        if source.startswith("protocol/"):
            self.anchors = {text: f"{path}#{anchor}" for _, text, anchor in document.headings} | self.anchors
        if not document.title:
            raise SiteError(f"{source} has no title: begin it with a line '# TITLE'")
        self.summaries[path] = document.summary
        return Page(path, document.title, group, document.html, source, document.entries, document.headings, label=label)

    def leading(self, source, target):
        """Where a link of a document leads: to a page, or to the page of a file of the project."""
        if re.match(r"(https?|mailto):", target):
            return target
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            raise SiteError(f"a link to {target}: only https:, http: and mailto: lead out of the site")
        file, mark, anchor = target.partition("#")
        wanted = joined(str(pathlib.PurePosixPath(source).parent), file) if file else source
        path = self.paths.get(wanted) or self.swift_article(wanted)
        if path is None and ROOT / wanted in ASSETS.values():
            return pathlib.PurePosixPath(wanted).name
        if path is None:
            if not (ROOT / wanted).exists():
                raise SiteError(f"a link to {target}: there is no {wanted}")
            path = self.files.setdefault(wanted, f"files/{wanted}.html")
        return path + mark + anchor

    @staticmethod
    def swift_article(source):
        """An article of a DocC catalogue is a page of its product."""
        match = re.fullmatch(r"Sources/(\w+)/\1\.docc/(\w+)\.md", source)
        if not match:
            return None
        product, article = match[1].lower(), match[2].lower()
        return f"swift/{product}.html" if product == article else f"swift/{product}/{article}.html"

    def file_page(self, source):
        path, place = self.files[source], ROOT / source
        if place.is_dir():
            body = self.listing(source, place, path)
        else:
            try:
                text = place.read_text(encoding="utf-8")
            except UnicodeDecodeError as error:
                raise SiteError(f"a link to {source}, which is no text") from error
            body = code(text, LANGUAGES.get(place.suffix, "text"))
        body = f"<h1><code>{html.escape(source)}</code></h1>\n{body}"
        return Page(path, source, "", body, source, [Entry(source, "file")], listed=False)

    def listing(self, source, place, path):
        index = place / "README.md"
        if index.exists() and f"{source}/README.md" in self.paths:
            return f'<p><a href="{relative(self.paths[f"{source}/README.md"], path)}">{html.escape(source)}/README.md</a></p>'
        names = sorted(each.name for each in place.iterdir() if not each.name.startswith(".") and each.name != "__pycache__")
        # A folder with hundreds of files, or below which are others, is named and not copied.
        if len(names) > 24 or any((place / name).is_dir() for name in names):
            return "<ul>" + "".join(f"<li><code>{html.escape(name)}</code></li>" for name in names) + "</ul>"
        rows = []
        for name in names:
            target = self.files.setdefault(f"{source}/{name}", f"files/{source}/{name}.html")
            rows.append(f'<li><a href="{relative(target, path)}"><code>{html.escape(name)}</code></a></li>')
        return f"<ul>{''.join(rows)}</ul>"
