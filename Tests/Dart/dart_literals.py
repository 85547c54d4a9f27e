"""Translates strings, lists, maps and functions of Dart to TypeScript."""

import json

from dart_symbols import child, children
from dart_words import ESCAPES


class Literals:
    def on_string_literal(self, node):
        """Adjacent strings, as one template."""
        source, at, written, quote, raw = node.text, 0, "", None, False
        starts = {each.start_byte - node.start_byte: each for each in children(node, "template_substitution")}
        while at < len(source):
            if at in starts and quote is not None and not raw:
                each = starts[at]
                dollar = child(each, "identifier_dollar_escaped")
                inner = self.name(dollar, False) if dollar is not None else self.expression(each.children[2:-1])
                written += "${$text(" + inner + ")}"
                at = each.end_byte - node.start_byte
                continue
            letter = source[at : at + 1].decode("latin-1")
            if quote is None:
                raw = letter == "r" if letter in "r'\"" and source[at - 1 : at] != b"r" else raw
                quote = letter if letter in "'\"" else None
                at += 1
            elif letter == quote:
                quote, raw = None, False
                at += 1
            elif source[at : at + 3] == b"\\u{" and not raw:
                end = source.index(b"}", at)
                written += chr(int(source[at + 3 : end], 16))
                at = end + 1
            elif letter == "\\" and not raw:
                written += ESCAPES[source[at + 1 : at + 2].decode()].join(["", ""]).replace("\\", "\\\\").replace("`", "\\`").replace("$", "\\$")
                at += 2
            else:
                end = at + 1
                while end < len(source) and (source[end] & 0xC0) == 0x80:
                    end += 1
                written += source[at:end].decode().replace("\\", "\\\\").replace("`", "\\`").replace("$", "\\$")
                at = end
        return f"`{written}`" if "${" in written else json.dumps(written.replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\"))

    def on_list_literal(self, node):
        kind = child(node, "type_arguments")
        inner = ", ".join(self.elements(node, self.item, "[", "]"))
        if kind is None:
            raise self.fault(node, "write the type of a list's elements")
        return f"$list<{self.types.arguments(kind)[0]}>([{inner}])"

    def on_set_or_map_literal(self, node):
        kind = child(node, "type_arguments")
        if kind is None:
            raise self.fault(node, "write the types of a map's or a set's elements")
        types = self.types.arguments(kind)
        inner = ", ".join(self.elements(node, self.item, "{", "}"))
        return f"{'$mapping' if len(types) == 2 else '$set'}<{', '.join(types)}>([{inner}])"

    def elements(self, node, item, start, end):
        """The elements between brackets, each with its selectors."""
        group = []
        for each in node.children:
            if each.type in (",", end):
                if group:
                    yield item(group)
                group = []
            elif each.type not in (start, "type_arguments", "const_builtin"):
                group.append(each)

    def item(self, group):
        node = group[0]
        if node.type == "pair":
            at = [each.type for each in node.children].index(":")
            return f"$pair({self.expression(node.children[:at])}, {self.expression(node.children[at + 1 :])})"
        if node.type == "spread_element":
            return f"...{self.expression(node.children[1:])}"
        if node.type == "if_element":
            at = [each.type for each in node.children].index(")")
            return f"...({self.expression(node.children[2:at])} ? [{self.item(node.children[at + 1 :])}] : [])"
        return self.expression(group)

    def on_function_expression(self, node):
        self.scopes.append(set())
        written, order = self.types.parameters(child(node, "formal_parameter_list"), value=self.expression)
        self.scopes[-1] |= {name for name, _, _ in order}
        body = self.body(child(node, "function_expression_body"))
        self.scopes.pop()
        return f"({body[0]}({written}) => {body[1]})"
