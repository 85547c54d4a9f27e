"""Texts that are written to README.md."""

import json
import pathlib
import unittest

import counts
import documents
import kinds

HERE = pathlib.Path(__file__).parent


class Documents(unittest.TestCase):
    def test_text_replaces_section_between_its_marks(self):
        document = "a\n<!-- calls -->\nold\n<!-- end of calls -->\n<!-- data -->\n<!-- end of data -->\nb\n"
        changed = documents.put(document, "calls", "new\nlines\n")
        self.assertEqual("a\n<!-- calls -->\nnew\nlines\n<!-- end of calls -->\n<!-- data -->\n<!-- end of data -->\nb\n", changed)
        self.assertEqual(document.replace("<!-- data -->\n", "<!-- data -->\nx\n"), documents.put(document, "data", "x"))

    def test_document_without_marks_is_rejected(self):
        for document in ("", "<!-- calls -->\n", "<!-- end of calls -->\n<!-- calls -->\n", 2 * "<!-- calls -->\n<!-- end of calls -->\n"):
            with self.assertRaises(ValueError):
                documents.put(document, "calls", "x")

    def test_readme_has_the_stored_instruction_counts(self):
        kept = json.loads((HERE / "instructions.json").read_text())["instructions"]
        readme = (HERE / "README.md").read_text()
        self.assertEqual(readme, documents.put(readme, "instructions", counts.table(kept, kinds.ABOUT)))

    def test_readme_has_a_section_for_every_mode(self):
        for mode in ("calls", "routes", "resume", "data"):
            documents.put((HERE / "README.md").read_text(), mode, "x")


if __name__ == "__main__":
    unittest.main()
