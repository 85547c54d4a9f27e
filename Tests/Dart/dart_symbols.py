"""The declarations of the files of a Dart package, read from their syntax trees."""

import dataclasses
import pathlib

import tree_sitter
import tree_sitter_dart

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_dart.language()))
CONSTRUCTORS = ("constructor_signature", "constant_constructor_signature", "factory_constructor_signature")


class Fault(Exception):
    """An error of the package, or Dart code that these tests do not support."""


def text(node):
    written = node.text.decode()
    # Reserved words of JavaScript.
    return f"{written}_" if written == "arguments" else written


def child(node, *types):
    """The first child of one of these types."""
    return next((each for each in node.children if each.type in types), None)


def children(node, *types):
    return [each for each in node.children if each.type in types]


def descend(node, *types):
    """All nodes of these types, top-down and from the left."""
    if node.type in types:
        yield node
    for each in node.children:
        yield from descend(each, *types)


def place(node, path):
    return f"{path}:{node.start_point[0] + 1}"


@dataclasses.dataclass
class Member:
    """`kind`: field, getter, method or constructor; `node`: its signature or declaration; `body`: its body, if it has one."""

    name: str
    kind: str
    node: object
    body: object = None
    is_static: bool = False
    is_abstract: bool = False
    value: object = None
    is_late: bool = False
    is_final: bool = False


@dataclasses.dataclass
class Declared:
    """`kind`: class, enum, function, constant or typedef."""

    name: str
    kind: str
    file: object
    node: object
    body: object = None
    members: dict = dataclasses.field(default_factory=dict)
    constructors: dict = dataclasses.field(default_factory=dict)
    extends: str = None
    implements: list = dataclasses.field(default_factory=list)
    modifiers: set = dataclasses.field(default_factory=set)


class File:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.source = self.path.read_bytes()
        self.root = PARSER.parse(self.source).root_node
        self.imports = {self.uri(each): self.shown(each) for each in descend(self.root, "library_import")}
        self.exports = {self.uri(each): self.shown(each) for each in descend(self.root, "library_export")}
        self.declared = {each.name: each for each in self.declarations()} if not self.root.has_error else {}

    def faults(self):
        """The places that are not valid Dart."""
        def wrong(node):
            if node.type == "ERROR" or node.is_missing:
                yield place(node, self.path)
            elif node.has_error:
                for each in node.children:
                    yield from wrong(each)
        return list(wrong(self.root))

    def uri(self, node):
        return text(next(descend(node, "uri")))[1:-1]

    def shown(self, node):
        return [text(name) for each in descend(node, "combinator") for name in children(each, "identifier")]

    def declarations(self):
        nodes = self.root.children
        for index, node in enumerate(nodes):
            following = nodes[index + 1] if index + 1 < len(nodes) else None
            if node.type == "class_definition":
                yield self.class_of(node)
            elif node.type == "enum_declaration":
                yield Declared(text(child(node, "identifier")), "enum", self, node)
            elif node.type in ("function_signature", "getter_signature"):
                yield Declared(text(children(node, "identifier")[-1]), "function", self, node, following)
            elif node.type == "type_alias":
                yield Declared(text(child(node, "type_identifier")), "typedef", self, node)
            elif node.type in ("static_final_declaration_list", "initialized_identifier_list"):
                for each in node.children:
                    if each.is_named:
                        yield Declared(text(child(each, "identifier")), "constant", self, each)

    def class_of(self, node):
        found = Declared(text(child(node, "identifier")), "class", self, node)
        found.modifiers = {each.type for each in node.children}
        above = child(node, "superclass")
        if above is not None:
            named = child(above, "type_identifier")
            found.extends = None if named is None else text(named)
        interfaces = child(node, "interfaces")
        if interfaces is not None:
            found.implements = [text(each) for each in children(interfaces, "type_identifier")]
        parts = [each for each in child(node, "class_body").children if each.type not in "{};"]
        for index, part in enumerate(parts):
            body = parts[index + 1] if index + 1 < len(parts) and parts[index + 1].type == "function_body" else None
            self.add(found, part, body)
        return found

    def add(self, owner, part, body):
        if part.type not in ("method_signature", "declaration"):
            return
        is_static = child(part, "static") is not None
        signature = child(part, *CONSTRUCTORS)
        if signature is not None:
            names = [text(each) for each in children(signature, "identifier")]
            name = names[1] if len(names) > 1 else ""
            owner.constructors[name] = Member(name, "constructor", part, body)
            return
        for kind, wanted in (("getter", "getter_signature"), ("method", "function_signature")):
            signature = child(part, wanted)
            if signature is not None:
                name = text(children(signature, "identifier")[-1])
                owner.members[name] = Member(name, kind, signature, body, is_static, part.type == "declaration")
                return
        listed = child(part, "static_final_declaration_list", "initialized_identifier_list")
        for each in listed.children if listed is not None else []:
            if each.is_named:
                name = text(child(each, "identifier"))
                value = None
                if child(each, "=") is not None:
                    at = [one.type for one in each.children].index("=")
                    value = each.children[at + 1 :]
                owner.members[name] = Member(
                    name, "field", part, None, is_static, False, value, child(part, "late") is not None,
                    child(part, "final_builtin", "const_builtin") is not None)


class Package:
    """The files of a folder, with their declarations."""

    def __init__(self, paths):
        self.files = [File(path) for path in sorted(paths)]
        self.declared = {}
        # The files and libraries that each file uses.
        self.uses = {}
        for file in self.files:
            for name, each in file.declared.items():
                self.declared[self.unique(file, name)] = each
        classes = [each for each in self.declared.values() if each.kind == "class"]
        kinds = [(name, member) for each in classes for name, member in each.members.items()]
        self.read = {name for name, member in kinds if member.kind != "method"}
        self.called = {name for name, member in kinds if member.kind == "method"}

    @staticmethod
    def unique(file, name):
        """Private names of a file can also be used elsewhere."""
        return f"{file.path.stem}${name}" if name.startswith("_") else name

    def find(self, file, name):
        """The meaning of a name in a file, if the package declares it."""
        return self.declared.get(self.unique(file, name))

    def member(self, owner, name):
        """A member of a class or of its superclasses."""
        while owner is not None:
            if name in owner.members:
                return owner, owner.members[name]
            owner = owner.extends and self.find(owner.file, owner.extends)
        return None
