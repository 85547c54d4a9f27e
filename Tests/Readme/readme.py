"""The code blocks of README, as a newcomer reads them."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(section, language, file="README.md"):
    """The code blocks of one language in a section, without the space around them."""
    text = (ROOT / file).read_text().split(f"## {section}\n")[1].split("\n## ")[0]
    return [block.strip() for block in re.findall(rf"```{language}\n(.*?)```", text, re.S)]


def replaced(text, replacements):
    """`text` with each replacement made; each must have something to replace."""
    for old, new in replacements:
        if old not in text:
            raise AssertionError(f"README has no {old!r} in:\n{text}")
        text = text.replace(old, new)
    return text
