"""Clients that have a session and do nothing except responding to the server's pings."""

import select
import threading

from frames import KEY, Client

# The ping that the server sends to a silent client, and its response (RFC 6455 §5.5).
PING = b"\x89\x04life"
PONG = b"\x8a\x84" + KEY + bytes(one ^ other for one, other in zip(b"life", KEY))


class IdleClients:
    """A thread of their own keeps them until the program ends."""

    def __init__(self):
        self._waiting = select.epoll()
        self._clients = {}
        threading.Thread(target=self._respond, daemon=True).start()

    def open(self, port, count):
        """Opens this number of further clients, each in a session of its own."""
        for _ in range(count):
            client = Client(port)
            self._clients[client.fileno()] = client
            self._waiting.register(client.fileno(), select.EPOLLIN)

    def _respond(self):
        while True:
            for descriptor, _ in self._waiting.poll():
                client = self._clients[descriptor]
                received = client.receive_bytes()
                if not received:
                    self._waiting.unregister(descriptor)
                client.send_bytes(PONG * received.count(PING))
