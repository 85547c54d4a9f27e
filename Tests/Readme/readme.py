"""The code blocks of the documents, as a newcomer reads them."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

DOCUMENTS = ["README.md", "protocol/PROTOCOL.md", "protocol/HTTP.md", "protocol/ADMINISTRATION.md", "protocol/CONFORMANCE.md", "web/bridge/README.md", "Tests/Benchmarks/README.md", "Tests/Chaos/README.md", "Tests/Soak/README.md"]

# A line that ends with "`NAME`:", and the block behind it.
NAMED = re.compile(r"`([\w./-]+)`:\n\n```\w*\n(.*?)^```$", re.S | re.M)


class Block:
    """A fenced block; `place` is where it stands, as `FILE:LINE`."""

    def __init__(self, place, language, text):
        self.place = place
        self.language = language
        self.text = text

    def __repr__(self):
        return self.place


def project_files():
    """The files of the project that people write, also those that are not committed yet, by their paths from its root."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    paths = [pathlib.Path(line) for line in listed.stdout.splitlines()]
    return [path for path in paths if ".min." not in path.name and (ROOT / path).is_file()]


def documents():
    """Every document with examples: those for readers, and the articles beside the sources."""
    named = [ROOT / name for name in DOCUMENTS if (ROOT / name).exists()]
    return named + sorted(ROOT.glob("web/docs/*.md")) + sorted(ROOT.glob("Sources/**/*.docc/*.md"))


def fenced(path, text=None):
    """The fenced blocks of a document."""
    text = path.read_text() if text is None else text
    name = path.relative_to(ROOT)
    found = []
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M):
        line = text[: match.start()].count("\n") + 1
        found.append(Block(f"{name}:{line}", match[1], match[2]))
    return found


def all_blocks(language):
    """The blocks of one language in all documents."""
    return [block for path in documents() for block in fenced(path) if block.language == language]


def comment_blocks(language):
    """The blocks of one language in the `///` comments of the sources, with the module that each belongs to."""
    found = []
    for path in sorted(ROOT.glob("Sources/**/*.swift")):
        lines = [
            line.strip().removeprefix("///").removeprefix(" ") if line.strip().startswith("///") else ""
            for line in path.read_text().splitlines()
        ]
        module = path.relative_to(ROOT / "Sources").parts[0]
        found += [(block, module) for block in fenced(path, "\n".join(lines) + "\n") if block.language == language]
    return found


def blocks(section, language, file="README.md"):
    """The code blocks of one language in a section, without the space around them."""
    text = (ROOT / file).read_text().split(f"## {section}\n")[1].split("\n## ")[0]
    return [block.strip() for block in re.findall(rf"```{language}\n(.*?)```", text, re.S)]


def files(path):
    """The files that a document tells its reader to write: the text of each, by its name."""
    return {match[1]: match[2] for match in NAMED.finditer(path.read_text())}


def replaced(text, replacements):
    """`text` with each replacement made; each must have something to replace."""
    for old, new in replacements:
        if old not in text:
            raise AssertionError(f"There is no {old!r} in:\n{text}")
        text = text.replace(old, new)
    return text
