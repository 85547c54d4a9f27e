"""Clients whose received data is recorded."""

import contextlib
import io
import socket

from rawsocket import WebSocket

HELLO = {"protocol": ["1.0"], "client": {"name": "test", "version": "1"}}


class RecordedSocket:
    """A connected socket that records what it receives."""

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
    def __init__(self, recorded):
        self._socket = recorded

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self._socket.recv(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class Clients:
    """Clients of a server, each with a recorded connection."""

    def __init__(self, output, port, prefix=""):
        self._output = output
        self._port = port
        self._prefix = prefix
        self._count = 0
        self.stack = contextlib.ExitStack()

    def connect(self, place):
        connected = socket.create_connection(("127.0.0.1", self._port), timeout=20)
        return self._output.add(place, RecordedSocket(connected))

    def http_request(self, *lines, body="", place=None):
        """Sends one request on its own connection. Returns the status, None without a response, and the whole response."""
        with self.connect(place or lines[0][:40]) as recorded:
            recorded.sendall(("\r\n".join([*lines, "Connection: close"]) + "\r\n\r\n" + body).encode())
            with contextlib.suppress(ConnectionResetError):
                while recorded.recv(65_536):
                    pass
            text = recorded.text()
        return (int(text.split()[1]) if text else None), text

    def post(self, body, *fields):
        lines = ["Content-Type: application/json", f"Content-Length: {len(body.encode())}", *fields]
        return self.http_request(f"POST {self._prefix}/rpc HTTP/1.1", f"Host: 127.0.0.1:{self._port}", *lines, body=body)

    def client(self, place, *fields, subprotocol="waybridge.v1"):
        recorded = self.connect(place)
        client = WebSocket(self._port, f"{self._prefix}/bridge", subprotocol, fields=fields, connected=recorded)
        self.stack.enter_context(client)
        client.recorded = recorded
        return client

    def call(self, client, method, params=None):
        """Returns the response to a call; responds with null to requests that arrive before it."""
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
        """Waits for a request of the server, and responds with null."""
        while (message := client.receive()).get("method") != method:
            pass
        client.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
        return message["params"]

    def open(self, place, way, token, **params):
        """Opens a session. Returns the client, and the response, whose secrets are allowed on its connection only."""
        fields, subprotocol, more = way(token)
        client = self.client(place, *fields, subprotocol=subprotocol)
        response = self.call(client, "session.open", HELLO | more | params)
        if "result" in response:
            self.record_secrets(client, response["result"])
        return client, response

    def record_secrets(self, client, result):
        for name in ("token", "joinToken"):
            if name in result:
                self._output.allow(client.recorded, self._output.secret(f"a client's {name}", result[name]))
        return result
