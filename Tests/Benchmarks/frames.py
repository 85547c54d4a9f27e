"""A WebSocket client (RFC 6455) that does the same in every run: it sends one text per message and many messages in one
write, and returns the received texts."""

import json
import socket
import struct

# Timeout of a response in seconds, for a server under valgrind on a busy machine.
TIMEOUT = 120
KEY = b"\x5a\xc3\x96\x0f"


def masked(text):
    """A text as a frame of a client."""
    size = len(text)
    if size < 126:
        head = bytes([0x81, 0x80 | size])
    elif size < 1 << 16:
        head = b"\x81\xfe" + struct.pack(">H", size)
    else:
        head = b"\x81\xff" + struct.pack(">Q", size)
    key = int.from_bytes((KEY * (size // 4 + 1))[:size])
    return head + KEY + (int.from_bytes(text) ^ key).to_bytes(size)


def split(data):
    """The texts of the complete frames at the start of `data`, and the remaining bytes."""
    texts, at = [], 0
    while len(data) - at >= 2:
        opcode, size, head = data[at] & 15, data[at + 1], 2
        if size == 126:
            if len(data) - at < 4:
                break
            size, head = struct.unpack_from(">H", data, at + 2)[0], 4
        elif size == 127:
            if len(data) - at < 10:
                break
            size, head = struct.unpack_from(">Q", data, at + 2)[0], 10
        if len(data) - at < head + size:
            break
        payload = data[at + head : at + head + size]
        at += head + size
        if opcode == 8:
            raise ConnectionError(f"the server closed: {payload!r}")
        if opcode == 1:
            texts.append(payload)
    return texts, data[at:]


class Client:
    """A connection over `waybridge.v1` with an open session; `opened` is the result of `session.open`."""

    def __init__(self, port, **hello):
        self._socket = socket.create_connection(("127.0.0.1", port), TIMEOUT)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""
        self._texts = []
        self._number = 100_000
        self._shake_hands(port)
        self.opened = self.call("session.open", {"protocol": ["1.0"], "client": {"name": "load", "version": "1.0"}, **hello})

    def close(self):
        self._socket.close()

    def fileno(self):
        return self._socket.fileno()

    def receive_bytes(self):
        """The received data; empty if the connection has closed."""
        return self._socket.recv(1 << 16)

    def send_bytes(self, frames):
        """Sends complete frames."""
        if frames:
            self._socket.sendall(frames)

    def request(self, method, params):
        """A request as a message, with an id of its own."""
        self._number += 1
        return {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}

    def send(self, *messages):
        """Sends the messages in one write."""
        texts = (json.dumps(message, separators=(",", ":")).encode() for message in messages)
        self._socket.sendall(b"".join(masked(text) for text in texts))

    def receive(self, count):
        """The next messages, this number."""
        while len(self._texts) < count:
            more = self._socket.recv(1 << 16)
            if not more:
                raise ConnectionError("the server dropped the connection")
            texts, self._rest = split(self._rest + more)
            self._texts += texts
        messages, self._texts = self._texts[:count], self._texts[count:]
        return [json.loads(text) for text in messages]

    def call(self, method, params):
        """The result of a call, made while no other response is awaited."""
        request = self.request(method, params)
        self.send(request)
        (response,) = self.receive(1)
        return result(response, request["id"])

    def _shake_hands(self, port):
        self._socket.sendall(
            f"GET /bridge HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: waybridge.v1\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        got = b""
        while b"\r\n\r\n" not in got:
            more = self._socket.recv(4096)
            if not more:
                raise ConnectionError("the server dropped the handshake")
            got += more
        head, _, self._rest = got.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101 "):
            raise ConnectionError(f"the server refused the handshake: {head[:200]!r}")


def result(response, identity):
    """The result of a response, which has to be that of the request with this id."""
    if response.get("id") != identity or "result" not in response:
        raise ConnectionError(f"not the result of {identity}: {response}")
    return response["result"]


def results(responses, requests):
    """The results of requests that all have responses, in any order."""
    found = {response.get("id"): response for response in responses}
    return [result(found.get(request["id"], responses[0]), request["id"]) for request in requests]
