"""The documentation of the public symbols: that there is some, that it tells of errors, and that its links lead somewhere."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from readme import ROOT
from symbols import PRODUCTS, Symbol, write_graph

# What the protocols of the standard library and of swift-metrics ask for says all in its name.
IMPLIED = re.compile(
    r"hash\(into:\)|hashValue|==\(_:_:\)|description|init\(rawValue:\)|unownedExecutor|init\(\w*[lL]iteral:\)"
    r"|init\(from:\)|encode\(to:\)|(make|destroy)(Counter|FloatingPointCounter|Meter|Recorder|Timer)\(.*\)"
)


class Documentation(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.symbols = {}
        for product in PRODUCTS:
            graph = write_graph(product, cls.graph_folder(product, make=True))
            defaults = {
                relation["source"] for relation in graph["relationships"] if relation["kind"] == "defaultImplementationOf"
            }
            symbols = [Symbol(symbol) for symbol in graph["symbols"]]
            cls.symbols[product] = [symbol for symbol in symbols if symbol.id not in defaults]

    @classmethod
    def graph_folder(cls, product, make=False):
        folder = f"{cls.folder.name}/{product}"
        if make:
            subprocess.run(["mkdir", "-p", folder], check=True)
        return folder

    def test_every_public_symbol_is_documented(self):
        for product, symbols in self.symbols.items():
            self.assertGreater(len(symbols), 100 if PRODUCTS[product] else 8, product)
            bare = [str(symbol) for symbol in symbols if not symbol.comment and not IMPLIED.fullmatch(symbol.last)]
            self.assertEqual("", "\n".join(bare))

    def test_what_throws_says_what_or_as_which_other(self):
        for product, symbols in self.symbols.items():
            throwing = [symbol for symbol in symbols if symbol.throws]
            self.assertGreater(len(throwing), 1, product)
            silent = [
                str(symbol)
                for symbol in throwing
                if not re.search(r"[Tt]hrow|[Ff]ails|[Ee]rror", symbol.comment) and not IMPLIED.fullmatch(symbol.last)
            ]
            self.assertEqual("", "\n".join(silent))

    def test_the_links_of_comments_and_articles_resolve(self):
        for product in PRODUCTS:
            diagnostics = pathlib.Path(f"{self.folder.name}/{product}.json")
            done = subprocess.run(
                [
                    "docc", "convert", f"Sources/{product}/{product}.docc", "--additional-symbol-graph-dir",
                    self.graph_folder(product), "--fallback-bundle-identifier", product, "--diagnostics-file",
                    str(diagnostics), "--output-path", f"{self.folder.name}/{product}.doccarchive",
                ],  # fmt: skip
                cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
            self.assertEqual(0, done.returncode, done.stdout)
            faults = [
                f"{each.get('source', product).removeprefix(f'file://{ROOT}/')}: {each['summary']}"
                for each in json.loads(diagnostics.read_text())["diagnostics"]
            ]
            self.assertEqual("", "\n".join(faults))


if __name__ == "__main__":
    unittest.main()
