"""openrpc.json and codes.json as a page each."""

import html
import json

from .markup import code
from .site import Entry, Page, SiteError, relative
from .symbolgraphs import ROOT

PARTS = [
    ("methods", "Methods of the server", "client → server"),
    ("x-server-methods", "Methods of clients", "server → client"),
    ("x-notifications", "Notifications", ""),
]


def pages(anchors):
    """The methods and the codes; `anchors` are those of PROTOCOL.md's headings, by their texts."""
    document = json.loads((ROOT / "protocol/openrpc.json").read_text(encoding="utf-8"))
    codes = json.loads((ROOT / "protocol/codes.json").read_text(encoding="utf-8"))
    return [Methods(document, anchors).page(), codes_page(codes)]


class Methods:
    path = "methods.html"

    def __init__(self, document, anchors):
        self.document, self.anchors = document, anchors
        self.entries, self.headings = [Entry("Methods", "page")], []

    def page(self):
        parts = [
            "<h1>Methods</h1>",
            f'<p class="abstract">Every method and notification, as <a href="files/protocol/openrpc.json.html">openrpc.json</a> and <code>rpc.discover</code> '
            f'have them. What they mean, and when, is in <a href="{relative("protocol.html", self.path)}">the protocol</a>.</p>',
        ]
        for part, title, direction in PARTS:
            anchor = part.removeprefix("x-")
            self.headings.append((2, title, anchor if anchor != "methods" else "all-methods"))
            parts.append(f'<h2 id="{self.headings[-1][2]}">{title}</h2>')
            parts += [self.method(each, direction) for each in self.document[part]]
        return Page(self.path, "Methods", "Protocol", "\n".join(parts), "protocol/openrpc.json", self.entries, self.headings)

    def method(self, method, direction):
        name = method["name"]
        direction = direction or method.get("direction", "")
        anchor = name if not any(each[2] == name for each in self.headings) else f"{name}-of-clients"
        self.headings.append((3, name, anchor))
        self.entries.append(Entry(name, "method", anchor, f"{method.get('summary', '')} {direction}"))
        section = next((found for text, found in self.anchors.items() if name in text.split(", ")), None)
        norm = f' <a href="{relative(f"protocol.html#{section}", self.path)}">The norm</a>.' if section else ""
        parts = [
            f'<section class="member"><h3 id="{html.escape(anchor)}"><a class="self" href="#{html.escape(anchor)}"><code>{html.escape(name)}</code></a></h3>',
            f'<p class="kind">{html.escape(direction)}</p>' if direction else "",
            f"<p>{html.escape(method.get('summary', ''))} {html.escape(method.get('description', ''))}{norm}</p>",
            self.params(method["params"]),
        ]
        if "result" in method:
            schema = json.dumps(method["result"]["schema"], indent=2, ensure_ascii=False)
            parts.append(f'<details><summary>Result: {html.escape(method["result"].get("name", "result"))}</summary>{code(schema, "json")}</details>')
        errors = [self.resolved(each) for each in method.get("errors", [])]
        if errors:
            named = ", ".join(f'<a href="codes.html#{abs(each["code"])}">{each["code"]}</a>' for each in errors)
            parts.append(f"<p>Errors: {named}</p>")
        return "\n".join([*parts, "</section>"])

    def params(self, params):
        rows = []
        for each in map(self.resolved, params):
            need = "required" if each.get("required") else "optional"
            about = html.escape(each.get("summary", each.get("description", "")))
            rows.append(f"<dt><code>{html.escape(each['name'])}</code> <span class=\"kind\">{html.escape(shape(each['schema']))}, {need}</span></dt><dd>{about}</dd>")
        if not rows:
            return "<p>Without params.</p>"
        return f'<p class="label">Params</p><dl class="parameters">{"".join(rows)}</dl>'

    def resolved(self, value):
        while "$ref" in value:
            target = self.document
            for name in value["$ref"].removeprefix("#/").split("/"):
                if name not in target:
                    raise SiteError(f"openrpc.json: {value['$ref']} is not there")
                target = target[name]
            value = target
        return value


def shape(schema):
    """A schema in a few words."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(json.dumps(each) for each in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    for some in ("oneOf", "anyOf"):
        if some in schema:
            return " | ".join(dict.fromkeys(shape(each) for each in schema[some]))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"{shape(schema.get('items', {}))}[]"
    return " | ".join(kind) if isinstance(kind, list) else kind


def codes_page(codes):
    parts, entries, headings = ["<h1>Codes</h1>"], [Entry("Codes", "page")], []
    parts.append('<p class="abstract">What errors and close codes mean, as <a href="files/protocol/codes.json.html">codes.json</a> has them.</p>')
    for name, title, prefix in (("errors", "Errors", ""), ("closes", "Close codes", "close-")):
        headings.append((2, title, name))
        parts.append(f'<h2 id="{name}">{title}</h2><div class="table" tabindex="0" role="region" aria-label="{title}"><table><tr><th>code</th><th>kind</th><th>means</th></tr>')
        for each in codes[name]:
            anchor = f"{prefix}{abs(each['code'])}"
            kind, meaning = each["kind"], each["meaning"]
            parts.append(f'<tr id="{anchor}"><td><code>{each["code"]}</code></td><td><code>{html.escape(kind)}</code></td><td>{html.escape(meaning)}</td></tr>')
            entries.append(Entry(f"{each['code']} {kind}", "close code" if prefix else "error", anchor, meaning))
        parts.append("</table></div>")
    return Page("codes.html", "Codes", "Protocol", "\n".join(parts), "protocol/codes.json", entries, headings)
