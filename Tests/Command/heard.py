"""All that a run puts out, kept so that it can be searched for secrets."""

import base64
import threading

# As much of a secret counts as the secret.
PIECE = 12


class Heard:
    """What was heard at which place, and what may not have been."""

    def __init__(self):
        self._secrets = {}
        self._heard = []

    def secret(self, name, text):
        """Takes a secret: a text, or bytes, which may be written in several ways. Gives it."""
        if isinstance(text, bytes):
            forms = [text.decode(), text.hex(), *(coding(text).decode() for coding in (base64.b64encode, base64.b32encode))]
        else:
            forms = [text]
        for form in forms:
            if len(form) < PIECE:
                raise ValueError(f"too short to be looked for: {name}")
            self._secrets[form] = name
        return text

    def add(self, place, source, *handed):
        """Takes a text, or a `Tap`; `handed` are the secrets that stand in it once, as they have to."""
        self._heard.append((place, source, list(handed)))
        return source

    def hand(self, tap, *secrets):
        """These are handed over to whoever a tap is of."""
        next(handed for _, source, handed in self._heard if source is tap).extend(secrets)

    def texts(self):
        return [(place, source if isinstance(source, str) else source.text(), handed) for place, source, handed in self._heard]

    def leaks(self):
        """Each secret that stands, as a whole or with a piece, where it must not."""
        pieces = {}
        for secret, name in self._secrets.items():
            for start in range(len(secret) - PIECE + 1):
                pieces[secret[start : start + PIECE].lower()] = name
        for place, text, handed in self.texts():
            for secret in handed:
                if text.count(secret) != 1:
                    yield f"{place}: {self._secrets[secret]} stands there {text.count(secret)} times, not once"
                text = text.replace(secret, "\n")
            low = text.lower()
            found = {low[start : start + PIECE]: start for start in range(len(low) - PIECE + 1)}
            leaks = {pieces[piece]: found[piece] for piece in pieces.keys() & found.keys()}
            for name, start in leaks.items():
                yield f"{place}: a piece of {name}: {text[max(0, start - 60) : start + 60]!r}"


class Lines:
    """Lines of a stream that others write, read as they come; for a `with` block, at whose end the stream has ended."""

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
        """How many lines hold a text."""
        with self._more:
            return sum(text in line for line in self._lines)

    def grows(self, text, count, timeout):
        """Whether more than `count` lines hold a text within so many seconds."""
        with self._more:
            return self._more.wait_for(lambda: sum(text in line for line in self._lines) > count, timeout)

    def text(self):
        with self._more:
            return "".join(self._lines)
