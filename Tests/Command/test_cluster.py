"""`waybridge serve --cluster`: servers that share their sessions through NATS with JetStream, and engines that take none."""

import json
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from command import Server, run
from member import Member
from rawsocket import WebSocket

OWNER = "conformance.owner"
# What two servers need to tell each other.
MOMENT = 5


def echo(number, **more):
    return {"uri": "action://echo", "params": {"n": number}} | more


class Engine:
    """A nats-server on a port of its own."""

    def __init__(self, folder, *more, port=-1):
        command = ["nats-server", "-a", "127.0.0.1", "-p", str(port), "-sd", folder, *more]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        told = ""
        for line in self.process.stderr:
            told += line
            if "Server is ready" in line:
                break
        self.port = int(re.search(r"client connections on 127\.0\.0\.1:(\d+)", told)[1])
        self.url = f"nats://127.0.0.1:{self.port}"

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def health(server):
    try:
        with urllib.request.urlopen(f"{server.address}/health") as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return json.load(refusal)


def metrics(server):
    with urllib.request.urlopen(f"{server.address}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def until(condition, patience=15):
    """Asks again and again until something holds; gives it."""
    end = time.monotonic() + patience
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError("it does not come to hold")
        threading.Event().wait(0.02)
    return found


class ClusterCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.policy = pathlib.Path(folder.name, "policy.json")
        self.policy.write_text(json.dumps({"rules": [{"name": "all", "allow": ["*"], "server": True}]}))
        self.engine = self.begin("-js")

    def begin(self, *more, **how):
        engine = Engine(self.folder, *more, **how)
        self.addCleanup(engine.end)
        return engine

    def serve(self, *more, **variables):
        server = Server(
            "serve", "--conformance", "--cluster", self.engine.url, "--port", "0", "--policy", str(self.policy), *more,
            **variables,
        ).__enter__()
        self.addCleanup(server.__exit__)
        return server

    def together(self, count, **variables):
        """So many servers, each of which knows the others."""
        servers = [self.serve(**variables) for _ in range(count)]
        until(lambda: all(metrics(server)["waybridge_cluster_servers"] == count for server in servers), MOMENT)
        return servers

    def member(self, *servers, **how):
        member = Member(*servers, **how)
        self.addCleanup(member.close)
        return member


class Together(ClusterCase):
    def test_clients_come_in_at_any_server_and_have_one_owner(self):
        one, other = self.together(2)
        first = self.member(one)
        second = self.member(other, join=first)
        self.assertEqual(first.owner, second.owner)
        self.assertEqual(1, second.call(OWNER)["result"]["term"])
        self.assertEqual({"n": 1}, second.call("router.invoke", echo(1, key="k"))["result"])
        # One result for a key, whoever asks where.
        self.assertEqual({"n": 1}, first.call("router.invoke", echo(1, key="k"))["result"])
        again = first.resume(other)
        self.assertEqual((True, first.owner), (again["resumed"], second.owner))
        self.assertNotIn("restarted", again)
        self.assertEqual((2, 0), self.relays(other))
        self.assertEqual((0, 2), self.relays(one))
        first.close()
        until(lambda: self.relays(other) == (1, 0))

    def relays(self, server):
        told = metrics(server)
        return tuple(int(told[f'waybridge_cluster_relays{{direction="{way}"}}']) for way in ("in", "out"))

    def test_an_invitation_is_good_at_any_server(self):
        one, other = self.together(2)
        host = self.member(one)
        invited = host.call("session.invite", {"hosts": [], "routes": ["action://echo"]})["result"]
        join = {"session": invited["session"], "token": invited["token"]}
        with WebSocket(other.port, subprotocol="waybridge.v1") as messages:
            messages.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": {"protocol": ["1.0"], "join": join}})
            welcome = messages.receive()["result"]
            self.assertEqual((True, host.hello["session"], host.owner), (welcome["guest"], welcome["session"], welcome["server"]["id"]))
            messages.send({"jsonrpc": "2.0", "id": 2, "seq": 1, "method": "router.invoke", "params": echo(2)})
            self.assertEqual({"n": 2}, messages.receive()["result"])
        with WebSocket(other.port, subprotocol="waybridge.v1") as messages:
            join["token"] = "wrong"
            messages.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": {"protocol": ["1.0"], "join": join}})
            self.assertEqual(2401, messages.receive()["error"]["code"])

    def test_large_messages_pass_whole_in_both_directions(self):
        one, other = self.together(2)
        first = self.member(one)
        second = self.member(other, join=first)
        text = "ä" * 10_000
        for number in range(20):
            answer = second.call("router.invoke", {"uri": "action://echo", "params": {"text": text, "n": number}})
            self.assertEqual({"text": text, "n": number}, answer["result"])

    def test_pushes_lists_and_events_reach_the_sessions_of_all(self):
        one, other = self.together(2)
        here, there = self.member(one), self.member(other)
        sessions = {here.hello["session"], there.hello["session"]}
        self.assertNotEqual(here.owner, there.owner)
        self.assertEqual(sessions, {told["session"] for told in here.call("session.list")["result"]})
        inspected = here.call("admin.sessions")["result"]
        self.assertEqual(2, inspected["total"])
        self.assertEqual({here.owner, there.owner}, {told["server"] for told in inspected["sessions"]})
        self.assertEqual(
            there.hello["session"], here.call("admin.session", {"session": there.hello["session"]})["result"]["session"])
        for member in (here, there):
            member.call("events.subscribe", {"topics": ["news"]})
        here.call("session.push", {"to": {"all": True}, "method": "event", "params": {"topic": "news", "data": 7, "retain": 1}})
        for member in (here, there):
            self.assertEqual(7, member.request("event")["params"]["data"])
        late = self.member(other)
        late.call("events.subscribe", {"topics": ["news"]})
        self.assertEqual(7, late.request("event")["params"]["data"])
        late.call("session.close")
        invoke = {"method": "router.invoke", "params": {"uri": "action://echo", "params": {"n": 3}}}
        delivered = here.call("session.push", {"to": {"all": True}} | invoke)["result"]["delivered"]
        self.assertEqual([{"n": 3}] * 2, [told["result"] for told in delivered])
        self.assertEqual(sessions, {told["session"] for told in delivered})
        one_of_them = here.call("session.push", {"to": {"session": there.hello["session"]}} | invoke)["result"]["delivered"]
        self.assertEqual([{"session": there.hello["session"], "result": {"n": 3}}], one_of_them)

    def test_a_link_for_who_is_not_there_yet_is_followed_wherever_he_comes(self):
        one, other = self.together(2)
        here = self.member(one)
        link = {"uri": "native://address/list", "params": {}}
        here.call("session.push", {"to": {"all": True}, "method": "router.deliver", "params": link})
        self.assertIn("links", until(lambda: self.presence(other, here.owner), MOMENT))
        host = self.member(other, hosts=[{"scheme": "native", "kind": "page"}])
        asked = host.request("page.open")
        self.assertEqual("native://address/list", asked["params"]["page"]["uri"])
        host.reply(asked, None)

    def presence(self, server, of):
        member = Member(server)
        told = member.call("admin.cluster")["result"]["servers"]
        member.call("session.close")
        member.close()
        return next((about for about in told if about["server"] == of and "links" in about), None)

    def test_daemons_serve_the_sessions_of_all_servers_and_share_the_load(self):
        one, other = self.together(2)
        hosts = [{"patterns": ["daemon://scan/:id"], "kind": "task", "scope": "server"}]
        daemons = [self.member(one, hosts=hosts), self.member(other, hosts=hosts)]
        caller = self.member(other)
        served = [0, 0]
        present = dict(enumerate(daemons))

        def scan(number):
            """Calls; gives which of the daemons was asked, as soon as both servers know both."""
            answer = caller.begin("router.invoke", {"uri": f"daemon://scan/{number}", "deadlineMs": 1000})
            # Both are asked in turn: whose turn it is not is asked for nothing. Who was asked before it was known to be gone
            # does not answer.
            while not caller.has_answer(answer):
                for place, daemon in present.items():
                    if asked := daemon.poll("task.run"):
                        self.assertEqual(caller.hello["session"], asked["params"]["caller"]["session"])
                        daemon.notify("$/progress", {"id": asked["id"], "value": {"half": number}})
                        daemon.reply(asked, {"by": place, "id": asked["params"]["params"]["id"]})
                        result = caller.answer(answer)["result"]
                        self.assertEqual({"by": place, "id": str(number)}, result)
                        self.assertEqual({"half": number}, caller.request("$/progress")["params"]["value"])
                        return place
            return caller.answer(answer)["error"]["code"]

        until(lambda: {scan(0), scan(0)} == {0, 1})
        for number in range(1, 9):
            served[scan(number)] += 1
        self.assertEqual([4, 4], served)
        # One that is gone is replaced at once.
        present.pop(0).drop()
        until(lambda: scan(9) == scan(10) == scan(11) == 1, MOMENT)

    def test_one_table_for_all(self):
        table = pathlib.Path(self.folder, "table.json")
        table.write_text(json.dumps({"version": "1", "routes": [{"name": "a", "patterns": ["shop://a"], "kind": "page"}]}))
        one, other = self.serve("--table", str(table)), self.serve("--table", str(table))
        here, there = self.member(one), self.member(other)
        for member in (here, there):
            until(lambda: len(member.call("admin.cluster")["result"]["servers"]) == 2)
        added = {"op": "add", "route": {"name": "b", "patterns": ["shop://b"], "kind": "page"}}
        change = here.call("table.update", {"operations": [added], "version": "2"})["result"]
        self.assertEqual([(there.owner, "2")], [(told["server"], told["version"]) for told in change["servers"]])
        self.assertEqual("2", there.call("table.get")["result"]["version"])
        back = there.call("table.rollback")["result"]
        self.assertEqual(("1", [(here.owner, "1")]), (back["version"], [(told["server"], told["version"]) for told in back["servers"]]))
        self.assertEqual("1", here.call("table.get")["result"]["version"])
        again = there.call("table.update", {"operations": [added], "version": "3"})
        self.assertEqual("3", again["result"]["version"], again)
        # Who comes later has it too.
        third = self.member(self.serve("--table", str(table)))
        self.assertEqual("3", third.call("table.get")["result"]["version"])

    def test_policies_go_back_on_all(self):
        one, other = self.together(2)
        here, there = self.member(one), self.member(other)
        old = here.call("admin.versions")["result"]["policy"]["hash"]
        rules = [{"name": "all", "allow": ["*"], "server": True}, {"name": "more", "allow": ["$/ping"]}]
        self.policy.write_text(json.dumps({"rules": rules}))

        def current(member):
            return member.call("admin.versions")["result"]["policy"]["hash"]

        until(lambda: current(here) != old and current(there) != old)
        answer = here.call("policy.rollback", {"to": old})["result"]
        self.assertEqual([(there.owner, old)], [(told["server"], told["hash"]) for told in answer["servers"]])
        self.assertEqual((old, old), (current(here), current(there)))


class Gone(ClusterCase):
    def test_another_server_goes_on_with_the_sessions_of_one_that_was_killed(self):
        one, other = self.together(2)
        member = self.member(one, other)
        guest = self.member(other, one, join=member)
        self.assertEqual({"n": 1}, member.call("router.invoke", echo(1, key="k"))["result"])
        owner = member.owner
        one.end(signal.SIGKILL)
        again = member.resume(other)
        self.assertEqual((True, True), (again["resumed"], again["restarted"]))
        self.assertNotEqual(owner, member.owner)
        self.assertEqual(2, member.call(OWNER)["result"]["term"])
        # Its result is that of the call before, whose number is another.
        self.assertEqual({"n": 1}, guest.call("router.invoke", echo(1, key="k"))["result"])
        self.assertEqual(1, metrics(other)['waybridge_cluster_takeovers_total{reason="client"}'])
        member.call("session.close")
        guest.call("session.close")
        third = self.serve()
        with self.assertRaisesRegex(RuntimeError, "unknown"):
            member.resume(third)

    def test_sessions_that_nobody_comes_for_are_taken_over_too(self):
        one, other = self.together(2)
        self.member(one)
        one.end(signal.SIGKILL)
        until(lambda: metrics(other)["waybridge_sessions"] == 1, 30)
        self.assertEqual(1, metrics(other)['waybridge_cluster_takeovers_total{reason="orphan"}'])

    def test_who_was_taken_over_from_while_it_slept_says_nothing_more(self):
        asleep, other = self.together(2)
        member = self.member(asleep, other)
        stranger = self.member(asleep, other, join=member)
        owner = member.owner
        asleep.process.send_signal(signal.SIGSTOP)
        try:
            member.resume(other)
            self.assertNotEqual(owner, member.owner)
            # What waits in its sockets is not carried out when it wakes.
            late = stranger.begin(OWNER)
        finally:
            asleep.process.send_signal(signal.SIGCONT)
        answer = stranger.answer(late)
        self.assertEqual(2599, answer["error"]["code"])
        self.assertEqual((1, 2), (stranger.resumptions, stranger.call(OWNER)["result"]["term"]))
        # It is one of them again.
        until(lambda: health(asleep)["status"] == "ok")
        self.assertEqual(1, metrics(asleep)["waybridge_cluster_lost_sessions_total"])
        self.assertNotEqual(member.owner, self.member(asleep).owner)

    def test_calls_go_on_while_servers_are_replaced_one_after_the_other(self):
        servers = self.together(3, WAYBRIDGE_DRAIN="10")
        members = [self.member(*servers[place:], *servers[:place]) for place in range(3)]
        members += [self.member(*servers, join=members[1]), self.member(*servers[::-1], join=members[2])]
        faults, counts, isOver = [], [0] * len(members), threading.Event()

        def call(place, member):
            while not isOver.is_set():
                wanted = counts[place] * 10 + place
                try:
                    answer = member.call("router.invoke", {"uri": "action://later", "params": {"n": wanted}})
                except (RuntimeError, OSError) as fault:
                    faults.append(f"{place} {member.hello['client']}: {fault!r}")
                    break
                counts[place] += 1
                if answer.get("result") != {"n": wanted}:
                    faults.append(answer)

        threads = [threading.Thread(target=call, args=(place, member)) for place, member in enumerate(members)]
        for thread in threads:
            thread.start()
        for place in range(3):
            next_one = self.serve(WAYBRIDGE_DRAIN="10")
            servers.append(next_one)
            for member in members:
                member.servers.append(next_one)
            code, _, _ = servers[place].end(signal.SIGTERM)
            self.assertEqual(0, code)
        last = counts[:]
        until(lambda: faults or all(count > before + 5 for count, before in zip(counts, last)))
        isOver.set()
        for thread in threads:
            thread.join(20)
        self.assertEqual([], faults)
        self.assertTrue(all(member.resumptions > 0 for member in members))


class Engines(ClusterCase):
    def test_an_engine_that_comes_back_has_everything_again(self):
        server = self.serve()
        member = self.member(server)
        self.assertEqual({"n": 1}, member.call("router.invoke", echo(1, key="k"))["result"])
        self.engine.end()
        # What need not be kept is answered as long as nobody else can have the session.
        self.assertEqual({"n": 2}, member.call("router.invoke", echo(2))["result"])
        waiting = member.begin("router.invoke", echo(3, key="l"))
        told = until(lambda: health(server)["status"] == "unavailable" and health(server))
        self.assertEqual({"engine": "away"}, told["cluster"])
        with WebSocket(server.port, subprotocol="waybridge.v1") as messages:
            messages.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": {"protocol": ["1.0"]}})
            refusal = messages.receive()["error"]
            self.assertEqual(2503, refusal["code"])
            self.assertRegex(refusal["message"], "engine cannot be used")
        self.begin("-js", port=self.engine.port)
        self.assertEqual({"n": 3}, member.answer(waiting)["result"])
        self.assertEqual("ok", until(lambda: health(server)["status"] == "ok" and "ok"))
        server.end(signal.SIGKILL)
        member.resume(self.serve())
        self.assertEqual({"n": 3}, member.call("router.invoke", echo(3, key="l"))["result"])

    def publish(self, subject, payload):
        """Publishes what none of the servers does."""
        with socket.create_connection(("127.0.0.1", self.engine.port)) as connection:
            connection.sendall(b'CONNECT {"verbose":false}\r\n')
            connection.sendall(f"PUB {subject} _INBOX.test {len(payload)}\r\n".encode() + payload + b"\r\nPING\r\n")
            told = b""
            while b"PONG" not in told:
                told += connection.recv(4096)

    def test_streams_and_buckets_of_others_are_left_alone(self):
        # In the order in which they are made, so that none is there already.
        for name, told in ("KV_waybridge-servers", "bucket waybridge-servers"), ("WAYBRIDGE_SESSIONS", "stream WAYBRIDGE_SESSIONS"):
            stream = {"name": name, "subjects": [f"others.{name}"], "storage": "memory", "num_replicas": 1}
            self.publish(f"$JS.API.STREAM.CREATE.{name}", json.dumps(stream).encode())
            errors = self.refusal(self.engine.url)
            self.assertIn(f"the {told} is not one of Waybridge, or of another version", errors)
            self.assertIn("name another account", errors)
            self.publish(f"$JS.API.STREAM.DELETE.{name}", b"")
        self.serve()

    def test_garbage_on_its_subjects_loses_nothing(self):
        server = self.serve("--log-level", "info")
        member = self.member(server)
        self.publish(f"waybridge.server.to.{member.owner}", b"{}")
        self.publish("waybridge.server.all", b"\x01\xff")
        self.publish("waybridge.session.s-garbage", b"\x00garbage")
        until(lambda: metrics(server)["waybridge_cluster_unreadable_messages_total"] == 2)
        self.assertEqual({"n": 1}, member.call("router.invoke", echo(1, key="k"))["result"])
        # Another server starts all the same, and tells which session it cannot read.
        other = self.serve("--log-level", "error")
        self.assertEqual({"n": 1}, self.member(other, join=member).call("router.invoke", echo(1, key="k"))["result"])
        _, _, errors = other.end(signal.SIGTERM)
        self.assertRegex(errors, "session cannot be read: .*session=s-garbage|session=s-garbage.*cannot be read")
        self.assertIn("it has the form 0", errors)

    def test_a_full_disk_is_told_and_what_is_kept_stays(self):
        self.engine.end()
        config = pathlib.Path(self.folder, "small.conf")
        config.write_text(f'jetstream {{ max_file: 400K }}')
        self.engine = self.begin("-c", str(config))
        server = self.serve()
        member = self.member(server)
        self.assertEqual({"n": 1}, member.call("router.invoke", echo(1, key="k"))["result"])
        text = "x" * 50_000
        for number in range(12):
            member.begin("router.invoke", {"uri": "action://echo", "params": {"text": text}, "key": f"large {number}"})
        told = until(lambda: health(server)["status"] in ("degraded", "unavailable") and health(server))
        self.assertIn("reason", told)

    def refusal(self, url, *more):
        code, output, errors = run("serve", "--cluster", url, "--port", "0", *more)
        self.assertEqual((1, ""), (code, output))
        return errors

    def test_an_engine_that_cannot_be_used_is_told_at_start(self):
        self.engine.end()
        self.assertRegex(self.refusal(self.engine.url), "no connection can be made: .*start nats-server there")
        bare = self.begin(port=self.engine.port)
        self.assertIn("start nats-server with JetStream", self.refusal(bare.url))
        bare.end()
        closed = self.begin("-js", "--user", "ada", "--pass", "secret", port=self.engine.port)
        errors = self.refusal(f"nats://ada:wrong@127.0.0.1:{closed.port}")
        self.assertIn("a user and a password that may", errors)
        self.assertNotIn("wrong", errors)
        self.assertIn("not in both", self.refusal(closed.url, "--data", str(pathlib.Path(self.folder, "data"))))


if __name__ == "__main__":
    unittest.main()
