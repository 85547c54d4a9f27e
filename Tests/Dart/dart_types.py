"""Translates types and parameters of Dart to TypeScript."""

from dart_symbols import Fault, child, children, place, text

PLAIN = {
    "int": "number", "double": "number", "num": "number", "String": "string", "bool": "boolean", "Object": "{}",
    "dynamic": "any", "Never": "never", "Future": "Promise", "Exception": "Error", "Uri": "DartUri", "RegExp": "DartRegExp",
    "Uint8List": "Array<number>", "Function": "(...all: any[]) => any", "Iterable": "Array",
}
STARTS = ("type_identifier", "void_type", "function_type")


def type_end(nodes, at):
    """The end of the type that begins at a place."""
    end = at + 1
    while end < len(nodes) and nodes[end].type in ("type_arguments", "nullable_type"):
        end += 1
    return end


class Types:
    """Reads types in a file; `named` returns the name under which a declaration of the package is written."""

    def __init__(self, file, named):
        self.file = file
        self.named = named

    def first(self, nodes):
        """The first type among nodes; undefined if there is none."""
        for at, node in enumerate(nodes):
            if node.type in STARTS:
                return self.of(nodes[at : type_end(nodes, at)])
            if node.type == "inferred_type":
                return None
        return None

    def of(self, nodes):
        node = nodes[0]
        nullable = any(each.type == "nullable_type" for each in nodes[1:])
        arguments = next((self.arguments(each) for each in nodes[1:] if each.type == "type_arguments"), [])
        if node.type == "void_type":
            written = "void"
        elif node.type == "function_type":
            written = f"({self.function(node)})"
            nullable = nullable or child(node, "nullable_type") is node.children[-1]
        else:
            written = self.plain(text(node), arguments, node)
        return f"{written} | null" if nullable else written

    def plain(self, name, arguments, node):
        self.named(name)
        if name == "FutureOr":
            return f"{arguments[0]} | Promise<{arguments[0]}>"
        if name == "List":
            return f"Array<{arguments[0]}>"
        written = PLAIN.get(name) or self.named(name)
        if written is None:
            raise Fault(f"{place(node, self.file.path)}: there is no type {name}")
        return f"{written}<{', '.join(arguments)}>" if arguments else written

    def arguments(self, node):
        nodes = [each for each in node.children if each.is_named]
        found, at = [], 0
        while at < len(nodes):
            end = type_end(nodes, at)
            found.append(self.of(nodes[at:end]))
            at = end
        return found

    def function(self, node):
        """`R Function(A a)` as an arrow type."""
        at = [each.type for each in node.children].index("Function")
        result = self.first(node.children[:at]) or "any"
        listed = child(node, "parameter_type_list")
        given = []
        for number, each in enumerate(children(listed, "normal_parameter_type")):
            typed = child(each, "typed_identifier") or each
            given.append(f"a{number}: {self.first(typed.children)}")
        return f"({', '.join(given)}) => {result}"

    def parameters(self, node, fields=None, value=None):
        """The parameters of a list in TypeScript, and the list of (name, from): `from` is this, super or none.

        `fields` returns the type of an initialized field, `value` writes a default."""
        written, named, types, order = [], [], [], []
        for node, group in self.each(node):
            parameter, required, default = node
            name, kind, own = self.parameter(parameter, fields)
            order.append((name, kind, group == "{"))
            if group == "":
                written.append(f"{name}: {own}")
                continue
            if default is None and not required and "null" not in own and value is not None:
                raise Fault(f"{place(parameter, self.file.path)}: {name} needs a default")
            standard = "null" if default is None else value(default) if value is not None else None
            if group == "[":
                written.append(f"{name}?: {own}" if standard is None or value is None else f"{name}: {own} = {standard}")
            else:
                named.append(name if required or value is None else f"{name} = {standard}")
                types.append(f"{name}{'' if required else '?'}: {own}")
        if named:
            is_needed = any("?:" not in each for each in types)
            shape = f"{{ {'; '.join(types)} }}"
            if value is None:
                written.append(f"named{'' if is_needed else '?'}: {shape}")
            else:
                written.append(f"{{ {', '.join(named)} }}: {shape}{'' if is_needed else ' = {}'}")
        return ", ".join(written), order

    def each(self, listed):
        """The parameters, each with its bracket, its default, and whether it is required."""
        for node in listed.children:
            if node.type == "formal_parameter":
                yield (node, True, None), ""
            elif node.type == "optional_formal_parameters":
                yield from self.optional(node)

    def optional(self, group):
        nodes, at, required = group.children, 1, False
        while at < len(nodes):
            node = nodes[at]
            at += 1
            if node.type == "required":
                required = True
            elif node.type == "formal_parameter":
                default = []
                if at < len(nodes) and nodes[at].type == "=":
                    at += 1
                    while nodes[at].type not in (",", "}", "]"):
                        default.append(nodes[at])
                        at += 1
                yield (node, required, default or None), nodes[0].type
                required = False

    def parameter(self, node, fields):
        special = child(node, "constructor_param", "super_formal_parameter")
        if special is not None:
            name = text(children(special, "identifier")[-1])
            kind = "this" if special.type == "constructor_param" else "super"
            return name, kind, fields(name, kind)
        signature = child(node, "function_signature")
        if signature is not None:
            raise Fault(f"{place(node, self.file.path)}: write the type of a function as `R Function(A a)`")
        return text(children(node, "identifier")[-1]), None, self.first(node.children) or "any"
