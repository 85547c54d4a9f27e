"""Markdown and code as HTML."""

import html
import os
import re

import pygments
import pygments.lexers
from markdown_it import MarkdownIt
from pygments.formatters import HtmlFormatter
from pygments.util import ClassNotFound

from .site import Entry, SiteError, relative, words

# What blocks name, where a lexer has another name for it.
LEXERS = {"sh": "bash", "ts": "typescript", "jsx": "js", "vue": "html", "svelte": "html", "text": None, "": None}


def code(text, language, kind="code"):
    """A block of code, which a reader may scroll and copy; a `code declaration` is read only, and wraps."""
    name = LEXERS.get(language, language)
    try:
        lexer = pygments.lexers.get_lexer_by_name(name, stripnl=False) if name else None
    except ClassNotFound as error:
        raise SiteError(f"no lexer for the language {language!r} of a block: name another, or text") from error
    body = pygments.highlight(text, lexer, HtmlFormatter(nowrap=True)) if lexer else html.escape(text, quote=False)
    label = f"{language} code" if language not in ("", "text") else "text"
    return f'<div class="{kind}"><pre tabindex="0" role="region" aria-label="{html.escape(label)}"><code>{body.rstrip()}\n</code></pre></div>\n'


def slug(text, taken):
    """The anchor of a heading, as the usual viewers of Markdown make it."""
    name = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
    unique, number = name, 0
    while unique in taken:
        number += 1
        unique = f"{name}-{number}"
    taken.add(unique)
    return unique


class Markdown:
    """A document, read; `link` says where a link of it leads, as a path of the site or an address."""

    def __init__(self, text, path, place, link):
        self.path, self.place = path, place
        self.headings, self.entries, self.title, self.summary = [], [], "", ""
        reader = MarkdownIt("commonmark", {"html": False}).enable("table")
        tokens = reader.parse(text)
        self.anchor(tokens)
        for token in tokens:
            for inline in token.children or []:
                if inline.type == "link_open":
                    inline.attrs["href"] = self.leading(inline.attrs["href"], link)
                if inline.type == "image":
                    inline.attrs["src"] = self.leading(inline.attrs["src"], link)
        reader.add_render_rule("fence", lambda _, tokens, index, *rest: code(tokens[index].content, tokens[index].info.strip()))
        reader.add_render_rule("table_open", lambda *_: '<div class="table" tabindex="0" role="region" aria-label="Table"><table>\n')
        reader.add_render_rule("table_close", lambda *_: "</table></div>\n")
        reader.add_render_rule("code_inline", lambda _, tokens, index, *rest: inline_code(tokens[index]))
        reader.add_render_rule("image", lambda _, tokens, index, *rest: picture(tokens[index]))
        self.html = reader.renderer.render(tokens, reader.options, {})
        self.index(tokens)

    def leading(self, target, link):
        try:
            found = link(target)
        except SiteError as error:
            raise SiteError(f"{self.place}: {error}") from error
        return found if re.match(r"[a-z]+:", found) else relative(found, self.path)

    def anchor(self, tokens):
        taken = set()
        for token, inline in zip(tokens, tokens[1:]):
            if token.type == "heading_open":
                text = plain(inline)
                token.attrs["id"] = anchor = slug(text, taken)
                level = int(token.tag[1])
                if level == 1 and not self.title:
                    self.title = text
                self.headings.append((level, text, anchor))

    def index(self, tokens):
        """Makes an entry for each section, with the words of its paragraphs, tables and code; the summary is the first sentence."""
        entry, opening = None, None
        for token, inline in zip(tokens, [*tokens[1:], None]):
            if token.type == "heading_open":
                entry = Entry(plain(inline), "section" if token.tag != "h1" else "page", token.attrs["id"])
                self.entries.append(entry)
            elif entry and token.type == "inline" and token is not None:
                entry.text += " " + plain(token)
                if not self.summary and opening == "paragraph_open" and entry.kind == "page":
                    self.summary = first_sentence(plain(token))
            elif entry and token.type == "fence":
                entry.text += " " + token.content
            opening = token.type
        for entry in self.entries:
            entry.text = " ".join(dict.fromkeys(re.findall(r"[\w$./:@-]+", entry.text)))


def first_sentence(text):
    return re.split(r"(?<=[.?!]) ", text.strip(), maxsplit=1)[0]


def inline_code(token):
    """Words that are too long for a column may break; others stay whole."""
    kind = ' class="long"' if any(len(word) > 28 for word in token.content.split()) else ""
    return f"<code{kind}>{html.escape(token.content)}</code>"


def picture(token):
    return f'<span class="picture" tabindex="0" role="region" aria-label="Picture"><img src="{html.escape(token.attrs["src"])}" alt="{html.escape(token.content)}"></span>'


def plain(inline):
    return "".join(
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for child in inline.children or []
        if child.type in ("text", "code_inline", "softbreak", "hardbreak")
    )


def joined(folder, target):
    """A path of the project: what a link in a file of `folder` means."""
    return os.path.normpath(os.path.join(folder, target))


__all__ = ["Markdown", "code", "joined", "plain", "slug", "words"]
