"""The public symbols of the products, as the compiler knows them."""

import re
import sys

from readme import ROOT

sys.path.insert(0, str(ROOT / "web/docs"))
from generator.symbolgraphs import BUILD_OPTIONS, PRODUCTS, built, output, write_graph  # noqa: E402

__all__ = ["BUILD_OPTIONS", "PRODUCTS", "Symbol", "built", "output", "write_graph"]


class Symbol:
    def __init__(self, symbol):
        self.name = ".".join(symbol["pathComponents"])
        self.last = symbol["pathComponents"][-1]
        self.id = symbol["identifier"]["precise"]
        self.declaration = "".join(part["spelling"] for part in symbol["declarationFragments"])
        self.comment = "\n".join(line["text"] for line in symbol.get("docComment", {}).get("lines", []))
        place = symbol.get("location")
        self.place = f"{place['uri'].removeprefix(f'file://{ROOT}/')}:{place['position']['line'] + 1}" if place else ""

    @property
    def throws(self):
        """Whether the function itself does, not a closure that it takes."""
        text = self.declaration
        while re.search(r"\([^()]*\)", text):
            text = re.sub(r"\([^()]*\)", "", text)
        return re.search(r"\b(func|init)\b[^>]*\bthrows\b", text.replace("->", " -> ")) is not None

    def __str__(self):
        return f"{self.place}: {self.name}"
