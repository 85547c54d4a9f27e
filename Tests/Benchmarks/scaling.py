"""Kinds of calls while the server holds more or fewer objects. The first argument of each class is their number."""

import functools
import json

from frames import Client
from kinds import IN_FLIGHT, HostedTask, Page, Task


class AmongRoutes(Task):
    """A task, in a table of this number of routes."""

    @staticmethod
    def table(size):
        routes = [{"name": f"r{number}", "pattern": f"native://r{number}/:id", "kind": "page"} for number in range(size)]
        return json.dumps({"version": "1", "routes": routes}, separators=(",", ":"))


class AmongSessions(Task):
    """A task, in addition to this number of idle sessions."""

    def __init__(self, size, port):
        self._idle = [Client(port) for _ in range(size)]
        super().__init__(port)


class OverPages(Page):
    """A page that is opened and finished above this number of pages."""

    def __init__(self, size, port):
        super().__init__(port)
        # One page is there already.
        for host, _ in self._pairs:
            for number in range(size - 1):
                host.call("navigation.adopt", {"uri": f"native://below/{number}"})


class AmongPatterns(HostedTask):
    """A task that a client hosts in addition to this number of patterns of its own."""

    sessions = 1
    calls = IN_FLIGHT
    # The patterns of one host.
    most = 64

    def __init__(self, size, port):
        patterns = ["hosted://echo"] + [f"hosted://p{number}/:id" for number in range(size - 1)]
        starts = range(0, size, self.most)
        self.hosts = [{"patterns": patterns[start : start + self.most], "kind": "task"} for start in starts]
        super().__init__(port)


class BesidePending(Task):
    """A task, while this number of calls of others wait for their hosts."""

    # Calls of one caller, and callers of one host.
    each, callers = 250, 4

    def __init__(self, size, port):
        self._waiting = []
        while size > 0:
            host = Client(port, hosts=[{"scheme": "waiting", "kind": "task"}])
            join = {"session": host.opened["session"], "token": host.opened["joinToken"]}
            self._waiting.append(host)
            for _ in range(self.callers):
                caller = Client(port, join=join)
                self._waiting.append(caller)
                count = min(self.each, size)
                size -= count
                if count:
                    caller.send(*(caller.request("router.invoke", {"uri": "waiting://a"}) for _ in range(count)))
                    host.receive(count)
        super().__init__(port)


@functools.cache
def of_size(kind, size):
    """A kind for the counter, which passes only the port."""

    class OfSize(kind):
        def __init__(self, port):
            if kind is AmongRoutes:
                super().__init__(port)
            else:
                super().__init__(size, port)

    return OfSize


GROWTH = {
    "routes": (AmongRoutes, [100, 10_000, 100_000]),
    "sessions": (AmongSessions, [1, 1_000, 10_000]),
    "pages": (OverPages, [1, 64]),
    "patterns": (AmongPatterns, [1, 64, 4_096]),
    "pending calls": (BesidePending, [0, 1_000, 10_000]),
}
