"""The six kinds of calls whose instructions are counted. Each runs in rounds: a round begins after all messages of
the previous one have arrived, so that the server is in the same state in every run."""

import json

from frames import Client, result, results

PARAMS = {"text": "The quick brown fox jumps over the lazy dog and keeps on", "count": 42, "flag": True}
SESSIONS = 20
IN_FLIGHT = 16
SUBSCRIBERS = 1000
EVENTS = 1


def policy():
    """A policy of twenty rules; the last two of them match."""
    others = [
        {"name": f"group {number}", "allow": ["router.*", "navigation.*"], "groups": [f"group{number}"]} for number in range(9)
    ] + [
        {"name": f"shop {number}", "allow": ["router.*"], "routes": [f"native://shop{number}/*", f"https://shop{number}.example/*"]}
        for number in range(8)
    ]
    fitting = [
        {"name": "nobody logs out", "deny": ["router.invoke", "router.open"], "routes": ["action://logout"]},
        {"name": "events", "allow": ["session.push", "event*"]},
        {"name": "actions", "allow": ["router.*"], "routes": ["action://*"]},
    ]
    return json.dumps({"rules": others + fitting})


class Kind:
    """One kind of use of the server: its clients, and one round of their calls. `about` describes it;
    `calls` is the number of calls in a round, `rounds` the number of rounds that are counted together."""

    about = ""
    policy = False
    calls = SESSIONS * IN_FLIGHT
    rounds = 10

    def __init__(self, port):
        raise NotImplementedError

    def round(self):
        raise NotImplementedError


class Task(Kind):
    about = f"`action://echo`, {IN_FLIGHT} at once on each of {SESSIONS} connections"
    uri = "action://echo"

    def __init__(self, port):
        self._clients = [Client(port) for _ in range(SESSIONS)]

    def round(self):
        sent = []
        for client in self._clients:
            requests = [client.request("router.invoke", {"uri": self.uri, "params": PARAMS}) for _ in range(IN_FLIGHT)]
            client.send(*requests)
            sent.append(requests)
        for client, requests in zip(self._clients, sent):
            for value in results(client.receive(IN_FLIGHT), requests):
                if value != PARAMS:
                    raise ConnectionError(f"not what the task gives: {value}")


class TaskWithPolicy(Task):
    about = "the same, under a policy of 20 rules of which the last fits"
    policy = True


class AsynchronousTask(Task):
    about = "`action://later`, which suspends, instead of `action://echo`"
    uri = "action://later"


class Pairs(Kind):
    """Sessions of two clients: a host, and a client that joins and calls."""

    hosts = []
    sessions = SESSIONS

    def __init__(self, port):
        self._pairs = []
        for _ in range(self.sessions):
            host = Client(port, hosts=self.hosts)
            join = {"session": host.opened["session"], "token": host.opened["joinToken"]}
            self._pairs.append((host, Client(port, join=join)))


class HostedTask(Pairs):
    about = f"a task that another client of the session runs, {IN_FLIGHT} at once in each of {SESSIONS} sessions"
    hosts = [{"scheme": "hosted", "kind": "task"}]

    def round(self):
        sent = []
        for _, caller in self._pairs:
            requests = [caller.request("router.invoke", {"uri": "hosted://echo", "params": PARAMS}) for _ in range(IN_FLIGHT)]
            caller.send(*requests)
            sent.append(requests)
        for host, _ in self._pairs:
            host.send(*(response(run, "task.run", run["params"]["params"]) for run in host.receive(IN_FLIGHT)))
        for (_, caller), requests in zip(self._pairs, sent):
            results(caller.receive(IN_FLIGHT), requests)


class Page(Pairs):
    about = f"a page that another client of the session shows and finishes, until its outcome is there, in each of {SESSIONS} sessions"
    hosts = [{"scheme": "native", "kind": "page"}]
    calls = SESSIONS
    rounds = 30

    def __init__(self, port):
        super().__init__(port)
        for host, _ in self._pairs:
            host.call("navigation.adopt", {"uri": "native://home"})

    def round(self):
        sent = []
        for _, caller in self._pairs:
            request = caller.request("router.open", {"uri": "native://address/list", "params": PARAMS})
            caller.send(request)
            sent.append(request)
        pages = []
        for host, _ in self._pairs:
            (request,) = host.receive(1)
            pages.append(request["params"]["page"]["id"])
            host.send(response(request, "page.open", None))
        for _, caller in self._pairs:
            (progress,) = caller.receive(1)
            if "opened" not in progress["params"]["value"]:
                raise ConnectionError(f"the page was not shown: {progress}")
        for (host, _), page in zip(self._pairs, pages):
            host.send(host.request("navigation.finish", {"page": page, "result": {"data": PARAMS}}))
        for (host, caller), request in zip(self._pairs, sent):
            # The server sends: close the page, the page below is on top again, and the response.
            close, resume, _ = host.receive(3)
            if resume.get("method") != "page.resume":
                raise ConnectionError(f"not page.resume: {resume}")
            # The response to the ping after it shows that it was processed.
            host.send(response(close, "page.close", None), host.request("$/ping", {}))
            outcome = result(caller.receive(1)[0], request["id"])
            if outcome["data"] != PARAMS:
                raise ConnectionError(f"not the page's result: {outcome}")
        for host, _ in self._pairs:
            host.receive(1)


class Event(Kind):
    about = f"an event of `session.push`, delivered to one of {SUBSCRIBERS} subscribers in sessions of their own"
    policy = True
    calls = SUBSCRIBERS * EVENTS

    def __init__(self, port):
        self._publisher = Client(port)
        self._subscribers = [Client(port) for _ in range(SUBSCRIBERS)]
        for subscriber in self._subscribers:
            subscriber.call("events.subscribe", {"topics": ["cart.changed"]})

    def round(self):
        event = {"to": {"all": True}, "method": "event", "params": {"topic": "cart.changed", "data": PARAMS}}
        requests = [self._publisher.request("session.push", event) for _ in range(EVENTS)]
        self._publisher.send(*requests)
        results(self._publisher.receive(EVENTS), requests)
        for subscriber in self._subscribers:
            for message in subscriber.receive(EVENTS):
                if message["params"]["data"] != PARAMS:
                    raise ConnectionError(f"not the event: {message}")


def response(request, method, value):
    """The response to a request of the server, which has to have this method."""
    if request.get("method") != method:
        raise ConnectionError(f"not {method}: {request}")
    return {"jsonrpc": "2.0", "id": request["id"], "result": value}


KINDS = {
    "synchronous": Task, "policy": TaskWithPolicy, "asynchronous": AsynchronousTask, "hosted": HostedTask, "page": Page,
    "event": Event,
}
ABOUT = {name: kind.about for name, kind in KINDS.items()}
