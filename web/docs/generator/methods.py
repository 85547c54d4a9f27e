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
# The width of JSON in examples, in characters.
WIDTH = 100


def pages(anchors):
    """The methods and the codes; `anchors` are those of the protocol's headings, by their texts."""
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
            '<p class="abstract">This page lists every method and notification with its params, result, errors and an example. It is made from '
            '<a href="files/protocol/openrpc.json.html">openrpc.json</a>, which the server returns for <code>rpc.discover</code>. '
            f'<a href="{relative("protocol.html", self.path)}">The protocol</a> describes how they work.</p>',
            "<p>The examples omit the member <code>seq</code>, which numbers the messages of a client that can resume.</p>",
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
        norm = f' <a href="{relative(section, self.path)}">Details in the protocol</a>.' if section else ""
        parts = [
            f'<section class="member"><h3 id="{html.escape(anchor)}"><a class="self" href="#{html.escape(anchor)}"><code>{html.escape(name)}</code></a></h3>',
            f'<p class="kind">{html.escape(direction)}</p>' if direction else "",
            f"<p>{html.escape(method.get('summary', ''))} {html.escape(method.get('description', ''))}{norm}</p>",
            self.params(method["params"]),
        ]
        if "result" in method:
            name, schema = html.escape(method["result"].get("name", "result")), self.resolved(method["result"]["schema"])
            text = json.dumps(schema, indent=2, ensure_ascii=False)
            parts.append(f"<details><summary>Result: {name}</summary>{code(text, 'json')}</details>" if schema else f"<p>Result: {name}, any JSON value</p>")
        errors = [self.resolved(each) for each in method.get("errors", [])]
        if errors:
            named = ", ".join(f'<a href="codes.html#{abs(each["code"])}">{each["code"]}</a>' for each in errors)
            parts.append(f"<p>Errors: {named}</p>")
        parts += [self.example(each, method) for each in method.get("examples", [])]
        return "\n".join([*parts, "</section>"])

    def example(self, example, method):
        """The messages of an example: a request with its response, or a notification."""
        call = {"jsonrpc": "2.0", "id": 1, "method": method["name"]}
        if example["params"]:
            call["params"] = {each["name"]: each["value"] for each in example["params"]}
        messages = [call]
        if "result" in example:
            messages.append({"jsonrpc": "2.0", "id": 1, "result": example["result"]["value"]})
        else:
            del call["id"]
        vector = f' <span class="kind">(vector <code>{html.escape(example["x-vector"])}</code>)</span>' if "x-vector" in example else ""
        return f'<p class="label">Example: {html.escape(example["name"])}{vector}</p>{code(lines(messages), "json")}'

    def params(self, params):
        rows = []
        for each in map(self.resolved, params):
            need = "required" if each.get("required") else "optional"
            about = html.escape(each.get("summary") or each.get("description") or self.resolved(each["schema"]).get("description", ""))
            rows.append(f"<dt><code>{html.escape(each['name'])}</code> <span class=\"kind\">{html.escape(shape(each['schema']))}, {need}</span></dt><dd>{about}</dd>")
        if not rows:
            return "<p>No params.</p>"
        return f'<p class="label">Params</p><dl class="parameters">{"".join(rows)}</dl>'

    def resolved(self, value):
        while value.get("$ref", "").startswith("#/"):
            target = self.document
            for name in value["$ref"].removeprefix("#/").split("/"):
                if name not in target:
                    raise SiteError(f"openrpc.json has no {value['$ref']}")
                target = target[name]
            value = target
        return value


def lines(messages):
    """JSON-RPC messages, one below the other."""
    return "\n".join(pretty(each) for each in messages)


def pretty(value, indent="", used=0):
    """JSON with each object and array on one line if it fits; `used` characters are in front of it."""
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or used + len(text) <= WIDTH:
        return text
    inner = indent + "  "
    names = [f"{inner}{json.dumps(name)}: " for name in value] if isinstance(value, dict) else [inner] * len(value)
    values = value.values() if isinstance(value, dict) else value
    parts = [name + pretty(each, inner, len(name)) for name, each in zip(names, values)]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([begin, ",\n".join(parts), indent + end])


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
    parts.append('<p class="abstract">The error codes and close codes of the protocol, made from <a href="files/protocol/codes.json.html">codes.json</a>.</p>')
    for name, title, prefix in (("errors", "Errors", ""), ("closes", "Close codes", "close-")):
        headings.append((2, title, name))
        parts.append(f'<h2 id="{name}">{title}</h2><div class="table" tabindex="0" role="region" aria-label="{title}"><table><tr><th>code</th><th>kind</th><th>meaning</th></tr>')
        for each in codes[name]:
            anchor = f"{prefix}{abs(each['code'])}"
            kind, meaning = each["kind"], each["meaning"]
            parts.append(f'<tr id="{anchor}"><td><code>{each["code"]}</code></td><td><code>{html.escape(kind)}</code></td><td>{html.escape(meaning)}</td></tr>')
            entries.append(Entry(f"{each['code']} {kind}", "close code" if prefix else "error", anchor, meaning))
        parts.append("</table></div>")
    return Page("codes.html", "Codes", "Protocol", "\n".join(parts), "protocol/codes.json", entries, headings)
