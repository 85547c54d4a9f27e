"""Clients that have a session and do nothing, but answer the server's pings."""

import select
import threading

from frames import KEY, Client

# What the server sends to a client that was silent, and what it is answered (RFC 6455 §5.5).
PING = b"\x89\x04life"
PONG = b"\x8a\x84" + KEY + bytes(one ^ other for one, other in zip(b"life", KEY))


class IdleClients:
    """They are held until the program ends, by a thread of their own."""

    def __init__(self):
        self._waiting = select.epoll()
        self._clients = {}
        threading.Thread(target=self._answer, daemon=True).start()

    def open(self, port, count):
        """So many more, each in a session of its own."""
        for _ in range(count):
            client = Client(port)
            self._clients[client.fileno()] = client
            self._waiting.register(client.fileno(), select.EPOLLIN)

    def _answer(self):
        while True:
            for descriptor, _ in self._waiting.poll():
                client = self._clients[descriptor]
                came = client.receive_bytes()
                if not came:
                    self._waiting.unregister(descriptor)
                client.send_bytes(PONG * came.count(PING))
