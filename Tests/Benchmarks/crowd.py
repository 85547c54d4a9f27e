"""Many clients in a process of their own, each in a session: they subscribe to a topic, read what the server sends, and
respond to its pings. The kernel closes all their connections at once when the process is killed."""

import json
import multiprocessing
import os
import select
import signal

from frames import Client, result
from idle import PING, PONG

TOPIC = "fairness"
# The method of requests to all clients.
METHOD = b"greet"


class PatientClient(Client):
    """A client that responds to requests of the server while it waits for the result of a call."""

    def call(self, method, params):
        request = self.request(method, params)
        self.send(request)
        while True:
            (message,) = self.receive(1)
            if message.get("id") == request["id"] and "method" not in message:
                return result(message, request["id"])
            self.respond(message)

    def respond(self, message):
        """Responds to a message if it is a request."""
        if "method" in message and "id" in message:
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": None})


class Crowd:
    """`count` clients. `hello` are further parameters of their `session.open`."""

    def __init__(self, port, count, **hello):
        context = multiprocessing.get_context("fork")
        ready, opened = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(port, count, hello, opened), daemon=True)
        self._process.start()
        opened.close()
        if ready.recv() != count:
            raise ConnectionError("not all clients could connect")

    def cut(self):
        """Ends all connections at once, without a close frame."""
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.join()


def _run(port, count, hello, opened):
    os.nice(5)
    clients = {}
    for _ in range(count):
        client = PatientClient(port, **hello)
        client.call("events.subscribe", {"topics": [TOPIC]})
        clients[client.fileno()] = client
    poll = select.epoll()
    for descriptor in clients:
        poll.register(descriptor, select.EPOLLIN)
    opened.send(count)
    while True:
        for descriptor, _ in poll.poll(maxevents=256):
            client = clients[descriptor]
            received = client.receive_bytes()
            if not received:
                poll.unregister(descriptor)
            client.send_bytes(PONG * received.count(PING))
            if METHOD in received:
                client.respond(json.loads(received[received.index(b"{") :]))
