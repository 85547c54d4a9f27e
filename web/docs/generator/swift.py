"""The Swift products: what docc makes of their catalogues and symbols, as plain pages.

docc's own pages are an app that fetches their content, which needs a server. Here each type is a page with all its members on it.
"""

import html
import json
import pathlib
import subprocess
import tempfile
import urllib.parse

from .markup import code, slug
from .site import Entry, Page, SiteError, relative
from .symbolgraphs import PRODUCTS, ROOT, write_graph

GROUP = "Swift"
# What has a page of its own; all else stands on the page of what it belongs to.
TYPES = {"struct", "class", "enum", "protocol", "actor", "typealias"}


def pages():
    """The pages of all products."""
    found = []
    for product in PRODUCTS:
        with tempfile.TemporaryDirectory() as folder:
            found += Product(product, rendered(product, pathlib.Path(folder))).pages()
    return found


def rendered(product, folder):
    """What docc makes of a product: render nodes by their addresses. Any warning of it is an error."""
    graphs, archive = folder / "graphs", folder / "archive"
    graphs.mkdir()
    write_graph(product, graphs)
    done = subprocess.run(
        ["docc", "convert", f"Sources/{product}/{product}.docc", "--additional-symbol-graph-dir", str(graphs),
         "--fallback-bundle-identifier", product, "--warnings-as-errors", "--output-path", str(archive)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    if done.returncode:
        raise SiteError(f"docc has found in {product}:\n{done.stdout}")
    nodes = [json.loads(path.read_text()) for path in sorted((archive / "data/documentation").rglob("*.json"))]
    return {node["variants"][0]["paths"][0]: node for node in nodes}


class Product:
    def __init__(self, name, nodes):
        self.name, self.nodes = name, nodes
        self.place = f"Sources/{name}"
        self.by_identifier = {node["identifier"]["url"]: path for path, node in nodes.items()}

    def is_page(self, path):
        node = self.nodes[path]
        if node["kind"] == "article":
            return node["metadata"]["role"] != "collectionGroup"
        return node["metadata"]["symbolKind"] in TYPES | {"module"}

    def target(self, path):
        """Where a node stands in the site: a page, or an anchor on one."""
        if self.is_page(path):
            return path.replace("/documentation/", "swift/", 1) + ".html"
        parent = path.rpartition("/")[0]
        while not self.is_page(parent):
            parent = parent.rpartition("/")[0]
        return f"{self.target(parent)}#{path.rpartition('/')[2]}"

    def pages(self):
        first = f"/documentation/{self.name.lower()}"
        order = [first, *sorted(path for path in self.nodes if path != first and self.is_page(path))]
        return [self.page(path, path == first) for path in order]

    def page(self, path, is_first):
        node = self.nodes[path]
        view = View(self, node, self.target(path))
        title = node["metadata"]["title"]
        trail = [
            (self.nodes[each]["metadata"]["title"], self.target(each))
            for each in map(self.by_identifier.get, node["hierarchy"]["paths"][0])
            if each is not None and self.is_page(each)
        ]
        body = view.whole()
        kind = node["metadata"].get("roleHeading", "Article")
        entry = Entry(self.qualified(path), f"Swift {kind.lower()}" if node["kind"] == "symbol" else "article", "", view.abstract_text())
        return Page(
            view.path, title, GROUP, body, self.place, [entry, *view.entries], view.headings, trail, listed=is_first,
        )  # fmt: skip

    def qualified(self, path):
        """The name of a symbol behind those of the types that it is in."""
        node = self.nodes[path]
        if node["kind"] != "symbol":
            return node["metadata"]["title"]
        names = [self.nodes[each]["metadata"]["title"] for each in map(self.by_identifier.get, node["hierarchy"]["paths"][0][1:]) if each]
        own = node["metadata"]["title"]
        return own if not names or own.startswith(f"{names[-1]}.") else f"{names[-1]}.{own}"


class View:
    """A node as HTML, with its members."""

    def __init__(self, product, node, path):
        self.product, self.node, self.path = product, node, path
        self.references = node["references"]
        self.headings, self.entries, self.anchors = [], [], set()

    # What the page is made of.

    def whole(self):
        metadata = self.node["metadata"]
        parts = []
        if metadata.get("roleHeading") and self.node["kind"] == "symbol":
            parts.append(f'<p class="kind">{html.escape(metadata["roleHeading"])}</p>')
        parts.append(f"<h1>{breakable(metadata['title'])}</h1>")
        if self.node.get("abstract"):
            parts.append(f'<p class="abstract">{self.inlines(self.node["abstract"])}</p>')
        parts.append(self.sections(self.node, 0))
        parts.append(self.relationships())
        for section in self.node.get("topicSections", []):
            parts.append(self.topic(section))
        for section in self.node.get("seeAlsoSections", []):
            parts.append(self.see_also(section))
        return "\n".join(parts)

    def abstract_text(self):
        return "".join(each.get("text", each.get("code", "")) for each in self.node.get("abstract", []))

    def sections(self, node, deeper):
        """Declarations, parameters and text; headings go `deeper` by so many levels."""
        parts = []
        for section in node.get("primaryContentSections", []):
            kind = section["kind"]
            if kind == "declarations":
                parts += [self.declaration(each["tokens"]) for each in section["declarations"]]
            elif kind == "parameters":
                rows = "".join(
                    f"<dt><code>{html.escape(each['name'])}</code></dt><dd>{self.blocks(each['content'], deeper)}</dd>"
                    for each in section["parameters"]
                )
                parts.append(f'<p class="label">Parameters</p><dl class="parameters">{rows}</dl>')
            elif kind == "content":
                parts.append(self.blocks(section["content"], deeper))
            elif kind != "mentions":
                raise SiteError(f"{self.path}: docc has a section {kind!r}, which this generator does not know")
        return "\n".join(parts)

    def declaration(self, tokens):
        """A declaration; a long one has each parameter on a line of its own."""
        is_long = sum(len(each["text"]) for each in tokens) > 84
        depth, parts = 0, []
        for token in tokens:
            name = {"keyword": "k", "attribute": "kd", "typeIdentifier": "nc", "identifier": "nf", "number": "m", "string": "s"}.get(token["kind"])
            text = token["text"]
            shown = html.escape(text, quote=False)
            if is_long and token["kind"] == "text":
                shown = ""
                for place, letter in enumerate(text):
                    depth += (letter in "([") - (letter in ")]")
                    opens = depth == 1 and letter == "("
                    if letter == ")" and depth == 0:
                        shown += "\n"
                    shown += html.escape(letter, quote=False)
                    if opens or (letter == "," and depth == 1):
                        shown += "\n "
                        shown += " " if opens else ""
            if token.get("identifier") in self.product.by_identifier:
                shown = self.link(token["identifier"], shown)
            parts.append(f'<span class="{name}">{shown}</span>' if name else shown)
        return f'<div class="code declaration"><pre tabindex="0" role="region" aria-label="Declaration"><code>{"".join(parts)}\n</code></pre></div>'

    def relationships(self):
        rows = []
        for section in self.node.get("relationshipsSections", []):
            names = []
            for identifier in section["identifiers"]:
                reference = self.references.get(identifier, {})
                title = html.escape(reference.get("title", identifier.rpartition("/")[2]))
                names.append(self.link(identifier, f"<code>{title}</code>") if identifier in self.product.by_identifier else f"<code>{title}</code>")
            rows.append(f"<p>{html.escape(section['title'])}: {', '.join(names)}</p>")
        return f'<div class="relationships">{"".join(rows)}</div>' if rows else ""

    def topic(self, section):
        """A group of members and of pages below; members stand here as a whole."""
        anchor = self.heading(2, section["title"], section.get("anchor", section["title"].replace(" ", "-")))
        parts, rows = [anchor], []
        for identifier in section["identifiers"]:
            path = self.product.by_identifier.get(identifier)
            if path is None:
                raise SiteError(f"{self.path}: {identifier} is among the topics, and docc made nothing of it")
            node = self.product.nodes[path]
            if self.product.is_page(path):
                rows.append(f"<dt>{self.link(identifier)}</dt><dd>{View(self.product, node, self.path).abstract()}</dd>")
            elif node["metadata"]["role"] == "collectionGroup":
                rows += self.inherited(node)
            else:
                parts.append(self.member(path, node))
        if rows:
            parts.append(f'<dl class="topics">{"".join(rows)}</dl>')
        return "\n".join(parts)

    def abstract(self):
        return self.inlines(self.node.get("abstract", []))

    def inherited(self, group):
        """Members that a protocol gives to all its types: a line each."""
        rows = []
        for section in group.get("topicSections", []):
            for identifier in section["identifiers"]:
                path = self.product.by_identifier[identifier]
                node = self.product.nodes[path]
                anchor = path.rpartition("/")[2]
                tokens = node["metadata"].get("fragments", [])
                shown = html.escape("".join(each["text"] for each in tokens) or node["metadata"]["title"])
                rows.append(f'<dt id="{html.escape(anchor)}"><code>{shown}</code></dt><dd>{html.escape(group["metadata"]["title"])}</dd>')
                self.entries.append(Entry(self.product.qualified(path), kind_of(node), anchor))
        return rows

    def member(self, path, node):
        view = View(self.product, node, self.path)
        anchor = path.rpartition("/")[2]
        title = node["metadata"]["title"].rpartition(".")[2] if node["metadata"]["symbolKind"] == "case" else node["metadata"]["title"]
        self.entries.append(Entry(self.product.qualified(path), kind_of(node), anchor, view.abstract_text()))
        view.anchors = None  # headings of a member are no places of the page
        parts = [
            f'<section class="member"><h3 id="{html.escape(anchor)}"><a class="self" href="{relative(f"{self.path}#{anchor}", self.path)}">'
            f"{breakable(title)}</a></h3>",
            f'<p>{view.inlines(node["abstract"])}</p>' if node.get("abstract") else "",
            view.sections(node, 2),
            "</section>",
        ]
        return "\n".join(parts)

    def see_also(self, section):
        rows = "".join(
            f"<li>{self.link(each)}</li>" for each in section["identifiers"] if each in self.product.by_identifier
        )
        if not rows:
            return ""
        return f'<h2 class="also">See also: {html.escape(section["title"])}</h2><ul class="also">{rows}</ul>'

    # Text.

    def heading(self, level, text, anchor):
        # A section of the text and a group of members may have the same name.
        if anchor in self.anchors:
            anchor = f"{anchor}-members"
        self.anchors.add(anchor)
        self.headings.append((level, text, anchor))
        return f'<h{level} id="{html.escape(anchor)}">{html.escape(text)}</h{level}>'

    def link(self, identifier, shown=None):
        path = self.product.by_identifier.get(identifier)
        if path is None:
            raise SiteError(f"{self.path}: a link to {identifier}, of which docc made nothing")
        if shown is None:
            node = self.product.nodes[path]
            shown = html.escape(node["metadata"]["title"])
            shown = f"<code>{shown}</code>" if node["kind"] == "symbol" else shown
        return f'<a href="{relative(self.product.target(path), self.path)}">{shown}</a>'

    def inlines(self, items):
        return "".join(self.inline(each) for each in items)

    def inline(self, item):
        kind = item["type"]
        if kind == "text":
            return html.escape(item["text"], quote=False)
        if kind == "codeVoice":
            return f"<code>{html.escape(item['code'], quote=False)}</code>"
        if kind in ("emphasis", "strong"):
            tag = {"emphasis": "em", "strong": "strong"}[kind]
            return f"<{tag}>{self.inlines(item['inlineContent'])}</{tag}>"
        if kind == "reference":
            return self.reference(item)
        raise SiteError(f"{self.path}: docc has a text of the kind {kind!r}, which this generator does not know")

    def reference(self, item):
        identifier = item["identifier"]
        if identifier in self.product.by_identifier:
            return self.link(identifier)
        reference = self.references.get(identifier, {})
        shown = self.inlines(reference.get("titleInlineContent", [])) or html.escape(reference.get("title", identifier))
        if reference.get("type") == "link" and urllib.parse.urlsplit(reference["url"]).scheme == "https":
            return f'<a href="{html.escape(reference["url"])}">{shown}</a>'
        raise SiteError(f"{self.path}: a reference to {identifier}, of which docc made nothing")

    def blocks(self, items, deeper=0):
        return "\n".join(self.block(each, deeper) for each in items)

    def block(self, item, deeper):
        kind = item["type"]
        if kind == "paragraph":
            return f"<p>{self.inlines(item['inlineContent'])}</p>"
        if kind == "heading":
            return self.title(item, deeper)
        if kind == "codeListing":
            return code("\n".join(item["code"]), item.get("syntax") or "")
        if kind in ("unorderedList", "orderedList"):
            tag = "ul" if kind == "unorderedList" else "ol"
            rows = "".join(f"<li>{self.blocks(each['content'], deeper)}</li>" for each in item["items"])
            return f"<{tag}>{rows}</{tag}>"
        if kind == "aside":
            return f'<div class="aside"><p class="label">{html.escape(item.get("name", item["style"]))}</p>{self.blocks(item["content"], deeper)}</div>'
        if kind == "table":
            return self.table(item, deeper)
        raise SiteError(f"{self.path}: docc has a block of the kind {kind!r}, which this generator does not know")

    def title(self, item, deeper):
        # A member's own discussion needs no heading: its name is one.
        if item["text"] == "Discussion" and deeper:
            return ""
        if self.anchors is None or deeper:
            return f'<p class="label">{html.escape(item["text"])}</p>'
        # Links from other documents to an article have the anchors that the usual viewers of Markdown make.
        anchor = slug(item["text"], set()) if self.node["kind"] == "article" else item["anchor"]
        return self.heading(max(2, item["level"]), item["text"], anchor)

    def table(self, item, deeper):
        rows = []
        for number, row in enumerate(item["rows"]):
            tag = "th" if number == 0 and item["header"] in ("row", "both") else "td"
            rows.append("<tr>" + "".join(f"<{tag}>{self.cell(each, deeper)}</{tag}>" for each in row) + "</tr>")
        return f'<div class="table" tabindex="0" role="region" aria-label="Table"><table>{"".join(rows)}</table></div>'

    def cell(self, blocks, deeper):
        if len(blocks) == 1 and blocks[0]["type"] == "paragraph":
            return self.inlines(blocks[0]["inlineContent"])
        return self.blocks(blocks, deeper)


def kind_of(node):
    return f"Swift {node['metadata'].get('roleHeading', '').lower()}".strip()


def breakable(title):
    """A name that may be broken where its parts end."""
    return html.escape(title).replace("(", "(<wbr>").replace(":", ":<wbr>")
