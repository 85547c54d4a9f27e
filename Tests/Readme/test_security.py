"""web/docs/security.md: each of its attackers has a promise, its conditions, and tests that exist."""

import re
import unittest

from readme import ROOT

PAGE = ROOT / "web/docs/security.md"
ATTACKERS = 17
PARTS = ["Promise", "Depends on", "Remains", "Tests"]


def sections():
    """The sections of the attackers, as pairs of a heading and its text."""
    text = re.search(r"^## Attackers$(.*?)^## ", PAGE.read_text(), re.M | re.S)[1]
    parts = re.split(r"^### (.*)$", text, flags=re.M)
    return parts[0], list(zip(parts[1::2], parts[2::2]))


def anchor(heading):
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def missing_tests(text, folder):
    """What a section names that does not exist: files, and tests in them. Each line names tests of one file."""
    missing = []
    for line in re.findall(r"^- (\[.*)$", text.split("**Tests:**")[-1], re.M):
        path = re.match(r"\[[\w.-]+\]\(([^)#]+)\)", line)[1]
        file = (folder / path).resolve()
        if not file.is_file():
            missing.append(path)
            continue
        code = file.read_text()
        for name in re.findall(r'"([^"]+)"', line):
            declared = rf"(func(?:tion)? `?{re.escape(name)}`?\(|def {re.escape(name)}\(|test\(\"{re.escape(name)}\")"
            if not re.search(declared, code):
                missing.append(f"{path}: {name}")
    return missing


class SecurityTests(unittest.TestCase):
    def test_table_lists_each_attacker(self):
        table, found = sections()
        self.assertEqual(ATTACKERS, len(found))
        self.assertEqual(
            [anchor(heading) for heading, _ in found], re.findall(r"^\| \[[^]]+\]\(#([^)]+)\)", table, re.M))

    def test_each_attacker_has_all_parts(self):
        for heading, text in sections()[1]:
            with self.subTest(heading):
                self.assertEqual(PARTS, re.findall(r"^\*\*([^*]+):\*\*", text, re.M))

    def test_named_tests_exist(self):
        for heading, text in sections()[1]:
            with self.subTest(heading):
                self.assertEqual([], missing_tests(text, PAGE.parent))
                lines = text.split("**Tests:**")[1]
                self.assertTrue("](" in lines or "No test" in lines, "neither a test nor a sentence that there is none")

    def test_missing_test_is_found(self):
        text = '**Tests:**\n\n- [readme](../../Tests/Readme/readme.py): "nothing"\n- [no](../no.swift): "x"\n'
        self.assertEqual(["../../Tests/Readme/readme.py: nothing", "../no.swift"], missing_tests(text, PAGE.parent))


if __name__ == "__main__":
    unittest.main()
