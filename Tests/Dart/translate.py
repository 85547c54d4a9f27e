"""Translates the pure part of a Dart package to one TypeScript program, for a compiler and for Node.

translate.py OUTPUT FILE…: the `.ts` files among them are put in front of it, and `main` is called if there is one"""

import pathlib
import sys

from dart_classes import Classes
from dart_code import Code
from dart_symbols import Fault, Package


def ordered(package):
    """Sorts classes after their superclasses."""
    found, seen = [], set()

    def add(each):
        if id(each) in seen:
            return
        seen.add(id(each))
        above = each.extends and package.find(each.file, each.extends)
        if above:
            add(above)
        found.append(each)

    for each in package.declared.values():
        add(each)
    return found


def translated(package):
    parts = {"enum": [], "class": [], "typedef": [], "function": [], "constant": []}
    for each in ordered(package):
        if each.kind == "class":
            parts["class"].append(Classes(package, each.file, each).written())
            continue
        code = Code(package, each.file)
        method = {"enum": code.enumeration, "function": code.function, "constant": code.constant, "typedef": code.typedef}
        parts[each.kind].append(method[each.kind](each))
    lines = [line for kind in parts.values() for line in kind]
    names = [name for name, each in package.declared.items() if not name.startswith("_") and "$" not in name and each.kind != "typedef"]
    start = "main();\n" if "main" in package.declared else ""
    return "\n".join(lines) + f"\nexport {{ {', '.join(names)} }};\n{start}"


def main(output, *paths):
    package = Package(path for path in paths if path.endswith(".dart"))
    faults = [fault for file in package.files for fault in file.faults()]
    if faults:
        sys.exit("\n".join(f"{fault}: no Dart" for fault in faults))
    try:
        text = translated(package)
    except Fault as fault:
        sys.exit(str(fault))
    before = [pathlib.Path(path).read_text() for path in paths if path.endswith(".ts")]
    pathlib.Path(output).write_text("".join(before) + text)


if __name__ == "__main__":
    main(*sys.argv[1:])
