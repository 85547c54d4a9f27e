"""A client of a cluster: it numbers its messages, and resumes on another server when one ends."""

import pathlib
import threading
import time

from rawsocket import WebSocket


def secret_file(folder, *secrets, name="secret"):
    """A file with the secret of a cluster, which only its owner can access."""
    file = pathlib.Path(folder, name)
    file.write_text("".join(f"{secret}\n" for secret in secrets or ["a secret of the tests of clusters, 32 bytes"]))
    file.chmod(0o600)
    return str(file)


class ClusterClient:
    """A client of a session, connected to the first of `servers` that accepts it."""

    def __init__(self, *servers, join=None, **hello):
        self.servers = list(servers)
        self.sent = self.received = self.resumptions = 0
        self._messages = WebSocket(self.servers[0].port, subprotocol="waybridge.v1")
        self._kept = []
        self._unanswered = {}
        if join:
            hello["join"] = {"session": join.hello["session"], "token": join.hello["joinToken"]}
        self.hello = self._request("session.open", {"protocol": ["1.0"]} | hello)

    def _request(self, method, params):
        self._messages.send({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        response = self._messages.receive()
        if isinstance(response, int):
            raise ConnectionError(f"closed with {response}")
        if "error" in response:
            raise RuntimeError(response["error"])
        if response.get("id") != method:
            raise RuntimeError(f"expected the response to {method}, received {response}")
        return response["result"]

    def _send(self, message):
        self.sent += 1
        message = {"jsonrpc": "2.0", "seq": self.sent} | message
        self._unanswered[self.sent] = message
        try:
            self._messages.send(message)
        except OSError:
            self.resume()

    def _next(self):
        """The next message. If the connection closes, the client resumes on a server that accepts it."""
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
        """Calls without waiting for the response; returns the id."""
        id = id or f"r{self.sent + 1}"
        self._send({"id": id, "method": method, "params": params or {}})
        return id

    def response(self, id):
        return self._wait(lambda message: message.get("id") == id and "method" not in message)

    def call(self, method, params=None):
        """Makes a call and returns the response, from whichever server it arrives."""
        return self.response(self.begin(method, params))

    def request(self, method):
        """The next request or notification of the server."""
        return self._wait(lambda message: message.get("method") == method)

    def poll(self, method):
        """The next request of a method that has arrived already; None if there is none."""
        # Earlier messages arrive before the response.
        self.call("$/ping")
        request = next((message for message in self._kept if message.get("method") == method), None)
        if request:
            self._kept.remove(request)
        return request

    def has_response(self, id):
        """Whether the response to a call has arrived."""
        self.call("$/ping")
        return any(message.get("id") == id and "method" not in message for message in self._kept)

    def notify(self, method, params):
        self._send({"method": method, "params": params})

    def drop(self):
        """Closes the connection and does not reconnect."""
        self._messages.close()

    def respond(self, request, result):
        self._send({"id": request["id"], "result": result})

    def resume(self, *servers, timeout=20):
        """Resumes the session on the first of these servers, or of its own, that accepts the client."""
        self.close()
        end = time.monotonic() + timeout
        known = {name: self.hello[name] for name in ("client", "token", "epoch")}
        while True:
            for server in servers or self.servers:
                try:
                    self._messages = WebSocket(server.port, subprotocol="waybridge.v1")
                    again = self._request("session.resume", known | {"received": self.received, "sent": self.sent})
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
                raise TimeoutError("no server accepts the client")
            threading.Event().wait(0.05)

    @property
    def owner(self):
        return self.hello["server"]["id"]

    def close(self):
        self._messages.close()
