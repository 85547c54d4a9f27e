"""WebSocket (RFC 6455) in few lines: sends text messages of at most 64 KiB, receives any unfragmented message."""

import base64
import hashlib
import json
import os
import socket
import threading


class Messages:
    """An open connection, of the client or the server."""

    def __init__(self, connected, stream, is_client):
        self._socket = connected
        self._stream = stream
        self._is_client = is_client
        self._has_closed = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._stream.close()
        self._socket.close()

    def accept(self):
        """Responds to a client's handshake; accepts the subprotocol that it offers."""
        fields = {}
        while line := self._stream.readline().strip():
            name, _, value = line.partition(b":")
            fields[name.lower()] = value.strip()
        key = fields[b"sec-websocket-key"]
        offered = fields.get(b"sec-websocket-protocol", b"").decode()
        chosen = f"Sec-WebSocket-Protocol: {offered}\r\n" if offered else ""
        accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()
        self._socket.sendall(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\n{chosen}\r\n".encode()
        )

    def send(self, message):
        """Sends a value as JSON, or an integer as a close frame with this code."""
        if isinstance(message, int):
            self._send(8, message.to_bytes(2, "big"))
        else:
            self.send_text(json.dumps(message))

    def send_text(self, text):
        self._send(1, text.encode())

    def receive(self):
        """The next message, or the code of the close frame as an integer."""
        while True:
            opcode, payload = self._frame()
            if opcode == 1:
                return json.loads(payload)
            if opcode == 8:
                if not self._has_closed:
                    self._send(8, payload[:2])
                return int.from_bytes(payload[:2], "big")

    def _send(self, opcode, payload):
        self._has_closed = opcode == 8
        if len(payload) > 65_535:
            raise ValueError("too long for this client")
        length = bytes([len(payload)]) if len(payload) < 126 else b"\x7e" + len(payload).to_bytes(2, "big")
        frame = bytes([0x80 | opcode])
        if self._is_client:
            mask = os.urandom(4)
            masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
            frame += bytes([length[0] | 0x80]) + length[1:] + mask + masked
        else:
            frame += length + payload
        self._socket.sendall(frame)

    def _frame(self):
        first, length = self._exactly(2)
        length &= 0x7F
        if length == 126:
            length = int.from_bytes(self._exactly(2), "big")
        elif length == 127:
            length = int.from_bytes(self._exactly(8), "big")
        mask = None if self._is_client else self._exactly(4)
        payload = self._exactly(length)
        if mask:
            payload = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        return first & 0x0F, payload

    def _exactly(self, count):
        data = self._stream.read(count)
        if len(data) != count:
            raise ConnectionResetError("the connection ended without a close frame")
        return data


class WebSocket(Messages):
    """A client's connection; `subprotocol` is None for plain JSON-RPC. `fields` are header lines besides the usual,
    `host` the Host header, `connected` a socket in the place of one to `port`."""

    def __init__(self, port, path="/bridge", subprotocol=None, fields=(), host=None, connected=None):
        connected = connected or socket.create_connection(("127.0.0.1", port), timeout=20)
        super().__init__(connected, connected.makefile("rb"), is_client=True)
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {host or f'127.0.0.1:{port}'}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
            "Sec-WebSocket-Version: 13",
            *fields,
        ]
        if subprotocol:
            lines.append(f"Sec-WebSocket-Protocol: {subprotocol}")
        self._socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        status = self._stream.readline().decode().strip()
        while self._stream.readline().strip():
            pass
        if " 101 " not in status + " ":
            self.close()
            raise ConnectionRefusedError(status)


class ScriptedBridge:
    """A server that accepts one connection. After each request, which it stores in `requests`, it sends the messages of a turn."""

    def __init__(self, *turns):
        self._turns = turns
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(20)
        self.url = f"ws://127.0.0.1:{self._listener.getsockname()[1]}/bridge"
        self.requests = []
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._thread.join()
        self._listener.close()

    def _serve(self):
        connected, _ = self._listener.accept()
        connected.settimeout(20)
        with Messages(connected, connected.makefile("rb"), is_client=False) as client:
            client.accept()
            for turn in self._turns:
                self.requests.append(client.receive())
                for message in turn:
                    client.send(message)
            client.receive()
