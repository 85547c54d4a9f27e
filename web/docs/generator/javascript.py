"""The JavaScript client: what its entry points export, from its types."""

import html
import json
import os
import pathlib
import re
import subprocess

from markdown_it import MarkdownIt

from .markup import code
from .site import Entry, Page, SiteError, relative
from .symbolgraphs import ROOT

FOLDER = ROOT / "web/bridge"
GROUP = "JavaScript"
KINDS = {"class": "Classes", "function": "Functions", "value": "Values", "type": "Types"}


def pages():
    return Reference(exported()).pages()


def names():
    """The entry points, as the package has them: names of files by names of imports."""
    exports = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["exports"]
    return {
        "waybridge" + name.removeprefix("."): pathlib.Path(target["default"]).stem
        for name, target in exports.items()
        if isinstance(target, dict)
    }


def exported():
    script = pathlib.Path(__file__).parent / "javascript.cjs"
    environment = {"NODE_PATH": "/usr/share/nodejs", **os.environ}
    done = subprocess.run(["node", script, FOLDER, *names().values()], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SiteError(f"{script.name} failed; it needs Debian's nodejs and node-typescript:\n{done.stderr}")
    return json.loads(done.stdout)


class Reference:
    def __init__(self, modules):
        self.imports = {file: name for name, file in names().items()}
        self.modules = {module["name"]: module["exports"] for module in modules}
        self.owners = {}
        for module, exports in self.modules.items():
            for symbol in exports:
                self.owners.setdefault(symbol["name"], self.owner(symbol))
        self.reader = MarkdownIt("commonmark", {"html": False})

    def owner(self, symbol):
        """The module on whose page a symbol stands that several export."""
        exporting = [name for name, exports in self.modules.items() if any(each["name"] == symbol["name"] for each in exports)]
        for name in (symbol["file"], "bridge"):
            if name in exporting:
                return name
        return exporting[0]

    def pages(self):
        return [self.page(module, exports) for module, exports in self.modules.items()]

    def path(self, module):
        return f"javascript/{module}.html"

    def page(self, module, exports):
        name = self.imports[module]
        path = self.path(module)
        headings, entries = [], [Entry(name, "JavaScript module")]
        own = [each for each in exports if self.owners[each["name"]] == module]
        others = sorted(each["name"] for each in exports if self.owners[each["name"]] != module)
        parts = [f"<h1><code>{name}</code></h1>", code(f'import {{ {", ".join(each["name"] for each in own if each["kind"] != "type")} }} from "{name}";', "js", "code declaration")]
        if others:
            links = ", ".join(f'<a href="{relative(f"{self.path(self.owners[each])}#{each}", path)}"><code>{each}</code></a>' for each in others)
            parts.append(f"<p>It exports these too: {links}.</p>")
        for kind, title in KINDS.items():
            symbols = [each for each in own if each["kind"] == kind]
            # The module's namesake first, then by name.
            symbols.sort(key=lambda each: (each["name"].lower() != module, each["name"].lower()))
            if symbols:
                anchor = f"kind-{title.lower()}"
                headings.append((2, title, anchor))
                parts.append(f'<h2 id="{anchor}">{title}</h2>')
            for symbol in symbols:
                headings.append((3, symbol["name"], symbol["name"]))
                parts.append(self.symbol(symbol, path, entries))
        return Page(path, name, GROUP, "\n".join(parts), f"web/bridge/{module}.js", entries, headings)

    def symbol(self, symbol, path, entries):
        name = symbol["name"]
        entries.append(Entry(name, f"JavaScript {symbol['kind']}", name, symbol["about"]))
        parts = [f'<section class="member"><h3 id="{name}"><a class="self" href="#{name}"><code>{name}</code></a></h3>']
        if symbol.get("parent") in self.owners:
            parent = symbol["parent"]
            parts.append(f'<p class="kind">extends {self.link(parent, path)}</p>')
        # The members of a type stand below, each with what is said of it.
        declarations = [] if symbol["kind"] == "type" and symbol["members"] else symbol["declarations"]
        parts.append(self.declarations(declarations))
        parts.append(self.text(symbol["about"]))
        parts.append(self.tags(symbol))
        if symbol["members"]:
            rows = "".join(self.member(symbol, each, path, entries) for each in symbol["members"])
            parts.append(f'<dl class="members">{rows}</dl>')
        return "\n".join([*parts, "</section>"])

    def member(self, symbol, member, path, entries):
        if symbol["kind"] == "class" and member["from"] != symbol["file"]:
            owner = self.inherited_from(member)
            if owner:
                link = relative(f"{self.path(self.owners[owner])}#{owner}.{member['name']}", path)
                shown = f'<a href="{link}"><code>{html.escape(member["name"])}</code></a> <span class="kind">of {owner}</span>'
                return f'<dt class="inherited">{shown}</dt><dd>{self.text(member["about"])}</dd>'
        anchor = f"{symbol['name']}.{'static.' if member['isStatic'] else ''}{member['name']}"
        entries.append(Entry(f"{symbol['name']}.{member['name']}", f"JavaScript {'method' if member['isMethod'] else 'member'}", anchor, member["about"]))
        body = self.declarations(member["declarations"]) + self.text(member["about"]) + self.tags(member)
        return f'<dt id="{html.escape(anchor)}"><a class="self" href="#{html.escape(anchor)}"><code>{html.escape(member["name"])}</code></a></dt><dd>{body}</dd>'

    def inherited_from(self, member):
        """The class of another module that a member comes from, where that is one of an entry point."""
        for symbol in self.modules.get(member["from"], []):
            if symbol["kind"] == "class" and symbol["file"] == member["from"]:
                return symbol["name"]
        return None

    def declarations(self, declarations):
        return "".join(code(broken(each), "ts", "code declaration") for each in declarations)

    def tags(self, symbol):
        rows = "".join(f"<dt><code>{html.escape(each['name'])}</code></dt><dd>{self.text(each['about'])}</dd>" for each in symbol["parameters"])
        parts = f'<dl class="parameters">{rows}</dl>' if rows else ""
        if symbol["returns"]:
            parts += f'<p class="label">Returns</p>{self.text(symbol["returns"])}'
        return parts

    def text(self, text):
        """A comment, which is Markdown; `{@link name}` leads to what is exported."""
        text = re.sub(r"\{@link (\w+)\}", r"`\1`", text)
        return self.reader.render(text) if text else ""

    def link(self, name, path):
        return f'<a href="{relative(f"{self.path(self.owners[name])}#{name}", path)}"><code>{name}</code></a>'


def broken(declaration):
    """A declaration, with the parts of a long one on lines of their own."""
    if len(declaration) <= 92:
        return declaration
    depth, text = 0, ""
    for place, letter in enumerate(declaration):
        closes = letter in ")}]" or (letter == ">" and declaration[place - 1] != "=")
        if closes:
            depth -= 1
        if closes and depth == 0 and letter in ")}" and text.rstrip()[-1] not in "({":
            text = text.rstrip() + "\n"
        text += letter
        if letter in "({[<":
            depth += 1
            if depth == 1 and letter in "({" and declaration[place + 1] not in ")}":
                text += "\n  "
        elif depth == 1 and letter in ",;":
            text += "\n "
    return "\n".join(line.rstrip() for line in text.replace("\n   ", "\n  ").splitlines())
