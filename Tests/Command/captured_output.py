"""The output of a run, captured so that it can be searched for secrets."""

import base64
import threading

# A part of a secret counts as the secret if it has this length.
PIECE = 12


class CapturedOutput:
    """Output by place, and the secrets that must not be in it."""

    def __init__(self):
        self._secrets = {}
        self._sources = []

    def secret(self, name, text):
        """Adds a secret: a text, or bytes, which can be encoded in several ways. Returns it."""
        if isinstance(text, bytes):
            forms = [text.decode(), text.hex(), *(coding(text).decode() for coding in (base64.b64encode, base64.b32encode))]
        else:
            forms = [text]
        for form in forms:
            if len(form) < PIECE:
                raise ValueError(f"too short to be looked for: {name}")
            self._secrets[form] = name
        return text

    def add(self, place, source, *allowed):
        """Adds a text, or a `RecordedSocket`; `allowed` are the secrets that must be in it exactly once."""
        self._sources.append((place, source, list(allowed)))
        return source

    def allow(self, target, *secrets):
        """Allows these secrets in the output of one source."""
        next(allowed for _, source, allowed in self._sources if source is target).extend(secrets)

    def texts(self):
        return [(place, source if isinstance(source, str) else source.text(), allowed) for place, source, allowed in self._sources]

    def leaks(self):
        """The secrets that occur, completely or in part, at a place where they are not allowed."""
        pieces = {}
        for secret, name in self._secrets.items():
            for start in range(len(secret) - PIECE + 1):
                pieces[secret[start : start + PIECE].lower()] = name
        for place, text, allowed in self.texts():
            for secret in allowed:
                if text.count(secret) != 1:
                    yield f"{place}: {self._secrets[secret]} stands there {text.count(secret)} times, not once"
                text = text.replace(secret, "\n")
            low = text.lower()
            found = {low[start : start + PIECE]: start for start in range(len(low) - PIECE + 1)}
            leaks = {pieces[piece]: found[piece] for piece in pieces.keys() & found.keys()}
            for name, start in leaks.items():
                yield f"{place}: a piece of {name}: {text[max(0, start - 60) : start + 60]!r}"


class Lines:
    """Lines of a stream, read as they arrive. Used in a `with` block; the stream has ended at its end."""

    def __init__(self, stream):
        self._stream = stream
        self._lines = []
        self._more = threading.Condition()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._thread.join()

    def _read(self):
        for line in self._stream:
            with self._more:
                self._lines.append(line.decode())
                self._more.notify_all()

    def count(self, text):
        """The number of lines that contain a text."""
        with self._more:
            return sum(text in line for line in self._lines)

    def grows(self, text, count, timeout):
        """Whether more than `count` lines contain a text within this number of seconds."""
        with self._more:
            return self._more.wait_for(lambda: sum(text in line for line in self._lines) > count, timeout)

    def text(self):
        with self._more:
            return "".join(self._lines)
