"""A client of several servers: it numbers what it sends, and goes on at another server where one ends."""

import threading
import time

from rawsocket import WebSocket


class Member:
    """A member of a session, at the first of `servers` that takes it."""

    def __init__(self, *servers, join=None, **hello):
        self.servers = list(servers)
        self.sent = self.received = self.resumptions = 0
        self._messages = WebSocket(self.servers[0].port, subprotocol="waybridge.v1")
        self._kept = []
        self._unanswered = {}
        if join:
            hello["join"] = {"session": join.hello["session"], "token": join.hello["joinToken"]}
        self.hello = self._ask("session.open", {"protocol": ["1.0"]} | hello)

    def _ask(self, method, params):
        self._messages.send({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        answer = self._messages.receive()
        if isinstance(answer, int):
            raise ConnectionError(f"closed with {answer}")
        if "error" in answer:
            raise RuntimeError(answer["error"])
        if answer.get("id") != method:
            raise RuntimeError(f"before the answer to {method} came {answer}")
        return answer["result"]

    def _send(self, message):
        self.sent += 1
        message = {"jsonrpc": "2.0", "seq": self.sent} | message
        self._unanswered[self.sent] = message
        try:
            self._messages.send(message)
        except OSError:
            self.resume()

    def _next(self):
        """The next message; where the connection ends, the client goes on at whichever server takes it."""
        while True:
            try:
                message = self._messages.receive()
            except (OSError, EOFError, IndexError, ValueError, TypeError):
                message = 1006
            if isinstance(message, int):
                if 4000 <= message < 4100:
                    raise ConnectionError(f"closed with {message}")
                self.resume()
                continue
            if "seq" in message:
                if message["seq"] <= self.received:
                    continue
                self.received = message["seq"]
                if self.received % 100 == 0:
                    self._messages.send({"jsonrpc": "2.0", "method": "$/ack", "params": {"seq": self.received}})
            return message

    def _wait(self, wanted):
        for message in self._kept:
            if wanted(message):
                self._kept.remove(message)
                return message
        while True:
            message = self._next()
            if wanted(message):
                return message
            self._kept.append(message)

    def begin(self, method, params=None, id=None):
        """Calls without waiting for the answer; gives the id."""
        id = id or f"r{self.sent + 1}"
        self._send({"id": id, "method": method, "params": params or {}})
        return id

    def answer(self, id):
        return self._wait(lambda message: message.get("id") == id and "method" not in message)

    def call(self, method, params=None):
        """Calls, and gives the answer, wherever it comes from in the end."""
        return self.answer(self.begin(method, params))

    def request(self, method):
        """The next request or notification of the server."""
        return self._wait(lambda message: message.get("method") == method)

    def poll(self, method):
        """The next request of a method that has come already; None for none."""
        # What was sent before comes before the answer.
        self.call("$/ping")
        asked = next((message for message in self._kept if message.get("method") == method), None)
        if asked:
            self._kept.remove(asked)
        return asked

    def has_answer(self, id):
        """Whether the answer to a call has come already."""
        self.call("$/ping")
        return any(message.get("id") == id and "method" not in message for message in self._kept)

    def notify(self, method, params):
        self._send({"method": method, "params": params})

    def drop(self):
        """Loses the connection, and does not come again."""
        self._messages.close()

    def reply(self, request, result):
        self._send({"id": request["id"], "result": result})

    def resume(self, *servers, patience=20):
        """Goes on with the session, at the first of these servers, or of its own, that takes it."""
        self.close()
        end = time.monotonic() + patience
        known = {name: self.hello[name] for name in ("client", "token", "epoch")}
        while True:
            for server in servers or self.servers:
                try:
                    self._messages = WebSocket(server.port, subprotocol="waybridge.v1")
                    again = self._ask("session.resume", known | {"received": self.received, "sent": self.sent})
                except (OSError, EOFError, IndexError, ValueError, TypeError, ConnectionError):
                    continue
                if not again["resumed"]:
                    raise RuntimeError(f"the session is lost: {again['reason']}")
                self.hello = again
                self.resumptions += 1
                self.received = max(self.received, again["sent"]) if again.get("restarted") else self.received
                for number, message in sorted(self._unanswered.items()):
                    if number > again["received"]:
                        self._messages.send(message)
                return again
            if time.monotonic() > end:
                raise TimeoutError("no server takes the client")
            threading.Event().wait(0.05)

    @property
    def owner(self):
        return self.hello["server"]["id"]

    def close(self):
        self._messages.close()
