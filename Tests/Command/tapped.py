"""Clients of which everything is kept that reaches them."""

import contextlib
import io
import socket

from rawsocket import WebSocket

HELLO = {"protocol": ["1.0"], "client": {"name": "test", "version": "1"}}


class Tap:
    """A connected socket that keeps what comes."""

    def __init__(self, connected):
        self._connected = connected
        self._kept = bytearray()
        self.sendall = connected.sendall
        self.close = connected.close

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def recv(self, count):
        data = self._connected.recv(count)
        self._kept += data
        return data

    def makefile(self, _):
        return io.BufferedReader(_Stream(self))

    def text(self):
        return self._kept.decode(errors="replace")


class _Stream(io.RawIOBase):
    def __init__(self, tap):
        self._tap = tap

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self._tap.recv(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class Clients:
    """Clients of a server, each of whose connections is tapped."""

    def __init__(self, heard, port, prefix=""):
        self._heard = heard
        self._port = port
        self._prefix = prefix
        self._count = 0
        self.stack = contextlib.ExitStack()

    def tap(self, place):
        connected = socket.create_connection(("127.0.0.1", self._port), timeout=20)
        return self._heard.add(place, Tap(connected))

    def ask(self, *lines, body="", place=None):
        """One request by itself; the status of its answer, None where there is none, and the whole of it."""
        with self.tap(place or lines[0][:40]) as tap:
            tap.sendall(("\r\n".join([*lines, "Connection: close"]) + "\r\n\r\n" + body).encode())
            with contextlib.suppress(ConnectionResetError):
                while tap.recv(65_536):
                    pass
            text = tap.text()
        return (int(text.split()[1]) if text else None), text

    def post(self, body, *fields):
        lines = ["Content-Type: application/json", f"Content-Length: {len(body.encode())}", *fields]
        return self.ask(f"POST {self._prefix}/rpc HTTP/1.1", f"Host: 127.0.0.1:{self._port}", *lines, body=body)

    def client(self, place, *fields, subprotocol="waybridge.v1"):
        tap = self.tap(place)
        client = WebSocket(self._port, f"{self._prefix}/bridge", subprotocol, fields=fields, connected=tap)
        self.stack.enter_context(client)
        client.tap = tap
        return client

    def call(self, client, method, params=None):
        """The answer to a call; requests that come before it are answered with null."""
        self._count += 1
        client.send({"jsonrpc": "2.0", "id": self._count, "method": method} | ({} if params is None else {"params": params}))
        number = self._count
        while not isinstance(message := client.receive(), int):
            if "method" not in message and message["id"] == number:
                return message
            if "method" in message and "id" in message:
                client.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
        return message

    def serve(self, client, method):
        """Waits for a request of the server, and answers it with null."""
        while (message := client.receive()).get("method") != method:
            pass
        client.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
        return message["params"]

    def open(self, place, way, token, **params):
        """A client that has said session.open, and what it was answered, whose secrets are handed to it alone."""
        fields, subprotocol, more = way(token)
        client = self.client(place, *fields, subprotocol=subprotocol)
        answer = self.call(client, "session.open", HELLO | more | params)
        if "result" in answer:
            self.keep(client, answer["result"])
        return client, answer

    def keep(self, client, result):
        for member in ("token", "joinToken"):
            if member in result:
                self._heard.hand(client.tap, self._heard.secret(f"a client's {member}", result[member]))
        return result
