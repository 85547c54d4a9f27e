"""Names of types, functions and files: standard words, one name for one type, folders that `ls` can show."""

import collections
import re
import unittest

from readme import ROOT, project_files

# Words that say nothing to a reader who does not know the code (STYLE, "Names in code"): verbs of speech and motion, and metaphors.
BANNED = set(
    """
    take takes taken taking took tell tells told said say says saying heard hear hears go goes going gone came come comes
    had look looks looked rang whoever whom nobody somebody anew elsewhere
    errand rescue witness staging travel journey detour doubt bell likeness newcomer tenure luggage patience impatience
    census happening happenings orphanage bereft insist debtor keeping reception ward cue news
    """.split())
# Pairs of words that are terms of the field although one of them is banned.
TERMS = [("take", "over"), ("takes", "over"), ("taken", "over"), ("taking", "over")]
# Nouns that end in "ing" and are no gerunds.
NOUNS = {"String", "Ring", "Setting", "Opening", "Framing", "Coding", "Encoding", "Timing", "Ping"}
MAX_FILES = 25

SWIFT_TYPE = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|internal|private|fileprivate|final|indirect|nonisolated|open) )*"
    r"(?:class|struct|enum|actor|protocol|typealias) ([A-Z]\w*)", re.M)
SWIFT_FUNCTION = re.compile(r"\bfunc (`[^`]+`|\w+)")
SWIFT_PROPERTY = re.compile(r"\b(?:var|let) (\w+)|^\s*case (\w+)", re.M)
SCRIPT = re.compile(r"\b(?:function\*?|class) (\w+)|^\s+(?:static |async |get |set |\*)*#?(\w+)\([^()]*\) \{$", re.M)
PYTHON = re.compile(r"^\s*(?:async )?(?:def|class) (\w+)", re.M)
STATEMENTS = {"if", "for", "while", "switch", "catch", "with", "return", "function"}


def files(*suffixes):
    """The files of the project with one of these suffixes, but for those that a program has written."""
    return [ROOT / path for path in project_files() if path.suffix in suffixes]


def words(name):
    """`encodeJSONText` is encode, json, text; so are snake_case, kebab-case and a sentence."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def banned(name):
    """The banned words of a name."""
    each = words(name)
    return [
        word for index, word in enumerate(each)
        if word in BANNED and (word, (each + [""])[index + 1]) not in TERMS]


def code(text):
    """Swift without its comments and texts."""
    text = re.sub(r'"""[\s\S]*?"""', '""', text)
    return re.sub(r"//.*", "", re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text))


class WordTests(unittest.TestCase):
    def assert_plain(self, names):
        """None of these (place, name) has a banned word."""
        count, found = 0, []
        for place, name in names:
            count += 1
            if banned(name):
                found.append(f"{place}: {name}")
        self.assertEqual([], found)
        self.assertGreater(count, 20)

    def test_the_check_finds_banned_words(self):
        self.assertEqual(["take"], banned("takeAll"))
        self.assertEqual(["told"], banned("was_told_twice"))
        self.assertEqual(["errand"], banned("RemoteErrand"))
        self.assertEqual([], banned("takeOverSession"))
        self.assertEqual([], banned("welcomeOutcome"))

    def test_files(self):
        self.assert_plain((path.relative_to(ROOT), path.stem) for path in files(".swift", ".js", ".mjs", ".py", ".dart", ".md"))

    def test_swift(self):
        def names():
            for path in files(".swift"):
                text = code(path.read_text(encoding="utf-8"))
                for pattern in (SWIFT_TYPE, SWIFT_FUNCTION, SWIFT_PROPERTY):
                    for match in pattern.finditer(text):
                        yield path.relative_to(ROOT), next(group for group in match.groups() if group)

        self.assert_plain(names())

    def test_javascript(self):
        def names():
            for path in files(".js", ".mjs"):
                for match in SCRIPT.finditer(path.read_text(encoding="utf-8")):
                    name = next(group for group in match.groups() if group)
                    if name not in STATEMENTS:
                        yield path.relative_to(ROOT), name

        self.assert_plain(names())

    def test_python(self):
        def names():
            for path in files(".py"):
                for match in PYTHON.finditer(path.read_text(encoding="utf-8")):
                    yield path.relative_to(ROOT), match[1]

        self.assert_plain(names())


class TypeTests(unittest.TestCase):
    def declared(self):
        """The types of Sources, nested ones too, with the files that declare them."""
        found = collections.defaultdict(list)
        for path in files(".swift"):
            if path.relative_to(ROOT).parts[0] == "Sources":
                text = code(path.read_text(encoding="utf-8"))
                for match in SWIFT_TYPE.finditer(text):
                    # `public typealias Caller = WayRouting.Caller` is the same type once more, and Swift demands `CodingKeys`.
                    if match[1] != "CodingKeys" and not re.match(r" = \w+\." + match[1] + r"\b", text[match.end():]):
                        found[match[1]].append(str(path.relative_to(ROOT)))
        return found

    def test_no_two_types_share_a_name(self):
        self.assertEqual({}, {name: places for name, places in self.declared().items() if len(places) > 1})

    def test_types_and_files_are_nouns(self):
        stems = [part for path in files(".swift") if "Sources" in path.parts for part in path.stem.split("+")]
        gerunds = [
            name for name in [*self.declared(), *stems]
            if re.search(r"(?:[A-Z]|^)[a-z]*ing$", name) and re.search(r"[A-Z]?[a-z]+$", name)[0] not in NOUNS]
        self.assertEqual([], gerunds)


class FolderTests(unittest.TestCase):
    def test_a_folder_is_read_at_one_glance(self):
        counts = collections.Counter(
            path.parent for path in files(".swift", ".js")
            if path.relative_to(ROOT).parts[0] in ("Sources", "web") and "test" not in path.parts)
        large = {str(folder.relative_to(ROOT)): count for folder, count in counts.items() if count > MAX_FILES}
        self.assertEqual({}, large)


if __name__ == "__main__":
    unittest.main()
