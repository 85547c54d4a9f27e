"""Translates classes of Dart to TypeScript."""

from dart_code import Code
from dart_symbols import CONSTRUCTORS, Fault, child, children, place, text


class Classes(Code):
    """A class: `$b()` reads `a.b` and `set$b()` sets it; `new$A$name()` creates an instance, `init$A$name()` initializes one."""

    def written(self):
        owner = self.owner
        self.scopes = [set()]
        self.type_parameters = self.generics(owner.node)
        self.plain = "" if not self.type_parameters else "<" + ", ".join(
            each.split(" ")[0] for each in self.type_parameters[1:-1].split(", ")) + ">"
        name = self.unique(owner.name)
        self.is_abstract = bool(owner.modifiers & {"abstract", "sealed", "interface"})
        head = f"{'abstract ' if self.is_abstract else ''}class {name}{self.type_parameters}"
        if owner.extends:
            head += f" extends {self.types.first(child(owner.node, 'superclass').children)}"
        interfaces = [self.type_named(each) for each in owner.implements]
        if any(each is None for each in interfaces):
            raise Fault(f"{place(owner.node, self.file.path)}: {owner.name} implements what is not there")
        interfaces = [each for each in interfaces if each != "Exception"]
        if interfaces:
            head += f" implements {', '.join(interfaces)}"
        lines = [f"declare brand${each}: void;" for each in dict.fromkeys([name, *self.above(owner)])]
        for member in owner.members.values():
            lines.append(getattr(self, member.kind)(member))
        if not owner.constructors and not self.is_abstract:
            lines += self.maker("", "", "")
            lines.append(self.filled("", "", self.initial(set()), "{}"))
        elif not owner.constructors and "interface" not in owner.modifiers:
            lines.append(self.filled("", "", self.initial(set()), "{}"))
        for each in owner.constructors.values():
            lines += self.constructor(each)
        return head + " {\n  " + "\n  ".join(lines) + "\n}"

    def above(self, owner):
        for each in owner.implements:
            found = self.package.find(owner.file, each)
            if found is not None:
                yield self.package.unique(found.file, found.name)
                yield from self.above(found)

    def is_needed(self, member):
        return member.kind == "field" and not member.is_static and member.value is None and not member.is_late and (
            member.is_final or "null" not in self.type_of(member))

    def type_of(self, member):
        own = self.types.first(member.node.children)
        if own is None:
            raise Fault(f"{place(member.node, self.file.path)}: {member.name} needs a type")
        return own

    # MARK: members

    def field(self, member):
        own, name = self.type_of(member), member.name
        value = None if member.value is None else self.expression(member.value)
        if member.is_static:
            return f"static ${name}(): {own} {{ return {value}; }}"
        if member.is_late and value is not None:
            return f"f${name}: {own} | undefined; ${name}(): {own} {{ return this.f${name} ??= {value}; }}"
        # Whether it can be set is only visible from outside: for final fields, the missing setter checks that, except in this class.
        setter = "" if member.is_final and not member.is_late else f" set${name}(v: {own}) {{ this.f${name} = v; return v; }}"
        if member.is_late and member.is_final:
            setter = f" set${name}(v: {own}) {{ if (this.f${name} !== undefined) throw new Error('{name} is set twice'); this.f${name} = v; return v; }}"
        return f"f${name}!: {own}; ${name}(): {own} {{ return this.f${name}; }}{setter}"

    def getter(self, member):
        result = self.types.first(member.node.children)
        if member.body is None:
            return f"abstract ${member.name}(): {result};"
        before, body = self.returned(member.body)
        return f"{before}${member.name}(): {result} {body}"

    def method(self, member):
        self.scopes = [self.scopes[0]]
        generic = self.generics(member.node)
        listed = child(member.node, "formal_parameter_list")
        result = self.types.first(member.node.children)
        if member.body is None:
            return f"abstract {member.name}{generic}({self.types.parameters(listed)[0]}): {result};"
        written, order = self.types.parameters(listed, value=self.expression)
        self.scopes.append({name for name, _, _ in order})
        before, body = self.returned(member.body, result)
        self.scopes.pop()
        return f"{'static ' if member.is_static else ''}{before}{member.name}{generic}({written}): {result} {body}"

    # MARK: constructors

    def constructor(self, member):
        signature = child(member.node, *CONSTRUCTORS)
        listed = child(signature, "formal_parameter_list")
        written, order = self.types.parameters(listed, fields=self.field_type, value=self.expression)
        self.scopes.append({name for name, _, _ in order})
        name = member.name
        try:
            if signature.type == "factory_constructor_signature":
                self.owner, owner = self.owner, self.owner
                _, body = self.returned(member.body)
                return [f"static new${owner.name}${name}{self.type_parameters}({written}): {self.unique(owner.name)}{self.plain} {body}"]
            initializers = child(member.node, "initializers") or child(signature, "initializers")
            lines, above, done = [], None, {each for each, kind, _ in order if kind == "this"}
            lines += [f"this.f${each} = {each};" for each in done]
            for entry in children(initializers, "initializer_list_entry") if initializers is not None else []:
                field = child(entry, "field_initializer")
                if field is not None:
                    set_ = text(child(field, "identifier"))
                    at = [each.type for each in field.children].index("=")
                    lines.append(f"this.f${set_} = {self.expression(field.children[at + 1 :])};")
                    done.add(set_)
                else:
                    above = self.arguments(child(entry, "arguments"))
            start = self.initial(done) + lines
            start += self.supered(order, above)
            body = "{}" if member.body is None else self.returned(member.body)[1]
        finally:
            self.scopes.pop()
        given = ", ".join(self.passed(order))
        made = [] if self.is_abstract else self.maker(name, written, given)
        return [*made, self.filled(name, written, start, body)]

    def passed(self, order):
        named = [each for each, _, is_named in order if is_named]
        return [each for each, _, is_named in order if not is_named] + ([f"{{ {', '.join(named)} }}"] if named else [])

    def supered(self, order, above):
        if self.owner.extends is None or self.package.find(self.file, self.owner.extends) is None:
            return []
        found = self.package.find(self.file, self.owner.extends)
        handed = [(each, kind, is_named) for each, kind, is_named in order if kind == "super"]
        given = above if above is not None else ", ".join(self.passed(handed))
        return [f"this.init${found.name}$({given});"]

    def field_type(self, name, kind):
        owner = self.owner if kind == "this" else self.package.find(self.file, self.owner.extends)
        member = owner and owner.members.get(name)
        if not member:
            raise Fault(f"{place(self.owner.node, self.file.path)}: {self.owner.name} has no field {name}")
        return self.type_of(member)

    def initial(self, done):
        """The fields with a value of their own, and those that are null at first."""
        lines = []
        for each in self.owner.members.values():
            if each.kind != "field" or each.is_static or each.is_late or each.name in done:
                continue
            if each.value is not None:
                lines.append(f"this.f${each.name} = {self.expression(each.value)};")
            elif not self.is_needed(each):
                lines.append(f"this.f${each.name} = null;")
        return lines

    def maker(self, name, written, given):
        own = self.unique(self.owner.name)
        return [
            f"static new${self.owner.name}${name}{self.type_parameters}({written}): {own}{self.plain} "
            f"{{ const made = new {own}{self.plain}(); made.init${self.owner.name}${name}({given}); return made; }}"]

    def filled(self, name, written, lines, body):
        missing = [
            each.name for each in self.owner.members.values()
            if self.is_needed(each) and not any(line.startswith(f"this.f${each.name} =") for line in lines)]
        if missing:
            raise Fault(f"{place(self.owner.node, self.file.path)}: {self.owner.name} leaves {', '.join(missing)} without a value")
        return f"init${self.owner.name}${name}({written}) {{ {' '.join(lines)} {body} }}"
