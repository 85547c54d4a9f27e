"""Translates statements and declarations of Dart to TypeScript."""

from dart_expressions import Expressions
from dart_symbols import child, children, text
from dart_types import type_end


class Code(Expressions):
    """The code of one file, or of one class in it."""

    def body(self, node):
        """`async ` if it is asynchronous, and the body in braces or as an expression."""
        marks = [each.type for each in node.children]
        before = "async " if "async" in marks else ""
        if "=>" in marks:
            at = marks.index("=>")
            written = self.expression([each for each in node.children[at + 1 :] if each.type != ";"])
            return before, f"{{ return {written}; }}" if written.startswith(("{", "$raise(")) else f"({written})"
        return before, self.block(child(node, "block"))

    def returned(self, node, result=None):
        """A body in braces."""
        before, written = self.body(node)
        given = "" if result == "void" else "return "
        return before, written if written.startswith("{") else f"{{ {given}{written}; }}"

    def block(self, node):
        self.scopes.append(set())
        lines = [self.statement(each) for each in node.children if each.is_named and "comment" not in each.type]
        self.scopes.pop()
        return "{ " + " ".join(lines) + " }"

    def statement(self, node):
        handler = getattr(self, f"do_{node.type}", None)
        if handler is None:
            raise self.fault(node, f"{node.type} is not among what these tests read")
        return handler(node)

    def do_block(self, node):
        return self.block(node)

    def do_expression_statement(self, node):
        nodes = [each for each in node.children if each.type != ";"]
        if nodes[0].type == "throw_expression":
            return f"throw {self.expression(nodes[0].children[1:])};"
        if nodes[0].type == "rethrow_expression":
            return f"throw {self.caught[-1]};"
        return f"{self.expression(nodes)};"

    def do_return_statement(self, node):
        nodes = [each for each in node.children[1:] if each.type != ";"]
        return f"return {self.expression(nodes)};" if nodes else "return;"

    def do_continue_statement(self, node):
        return "continue;"

    def do_break_statement(self, node):
        return "break;"

    def do_local_variable_declaration(self, node):
        definition = child(node, "initialized_variable_definition")
        nodes = definition.children
        name = text(child(definition, "identifier"))
        marks = [each.type for each in nodes]
        is_final = "final_builtin" in marks or "const_builtin" in marks
        own = self.types.first(nodes[: marks.index("identifier")])
        typed = "" if own is None else f": {own}"
        if "=" not in marks:
            self.scopes[-1].add(name)
            is_null = own is not None and "null" in own
            return f"let {name}{'!' if 'late' in marks else ''}{typed}{' = null' if is_null else ''};"
        value = self.expression(nodes[marks.index("=") + 1 :])
        if "const_builtin" in marks and not typed:
            typed = ""
        self.scopes[-1].add(name)
        return f"{'const' if is_final else 'let'} {name}{typed} = {value};"

    def do_local_function_declaration(self, node):
        function = child(node, "lambda_expression")
        signature = child(function, "function_signature")
        name = text(children(signature, "identifier")[-1])
        self.scopes[-1].add(name)
        self.scopes.append(set())
        written, order = self.types.parameters(child(signature, "formal_parameter_list"), value=self.expression)
        self.scopes[-1] |= {each for each, _, _ in order}
        before, body = self.body(child(function, "function_body"))
        self.scopes.pop()
        return f"const {name} = {before}({written}): {self.types.first(signature.children)} => {body};"

    def do_if_statement(self, node):
        at = [each.type for each in node.children].index(")")
        condition = self.expression(node.children[2:at])
        rest = [each for each in node.children[at + 1 :] if "comment" not in each.type]
        written = f"if ({condition}) {self.statement(rest[0])}"
        return f"{written} else {self.statement(rest[2])}" if len(rest) > 2 else written

    def do_while_statement(self, node):
        return f"while {self.single(child(node, 'parenthesized_expression'))} {self.statement(node.children[-1])}"

    def do_for_statement(self, node):
        parts = child(node, "for_loop_parts").children[1:-1]
        marks = [each.type for each in parts]
        self.scopes.append(set())
        if "in" in marks:
            at = marks.index("in")
            row = self.expression(parts[at + 1 :])
            name = text(parts[at - 1])
            self.scopes[-1].add(name)
            written = f"for (const {name} of {row}) {self.statement(node.children[-1])}"
        else:
            first = self.statement(parts[0])
            at = marks.index(";")
            condition, step = self.expression(parts[1:at]), self.expression(parts[at + 1 :])
            written = f"for ({first} {condition}; {step}) {self.statement(node.children[-1])}"
        self.scopes.pop()
        return written

    def do_try_statement(self, node):
        nodes, at = node.children, 2
        written, clauses, last = f"try {self.block(nodes[1])}", [], ""
        name = f"thrown{len(self.caught)}"
        while at < len(nodes):
            kind = None
            if nodes[at].type == "finally_clause":
                last = f" finally {self.block(child(nodes[at], 'block'))}"
                at += 1
                continue
            if nodes[at].type == "on":
                end = type_end(nodes, at + 1)
                kind, at = self.types.of(nodes[at + 1 : end]), end
            caught = None
            if nodes[at].type == "catch_clause":
                caught = text(child(child(nodes[at], "catch_parameters"), "identifier"))
                at += 1
            clauses.append(self.clause(name, kind, caught, nodes[at]))
            at += 1
        if clauses:
            if "else" not in clauses[-1][:6] and clauses[-1].startswith("if"):
                clauses.append(f"{{ throw {name}; }}")
            written += f" catch ({name}) {{ {' else '.join(clauses)} }}"
        return written + last

    def clause(self, name, kind, caught, block):
        self.caught.append(name)
        self.scopes.append({caught} if caught else set())
        body = self.block(block)
        self.scopes.pop()
        self.caught.pop()
        named = "" if caught is None else f"const {caught} = {name} as {kind or '{}'}; "
        return f"if ({name} instanceof {kind}) {{ {named}{body} }}" if kind else f"{{ {named}{body} }}"

    # MARK: declarations

    def function(self, declared):
        signature = declared.node
        self.scopes = [set()]
        generic = self.generics(signature)
        written, order = self.types.parameters(child(signature, "formal_parameter_list"), value=self.expression)
        self.scopes.append({name for name, _, _ in order})
        result = self.types.first(signature.children)
        before, body = self.returned(declared.body, result)
        return f"{before}function {self.unique(declared.name)}{generic}({written}): {result} {body}"

    def constant(self, declared):
        at = [each.type for each in declared.node.children].index("=")
        return f"const {self.unique(declared.name)} = {self.expression(declared.node.children[at + 1 :])};"

    def typedef(self, declared):
        at = [each.type for each in declared.node.children].index("=")
        return f"type {self.unique(declared.name)} = {self.types.first(declared.node.children[at + 1 :])};"

    def enumeration(self, declared):
        name = self.unique(declared.name)
        cases = [text(child(each, "identifier")) for each in child(declared.node, "enum_body").children if each.type == "enum_constant"]
        members = [f'static $_{case} = new {name}("{case}"); static ${case}() {{ return this.$_{case}; }}' for case in cases]
        listed = ", ".join(f"this.${case}()" for case in cases)
        members.append(f"static $values() {{ return [{listed}]; }}")
        return f"class {name} {{ declare brand${name}: void; constructor(private name: string) {{}} $name() {{ return this.name; }} toString() {{ return `{declared.name}.${{this.name}}`; }} {' '.join(members)} }}"

    def generics(self, node):
        listed = child(node, "type_parameters")
        if listed is None:
            return ""
        found = []
        for each in children(listed, "type_parameter"):
            name = text(child(each, "type_identifier"))
            self.scopes[0].add(name)
            bound = child(each, "type_bound")
            found.append(f"{name} extends {self.types.first(bound.children)}" if bound else name)
        return f"<{', '.join(found)}>"

