"""Generated parts of a document."""


def put(document, name, text):
    """Returns the document with a text between the lines `<!-- NAME -->` and `<!-- end of NAME -->`; fails without these."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    if document.count(start) != 1 or document.count(end) != 1 or document.index(start) > document.index(end):
        raise ValueError(f"the document needs the lines {start.strip()} and {end.strip()}, once each")
    before, rest = document.split(start)
    return before + start + text.strip() + "\n" + end + rest.split(end)[1]
