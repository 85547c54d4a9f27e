"""The documentation of the public symbols: that there is some, and that it tells of errors. Its links are checked by test_site.py."""

import re
import tempfile
import unittest

from symbols import PRODUCTS, Symbol, write_graph

# What the protocols of the standard library and of swift-metrics ask for says all in its name.
IMPLIED = re.compile(
    r"hash\(into:\)|hashValue|==\(_:_:\)|description|init\(rawValue:\)|unownedExecutor|init\(\w*[lL]iteral:\)"
    r"|init\(from:\)|encode\(to:\)|next\((isolation:)?\)|(make|destroy)(Counter|FloatingPointCounter|Meter|Recorder|Timer)\(.*\)"
)


class Documentation(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.symbols = {}
        for product in PRODUCTS:
            graph = write_graph(product, folder.name)
            defaults = {
                relation["source"] for relation in graph["relationships"] if relation["kind"] == "defaultImplementationOf"
            }
            symbols = [Symbol(symbol) for symbol in graph["symbols"]]
            # Other packages extend protocols of the standard library, to which types of this one conform.
            cls.symbols[product] = [
                symbol for symbol in symbols if symbol.id not in defaults and not symbol.place.startswith(".build/")
            ]

    def test_every_public_symbol_is_documented(self):
        for product, symbols in self.symbols.items():
            self.assertGreater(len(symbols), 100 if PRODUCTS[product] else 5, product)
            bare = [str(symbol) for symbol in symbols if not symbol.comment and not IMPLIED.fullmatch(symbol.last)]
            self.assertEqual("", "\n".join(bare))

    def test_throwing_functions_document_their_errors(self):
        for product, symbols in self.symbols.items():
            throwing = [symbol for symbol in symbols if symbol.throws]
            # What WaybridgeCluster adds to another module's type is not among its own symbols.
            self.assertGreater(len(throwing), -1 if product == "WaybridgeCluster" else 1, product)
            silent = [
                str(symbol)
                for symbol in throwing
                if not re.search(r"[Tt]hrow|[Ff]ails|[Ee]rror", symbol.comment) and not IMPLIED.fullmatch(symbol.last)
            ]
            self.assertEqual("", "\n".join(silent))


if __name__ == "__main__":
    unittest.main()
