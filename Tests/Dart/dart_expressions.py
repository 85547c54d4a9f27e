"""Translates expressions of Dart to TypeScript. A property is read with a call: `a.b` becomes `a.$b()`, so that the compiler,
like Dart's, does not assume that a field keeps its type."""

import re

from dart_literals import Literals
from dart_symbols import Fault, child, place, text
from dart_types import Types, type_end
from dart_words import BINARY, CORE, GETTERS, LEVELS, LIBRARIES, LIBRARY, METHODS, RUNTIME, TESTS

SELECTORS = ("selector", "unconditional_assignable_selector", "conditional_assignable_selector")
OPERATORS = re.compile(r"_operator$")


class Expressions(Literals):
    def __init__(self, package, file, owner=None):
        self.package, self.file, self.owner = package, file, owner
        self.types = Types(file, self.type_named)
        self.scopes = [set()]
        self.caught = []

    # MARK: names

    def find(self, name):
        """What the package declares under a name. The file has to import it."""
        found = self.package.find(self.file, name)
        if found is not None:
            self.package.uses.setdefault(self.file.path, set()).add(found.file.path)
        elif name in LIBRARIES and not self.is_local(name):
            self.package.uses.setdefault(self.file.path, set()).add(LIBRARIES[name])
        return found

    def type_named(self, name):
        if self.find(name) is not None:
            return self.unique(name)
        return name if name in RUNTIME or self.is_local(name) else None

    def unique(self, name):
        return self.package.unique(self.file, name)

    def is_local(self, name):
        return any(name in scope for scope in self.scopes)

    def fault(self, node, why):
        return Fault(f"{place(node, self.file.path)}: {why}")

    def name(self, node, is_called, is_set=None):
        """An identifier at the beginning of an expression; `is_set`: the value to which it is set."""
        name = text(node)
        if self.is_local(name):
            return name if is_set is None else f"{name} = {is_set}"
        found = self.owner and self.package.member(self.owner, name)
        if found:
            owner, member = found
            at = self.package.unique(owner.file, owner.name) if member.is_static else "this"
            if is_set is not None:
                return f"{at}.set${name}({is_set})"
            if member.kind != "method":
                return f"{at}.${name}()"
            return f"{at}.{name}" if is_called else f'$tear({at}, "{name}")'
        if self.find(name) is not None:
            return self.unique(name)
        if name in CORE or name in RUNTIME:
            return LIBRARY.get(name, name)
        raise self.fault(node, f"there is no {name}")

    # MARK: expressions

    def expression(self, nodes):
        """Translates a row of nodes: one node, or one with selectors after it, or operands of `??`."""
        nodes = [each for each in nodes if each.type not in ("const_builtin",)]
        head, rest = nodes[0], nodes[1:]
        if head.type == "identifier" and rest and all(each.type in SELECTORS for each in rest):
            return self.selected(head, rest)
        if not rest:
            return self.single(head)
        if all(each.type in SELECTORS for each in rest):
            return self.chain(self.grouped(head), rest, False)
        raise self.fault(head, f"an expression of {[each.type for each in nodes]}")

    def grouped(self, node):
        written = self.single(node)
        return written if node.type in ("this", "super", "parenthesized_expression", "string_literal") else f"({written})"

    def single(self, node):
        kind = node.type
        if kind == "identifier":
            return self.name(node, False)
        if kind in BINARY:
            return self.binary(node)
        handler = getattr(self, f"on_{kind}", None)
        if handler is None:
            raise self.fault(node, f"{kind} is not among what these tests read: {text(node)[:60]}")
        return handler(node)

    def on_null_literal(self, node):
        return "null"

    def on_true(self, node):
        return "true"

    on_false = on_decimal_integer_literal = on_hex_integer_literal = on_decimal_floating_point_literal = on_this = lambda self, node: text(node)

    def on_super(self, node):
        return "super"

    def on_parenthesized_expression(self, node):
        return f"({self.expression(node.children[1:-1])})"

    def on_await_expression(self, node):
        return f"(await {self.expression(node.children[1:])})"

    def on_throw_expression(self, node):
        return f"$raise({self.expression(node.children[1:])})"

    def on_rethrow_expression(self, node):
        return f"$raise({self.caught[-1]})"

    def on_unary_expression(self, node):
        if node.children[0].type == "await_expression":
            return self.expression(node.children)
        return f"{text(node.children[0])}{self.operand(node.children[1:])}"

    def operand(self, nodes):
        return f"({self.expression(nodes)})"

    def binary(self, node):
        """Operands from the left, each with its selectors."""
        written, operator, operands = None, None, []
        for each in [*node.children, None]:
            if each is not None and not OPERATORS.search(each.type):
                operands.append(each)
                continue
            if any(LEVELS.get(one.type, 9) < LEVELS[node.type] for one in operands):
                raise self.fault(operands[0], f"put parentheses into {text(node)}, which tree-sitter-dart groups in another way than Dart")
            part = self.operand(operands) if len(operands) > 1 or operands[0].type in BINARY else self.expression(operands)
            written = part if written is None else self.joined(written, operator, part)
            operator, operands = each and text(each), []
        return written

    def joined(self, left, operator, right):
        if operator == "~/":
            return f"Math.trunc({left} / {right})"
        return f"{left} {dict([('==', '==='), ('!=', '!==')]).get(operator, operator)} {right}"

    def on_if_null_expression(self, node):
        at = [each.type for each in node.children].index("??")
        return f"({self.expression(node.children[:at])} ?? {self.expression(node.children[at + 1 :])})"

    def on_conditional_expression(self, node):
        marks = [each.type for each in node.children]
        first, second = marks.index("?"), marks.index(":")
        parts = node.children[:first], node.children[first + 1 : second], node.children[second + 1 :]
        condition, then, other = (self.expression(each) for each in parts)
        return f"({condition} ? {then} : {other})"

    def on_type_test_expression(self, node):
        test = child(node, "type_test")
        tested = self.expression([each for each in node.children if each is not test])
        operator, kinds = test.children[0], test.children[1:]
        written = "".join(text(each) for each in kinds).replace(",", ", ").replace(",  ", ", ")
        check = TESTS.get(written)
        if check is None and self.find(written) is None and written not in RUNTIME:
            raise self.fault(node, f"whether something is a {written}")
        condition = f"{check}({tested})" if check else f"({tested} instanceof {LIBRARY.get(written) or self.type_named(written)})"
        return f"!{condition}" if "!" in text(operator) else condition

    def on_type_cast_expression(self, node):
        cast = child(node, "type_cast")
        return f"({self.expression([each for each in node.children if each is not cast])} as {self.types.first(cast.children)})"

    def on_assignment_expression(self, node):
        target, operator, value = node.children[0], text(node.children[1]), self.expression(node.children[2:])
        nodes = target.children
        if operator != "=":
            before = self.expression(nodes)
            value = f"{before} {operator[:-1]} ({value})"
        if len(nodes) == 1:
            return self.name(nodes[0], False, is_set=value)
        last = nodes[-1]
        at = self.expression(nodes[:-1]) if len(nodes) > 2 or nodes[0].type != "identifier" else self.single(nodes[0])
        index = child(last, "index_selector")
        if index is not None:
            return f"$put({at}, {self.expression(index.children[1:-1])}, {value})"
        return f"{at}.set${text(child(last, 'identifier'))}({value})"

    def on_postfix_expression(self, node):
        return self.expression(node.children)

    def on_const_object_expression(self, node):
        return self.made(node)

    on_constructor_invocation = lambda self, node: self.made(node)

    def made(self, node):
        """Parses `Type<…>.name(…)` as one node."""
        nodes = [each for each in node.children if each.type not in ("const_builtin", "new_builtin")]
        end = type_end(nodes, 0)
        arguments = next((self.types.arguments(each) for each in nodes[1:end] if each.type == "type_arguments"), [])
        names = [text(each) for each in nodes[end:] if each.type == "identifier"]
        called = self.arguments(child(node, "arguments"))
        return self.constructed(nodes[0], names[0] if names else "", arguments, called)

    def constructed(self, node, constructor, arguments, called):
        name = text(node)
        found = self.find(name)
        generic = f"<{', '.join(arguments)}>" if arguments else ""
        if found is None:
            if name not in RUNTIME:
                raise self.fault(node, f"there is no {name}")
            own = LIBRARY.get(name, name)
            return f"{own}.{constructor or 'make'}{generic}({called})"
        if constructor not in found.constructors:
            if constructor in found.members:
                return f"{self.unique(name)}.{constructor}({called})"
            if constructor or found.constructors:
                raise self.fault(node, f"{name} has no constructor {constructor}")
        if constructor == "" and "abstract" in found.modifiers and "factory_constructor_signature" not in str(found.constructors):
            raise self.fault(node, f"{name} is abstract")
        return f"{self.unique(name)}.new${found.name}${constructor}{generic}({called})"

    # MARK: selectors

    def selected(self, head, rest):
        """A chain that begins with a name, which can be that of a class."""
        name = text(head)
        found = None if self.is_local(name) or (self.owner and self.package.member(self.owner, name)) else self.find(name)
        is_class = (found is not None and found.kind in ("class", "enum")) or (found is None and name in RUNTIME and not self.is_local(name))
        if not is_class:
            called = self.called_part(rest[0])
            return self.chain(self.name(head, called is not None and not self.is_read(head)), rest, False)
        part = self.called_part(rest[0])
        if part is not None:
            generic = child(part, "type_arguments")
            made = self.constructed(
                head, "", self.types.arguments(generic) if generic else [], self.arguments(child(part, "arguments")))
            return self.chain(made, rest[1:], False)
        second = text(child(self.inner(rest[0]), "identifier"))
        part = self.called_part(rest[1]) if len(rest) > 1 else None
        is_member = found is not None and second in found.members and second not in found.constructors
        if part is not None and not is_member:
            return self.chain(self.constructed(head, second, [], self.arguments(child(part, "arguments"))), rest[2:], False)
        if found is not None and found.kind == "class" and not is_member:
            raise self.fault(head, f"{name} has no {second}")
        return self.chain(LIBRARY.get(name, self.unique(name) if found else name), rest, True)

    def is_read(self, node):
        found = self.owner and self.package.member(self.owner, text(node))
        return not self.is_local(text(node)) and bool(found) and found[1].kind != "method"

    @staticmethod
    def inner(node):
        return node.children[0] if node.type == "selector" else node

    def called_part(self, node):
        return child(node, "argument_part") if node.type == "selector" else None

    def chain(self, written, rest, is_class):
        is_short = False
        for at, node in enumerate(rest):
            part = self.called_part(node)
            if part is not None:
                generic = child(part, "type_arguments")
                types = f"<{', '.join(self.types.arguments(generic))}>" if generic else ""
                written += f"{types}({self.arguments(child(part, 'arguments'))})"
                continue
            selector = self.inner(node)
            index = child(selector, "index_selector")
            if index is not None:
                written = f"$at({written}, {self.expression(index.children[1:-1])})"
                continue
            if selector.type not in SELECTORS:
                raise self.fault(node, f"the selector {text(node)}")
            dot = "?." if selector.type == "conditional_assignable_selector" else "."
            is_short = is_short or dot == "?."
            called = at + 1 < len(rest) and self.called_part(rest[at + 1]) is not None
            name = text(child(selector, "identifier"))
            if is_class and at == 0 and not called:
                written += f".${name}()"
            else:
                written = self.member_of(written, dot, name, called)
        return f"({written} ?? null)" if is_short else written

    def member_of(self, written, dot, name, called):
        is_read, is_method = name in self.package.read, name in self.package.called or name in METHODS
        if called:
            return f"{written}{dot}${name}()" if is_read and not is_method else f"{written}{dot}{name}"
        if is_method and not is_read and name not in GETTERS:
            return f'$tear({written}, "{name}")'
        return f"{written}{dot}${name}()"

    def arguments(self, node):
        given, named = [], []
        for each in node.children:
            if each.type == "argument":
                given.append(self.expression(each.children))
            elif each.type == "named_argument":
                named.append(f"{text(child(child(each, 'label'), 'identifier'))}: {self.expression(each.children[1:])}")
        return ", ".join([*given, f"{{ {', '.join(named)} }}"] if named else given)
