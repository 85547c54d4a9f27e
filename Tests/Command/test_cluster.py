"""`waybridge serve --cluster`: servers that share their sessions through NATS with JetStream, and NATS servers that cannot be used."""

import hashlib
import json
import pathlib
import random
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

from cluster_client import ClusterClient, secret_file
from command import ROOT, Server, run
from rawsocket import WebSocket

OWNER = "conformance.owner"
# The settings that two servers need to reach each other.
MOMENT = 5


def echo(number, **more):
    return {"uri": "action://echo", "params": {"n": number}} | more


class NATSServer:
    """A nats-server on a port of its own."""

    def __init__(self, folder, *more, port=-1):
        command = ["nats-server", "-a", "127.0.0.1", "-p", str(port), "-sd", folder, *more]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        output = ""
        for line in self.process.stderr:
            output += line
            if "Server is ready" in line:
                break
        found = re.search(r"client connections on 127\.0\.0\.1:(\d+)", output)
        if not found:
            self.end()
            raise RuntimeError(f"nats-server does not start: {output}")
        self.port = int(found[1])
        self.url = f"nats://127.0.0.1:{self.port}"

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def guide_configuration():
    """The configuration of nats-server in the guide, with the password `secret`, for a free port and another folder."""
    text = (ROOT / "web/docs/cluster-operating.md").read_text()
    configuration = re.search(r"`nats.conf`:\n\n```text\n(.*?)```", text, re.S)[1].replace("$NATS_PASSWORD", "secret")
    return re.sub(r"listen: .*\n", "", configuration).replace("store_dir: engine", "")


def health(server):
    try:
        with urllib.request.urlopen(f"{server.address}/health") as response:
            return json.load(response)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return json.load(refusal)


def metrics(server):
    with urllib.request.urlopen(f"{server.address}/metrics") as response:
        lines = response.read().decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def until(condition, timeout=15):
    """Polls a condition until it holds; returns its value."""
    end = time.monotonic() + timeout
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
        self.secret = secret_file(self.folder)
        self.nats = self.begin("-js")

    def begin(self, *more, **how):
        nats = NATSServer(self.folder, *more, **how)
        self.addCleanup(nats.end)
        return nats

    def serve(self, *more, **variables):
        server = Server(
            "serve", "--conformance", "--cluster", self.nats.url, "--port", "0", "--policy", str(self.policy), "--cluster-secret-file", self.secret, *more,
            **variables,
        ).__enter__()
        self.addCleanup(server.__exit__)
        return server

    def serve_cluster(self, count, **variables):
        """Starts `count` servers, each of which knows the others."""
        servers = [self.serve(**variables) for _ in range(count)]
        until(lambda: all(metrics(server)["waybridge_cluster_servers"] == count for server in servers), MOMENT)
        return servers

    def client(self, *servers, **how):
        client = ClusterClient(*servers, **how)
        self.addCleanup(client.close)
        return client


class Cluster(ClusterCase):
    def test_clients_of_all_servers_share_one_owner(self):
        one, other = self.serve_cluster(2)
        first = self.client(one)
        second = self.client(other, join=first)
        self.assertEqual(first.owner, second.owner)
        self.assertEqual(1, second.call(OWNER)["result"]["term"])
        self.assertEqual({"n": 1}, second.call("router.invoke", echo(1, key="k"))["result"])
        # A key has one result, whichever server gets the call.
        self.assertEqual({"n": 1}, first.call("router.invoke", echo(1, key="k"))["result"])
        again = first.resume(other)
        self.assertEqual((True, first.owner), (again["resumed"], second.owner))
        self.assertNotIn("restarted", again)
        self.assertEqual((2, 0), self.relays(other))
        self.assertEqual((0, 2), self.relays(one))
        first.close()
        until(lambda: self.relays(other) == (1, 0))

    def relays(self, server):
        values = metrics(server)
        return tuple(int(values[f'waybridge_cluster_relays{{direction="{way}"}}']) for way in ("in", "out"))

    def test_invitation_is_valid_at_any_server(self):
        one, other = self.serve_cluster(2)
        host = self.client(one)
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

    def test_large_messages_are_relayed_in_both_directions(self):
        one, other = self.serve_cluster(2)
        first = self.client(one)
        second = self.client(other, join=first)
        text = "ä" * 10_000
        for number in range(20):
            response = second.call("router.invoke", {"uri": "action://echo", "params": {"text": text, "n": number}})
            self.assertEqual({"text": text, "n": number}, response["result"])

    def test_pushes_lists_and_events_reach_all_servers(self):
        one, other = self.serve_cluster(2)
        here, there = self.client(one), self.client(other)
        sessions = {here.hello["session"], there.hello["session"]}
        self.assertNotEqual(here.owner, there.owner)
        self.assertEqual(sessions, {each["session"] for each in here.call("session.list")["result"]})
        inspected = here.call("admin.sessions")["result"]
        self.assertEqual(2, inspected["total"])
        self.assertEqual({here.owner, there.owner}, {each["server"] for each in inspected["sessions"]})
        self.assertEqual(
            there.hello["session"], here.call("admin.session", {"session": there.hello["session"]})["result"]["session"])
        for client in (here, there):
            client.call("events.subscribe", {"topics": ["news"]})
        here.call("session.push", {"to": {"all": True}, "method": "event", "params": {"topic": "news", "data": 7, "retain": 1}})
        for client in (here, there):
            self.assertEqual(7, client.request("event")["params"]["data"])
        late = self.client(other)
        late.call("events.subscribe", {"topics": ["news"]})
        self.assertEqual(7, late.request("event")["params"]["data"])
        late.call("session.close")
        invoke = {"method": "router.invoke", "params": {"uri": "action://echo", "params": {"n": 3}}}
        pushed = here.call("session.push", {"to": {"all": True}} | invoke)["result"]
        self.assertEqual((2, 0), (pushed["delivered"], pushed["failed"]))
        self.assertEqual([{"n": 3}] * 2, [each["result"] for each in pushed["results"]])
        self.assertEqual(sessions, {each["session"] for each in pushed["results"]})
        one_of_them = here.call("session.push", {"to": {"session": there.hello["session"]}} | invoke)["result"]["results"]
        self.assertEqual([{"session": there.hello["session"], "state": "delivered", "result": {"n": 3}}], one_of_them)

    def test_administrator_removes_clients_at_any_server(self):
        one, other = self.serve_cluster(2)
        here, there = self.client(one), self.client(other)
        page = self.client(other, join=there)
        self.assertNotEqual(here.owner, there.owner)
        session = {"session": there.hello["session"]}
        removed = here.call("client.disconnect", session | {"client": page.hello["client"]})["result"]
        self.assertEqual([page.hello["client"]], removed["clients"])
        with self.assertRaisesRegex(ConnectionError, "4003"):
            page.request("none")
        missing = here.call("client.disconnect", session | {"client": page.hello["client"]})["error"]
        self.assertEqual("noClient", missing["data"]["kind"])
        self.assertEqual([there.hello["client"]], here.call("session.end", session)["result"]["clients"])
        with self.assertRaisesRegex(ConnectionError, "4003"):
            there.request("none")
        self.assertEqual("noSession", here.call("session.end", session)["error"]["data"]["kind"])

    def test_push_with_a_key_has_one_effect_at_any_server(self):
        one, other = self.serve_cluster(2)
        here, there = self.client(one), self.client(other)
        host = self.client(other, hosts=[{"scheme": "native", "kind": "page"}])
        link = {"method": "router.deliver", "params": {"uri": "native://address/list"}}
        for key, to in (("all", {"all": True}), ("one", {"session": host.hello["session"]})):
            push = {"to": to, "key": key} | link
            first = here.call("session.push", push)["result"]
            self.assertEqual(1, first["delivered"])
            host.respond(host.request("page.open"), None)
            self.assertEqual(first, there.call("session.push", push)["result"])
            changed = push | {"params": {"uri": "native://orders"}}
            answer = there.call("session.push", changed)
            conflict = answer.get("error") or answer["result"]["results"][0]["error"]
            self.assertEqual(2409, conflict["code"])
        self.assertIsNone(host.call("$/ping")["result"])

    def test_list_has_pages_across_servers(self):
        one, other = self.serve_cluster(2)
        clients = [self.client(server) for server in (one, other) * 3]
        expected = sorted(client.hello["session"] for client in clients)
        listed = []
        while page := clients[0].call("session.list", {"limit": 4} | ({"after": listed[-1]} if listed else {}))["result"]:
            listed += [each["session"] for each in page]
        self.assertEqual(expected, listed)

    def test_pending_deep_link_is_delivered_at_any_server(self):
        one, other = self.serve_cluster(2)
        here = self.client(one)
        link = {"uri": "native://address/list", "params": {}}
        here.call("session.push", {"to": {"all": True}, "method": "router.deliver", "params": link})
        self.assertIn("links", until(lambda: self.presence(other, here.owner), MOMENT))
        host = self.client(other, hosts=[{"scheme": "native", "kind": "page"}])
        request = host.request("page.open")
        self.assertEqual("native://address/list", request["params"]["page"]["uri"])
        host.respond(request, None)

    def presence(self, server, of):
        client = ClusterClient(server)
        servers = client.call("admin.cluster")["result"]["servers"]
        client.call("session.close")
        client.close()
        return next((about for about in servers if about["server"] == of and "links" in about), None)

    def test_server_wide_hosts_share_load_of_all_servers(self):
        one, other = self.serve_cluster(2)
        hosts = [{"patterns": ["daemon://scan/:id"], "kind": "task", "scope": "server"}]
        daemons = [self.client(one, hosts=hosts), self.client(other, hosts=hosts)]
        caller = self.client(other)
        served = [0, 0]
        present = dict(enumerate(daemons))

        def scan(number):
            """Makes a call; returns the daemon that got it, once both servers know both daemons."""
            call = caller.begin("router.invoke", {"uri": f"daemon://scan/{number}", "deadlineMs": 1000})
            # Both daemons get tasks in turn; a daemon gets none if it is not its turn. A daemon that got a task before its end was known
            # does not respond.
            while not caller.has_response(call):
                for place, daemon in present.items():
                    if request := daemon.poll("task.run"):
                        self.assertEqual(caller.hello["session"], request["params"]["caller"]["session"])
                        daemon.notify("$/progress", {"id": request["id"], "value": {"half": number}})
                        daemon.respond(request, {"by": place, "id": request["params"]["params"]["id"]})
                        result = caller.response(call)["result"]
                        self.assertEqual({"by": place, "id": str(number)}, result)
                        self.assertEqual({"half": number}, caller.request("$/progress")["params"]["value"])
                        return place
            return caller.response(call)["error"]["code"]

        until(lambda: {scan(0), scan(0)} == {0, 1})
        for number in range(1, 9):
            served[scan(number)] += 1
        self.assertEqual([4, 4], served)
        # A lost one is replaced at once.
        present.pop(0).drop()
        until(lambda: scan(9) == scan(10) == scan(11) == 1, MOMENT)

    def test_table_update_applies_to_all_servers(self):
        table = pathlib.Path(self.folder, "table.json")
        table.write_text(json.dumps({"version": "1", "routes": [{"name": "a", "patterns": ["shop://a"], "kind": "page"}]}))
        one, other = self.serve("--table", str(table)), self.serve("--table", str(table))
        here, there = self.client(one), self.client(other)
        for client in (here, there):
            until(lambda: len(client.call("admin.cluster")["result"]["servers"]) == 2)
        added = {"op": "add", "route": {"name": "b", "patterns": ["shop://b"], "kind": "page"}}
        change = here.call("table.update", {"operations": [added], "version": "2"})["result"]
        self.assertEqual([(there.owner, "2")], [(each["server"], each["version"]) for each in change["servers"]])
        self.assertEqual("2", there.call("table.get")["result"]["version"])
        back = there.call("table.rollback")["result"]
        self.assertEqual(("1", [(here.owner, "1")]), (back["version"], [(each["server"], each["version"]) for each in back["servers"]]))
        self.assertEqual("1", here.call("table.get")["result"]["version"])
        again = there.call("table.update", {"operations": [added], "version": "3"})
        self.assertEqual("3", again["result"]["version"], again)
        # A later server has it too.
        third = self.client(self.serve("--table", str(table)))
        self.assertEqual("3", third.call("table.get")["result"]["version"])

    def test_policy_rollback_applies_to_all_servers(self):
        one, other = self.serve_cluster(2)
        here, there = self.client(one), self.client(other)
        old = here.call("admin.versions")["result"]["policy"]["hash"]
        rules = [{"name": "all", "allow": ["*"], "server": True}, {"name": "more", "allow": ["$/ping"]}]
        self.policy.write_text(json.dumps({"rules": rules}))

        def current(client):
            return client.call("admin.versions")["result"]["policy"]["hash"]

        until(lambda: current(here) != old and current(there) != old)
        response = here.call("policy.rollback", {"to": old})["result"]
        self.assertEqual([(there.owner, old)], [(each["server"], each["hash"]) for each in response["servers"]])
        self.assertEqual((old, old), (current(here), current(there)))


class Failover(ClusterCase):
    def test_another_server_takes_over_sessions_of_killed_server(self):
        one, other = self.serve_cluster(2)
        client = self.client(one, other)
        guest = self.client(other, one, join=client)
        self.assertEqual({"n": 1}, client.call("router.invoke", echo(1, key="k"))["result"])
        owner = client.owner
        one.end(signal.SIGKILL)
        again = client.resume(other)
        self.assertEqual((True, True), (again["resumed"], again["restarted"]))
        self.assertNotEqual(owner, client.owner)
        self.assertEqual(2, client.call(OWNER)["result"]["term"])
        # Its result is that of the previous call, which has another number.
        self.assertEqual({"n": 1}, guest.call("router.invoke", echo(1, key="k"))["result"])
        self.assertEqual(1, metrics(other)['waybridge_cluster_takeovers_total{reason="client"}'])
        client.call("session.close")
        guest.call("session.close")
        third = self.serve()
        with self.assertRaisesRegex(RuntimeError, "unknown"):
            client.resume(third)

    def test_orphaned_sessions_are_taken_over(self):
        one, other = self.serve_cluster(2)
        self.client(one)
        one.end(signal.SIGKILL)
        until(lambda: metrics(other)["waybridge_sessions"] == 1, 30)
        self.assertEqual(1, metrics(other)['waybridge_cluster_takeovers_total{reason="orphan"}'])

    def test_suspended_server_stops_after_takeover(self):
        asleep, other = self.serve_cluster(2)
        client = self.client(asleep, other)
        stranger = self.client(asleep, other, join=client)
        owner = client.owner
        asleep.process.send_signal(signal.SIGSTOP)
        try:
            client.resume(other)
            self.assertNotEqual(owner, client.owner)
            # Data that waits in its sockets is not processed when it wakes.
            late = stranger.begin(OWNER)
        finally:
            asleep.process.send_signal(signal.SIGCONT)
        response = stranger.response(late)
        self.assertEqual(2599, response["error"]["code"])
        self.assertEqual((1, 2), (stranger.resumptions, stranger.call(OWNER)["result"]["term"]))
        # It belongs to the cluster again, and finds out then that it has lost the session.
        until(lambda: health(asleep)["status"] == "ok")
        until(lambda: metrics(asleep)["waybridge_cluster_lost_sessions_total"] == 1)
        self.assertNotEqual(client.owner, self.client(asleep).owner)

    def test_calls_continue_during_rolling_replacement(self):
        servers = self.serve_cluster(3, WAYBRIDGE_DRAIN="10")
        clients = [self.client(*servers[place:], *servers[:place]) for place in range(3)]
        clients += [self.client(*servers, join=clients[1]), self.client(*servers[::-1], join=clients[2])]
        faults, counts, isOver = [], [0] * len(clients), threading.Event()

        def call(place, client):
            while not isOver.is_set():
                wanted = counts[place] * 10 + place
                try:
                    response = client.call("router.invoke", {"uri": "action://later", "params": {"n": wanted}})
                except (RuntimeError, OSError) as fault:
                    faults.append(f"{place} {client.hello['client']}: {fault!r}")
                    break
                counts[place] += 1
                if response.get("result") != {"n": wanted}:
                    faults.append(response)

        threads = [threading.Thread(target=call, args=(place, client)) for place, client in enumerate(clients)]
        for thread in threads:
            thread.start()
        for place in range(3):
            next_one = self.serve(WAYBRIDGE_DRAIN="10")
            servers.append(next_one)
            for client in clients:
                client.servers.append(next_one)
            code, _, _ = servers[place].end(signal.SIGTERM)
            self.assertEqual(0, code)
        last = counts[:]
        until(lambda: faults or all(count > before + 5 for count, before in zip(counts, last)))
        isOver.set()
        for thread in threads:
            thread.join(20)
        self.assertEqual([], faults)
        self.assertTrue(all(client.resumptions > 0 for client in clients))


class NATSFailures(ClusterCase):
    def test_restarted_nats_receives_all_state_again(self):
        server = self.serve()
        client = self.client(server)
        self.assertEqual({"n": 1}, client.call("router.invoke", echo(1, key="k"))["result"])
        self.nats.end()
        # Calls that need no storage get responses as long as no other server can have the session.
        self.assertEqual({"n": 2}, client.call("router.invoke", echo(2))["result"])
        waiting = client.begin("router.invoke", echo(3, key="l"))
        status = until(lambda: health(server)["status"] == "unavailable" and health(server))
        self.assertEqual({"engine": "away"}, status["cluster"])
        with WebSocket(server.port, subprotocol="waybridge.v1") as messages:
            messages.send({"jsonrpc": "2.0", "id": 1, "method": "session.open", "params": {"protocol": ["1.0"]}})
            refusal = messages.receive()["error"]
            self.assertEqual(2503, refusal["code"])
            self.assertRegex(refusal["message"], "NATS cannot be reached")
        self.begin("-js", port=self.nats.port)
        self.assertEqual({"n": 3}, client.response(waiting)["result"])
        self.assertEqual("ok", until(lambda: health(server)["status"] == "ok" and "ok"))
        server.end(signal.SIGKILL)
        client.resume(self.serve())
        self.assertEqual({"n": 3}, client.call("router.invoke", echo(3, key="l"))["result"])

    def test_sessions_are_kept_when_leases_of_another_form_are_removed(self):
        server = self.serve()
        client = self.client(server)
        self.assertEqual({"n": 1}, client.call("router.invoke", echo(1, key="k"))["result"])
        server.end(signal.SIGKILL)
        bucket = "KV_waybridge-servers"
        self.publish(f"$JS.API.STREAM.DELETE.{bucket}", b"")
        stream = {"name": bucket, "subjects": ["$KV.waybridge-servers.>"], "description": "Leases of Waybridge, form 4", "num_replicas": 1}
        self.publish(f"$JS.API.STREAM.CREATE.{bucket}", json.dumps(stream).encode())
        self.assertIn("the bucket waybridge-servers belongs to another program or another version", self.refusal(self.nats.url))
        self.publish(f"$JS.API.STREAM.DELETE.{bucket}", b"")
        client.resume(self.serve())
        self.assertEqual({"n": 1}, client.call("router.invoke", echo(1, key="k"))["result"])

    def publish(self, subject, payload):
        """Publishes data that no server publishes."""
        with socket.create_connection(("127.0.0.1", self.nats.port)) as connection:
            connection.sendall(b'CONNECT {"verbose":false}\r\n')
            connection.sendall(f"PUB {subject} _INBOX.test {len(payload)}\r\n".encode() + payload + b"\r\nPING\r\n")
            received = b""
            while b"PONG" not in received:
                received += connection.recv(4096)

    def test_foreign_streams_and_buckets_are_not_used(self):
        # In the order of their creation, so that none exists already.
        for name, resource in ("KV_waybridge-servers", "bucket waybridge-servers"), ("waybridge-sessions", "stream waybridge-sessions"):
            stream = {"name": name, "subjects": [f"others.{name}"], "storage": "memory", "num_replicas": 1}
            self.publish(f"$JS.API.STREAM.CREATE.{name}", json.dumps(stream).encode())
            errors = self.refusal(self.nats.url)
            self.assertIn(f"the {resource} belongs to another program or another version of Waybridge", errors)
            self.assertIn("use another account", errors)
            self.publish(f"$JS.API.STREAM.DELETE.{name}", b"")
        self.serve()

    def test_invalid_messages_on_subjects_are_ignored(self):
        server = self.serve("--log-level", "info")
        client = self.client(server)
        self.publish(f"waybridge.server.to.{client.owner}", b"{}")
        self.publish("waybridge.server.all", b"\x01\xff")
        self.publish("waybridge.session.s-garbage", b"\x00garbage")
        until(lambda: metrics(server)["waybridge_cluster_rejected_messages_total"] == 2)
        self.assertEqual({"n": 1}, client.call("router.invoke", echo(1, key="k"))["result"])
        # Another server starts anyway, and reports which session it cannot read.
        other = self.serve("--log-level", "error")
        self.assertEqual({"n": 1}, self.client(other, join=client).call("router.invoke", echo(1, key="k"))["result"])
        _, _, errors = other.end(signal.SIGTERM)
        self.assertRegex(errors, "session cannot be read: .*session=s-garbage|session=s-garbage.*cannot be read")
        self.assertIn("it does not name the message before it", errors)

    def test_full_nats_storage_is_reported_and_keeps_state(self):
        self.nats.end()
        config = pathlib.Path(self.folder, "small.conf")
        config.write_text(f'jetstream {{ max_file: 400K }}')
        self.nats = self.begin("-c", str(config))
        server = self.serve()
        client = self.client(server)
        self.assertEqual({"n": 1}, client.call("router.invoke", echo(1, key="k"))["result"])
        text = "x" * 50_000
        for number in range(12):
            client.begin("router.invoke", {"uri": "action://echo", "params": {"text": text}, "key": f"large {number}"})
        status = until(lambda: health(server)["status"] in ("degraded", "unavailable") and health(server))
        self.assertIn("reason", status)

    def refusal(self, url, *more):
        code, output, errors = run("serve", "--cluster", url, "--port", "0", *more)
        self.assertEqual((1, ""), (code, output))
        return errors

    def test_unusable_nats_is_reported_at_start(self):
        self.nats.end()
        self.assertRegex(self.refusal(self.nats.url), "the connection failed: .*start nats-server there")
        bare = self.begin(port=self.nats.port)
        self.assertIn("start nats-server with JetStream", self.refusal(bare.url))
        bare.end()
        closed = self.begin("-js", "--user", "ada", "--pass", "secret", port=self.nats.port)
        errors = self.refusal(f"nats://ada:wrong@127.0.0.1:{closed.port}")
        self.assertIn("a user and password with the permissions", errors)
        self.assertNotIn("wrong", errors)
        self.assertIn("not in both", self.refusal(closed.url, "--data", str(pathlib.Path(self.folder, "data"))))

    def test_delay_of_the_start_is_reported(self):
        # They accept connections, and never respond. The server waits for two seconds for each.
        silent = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
        for each in silent:
            self.addCleanup(each.close)
        errors = self.refusal(",".join(f"nats://127.0.0.1:{each.getsockname()[1]}" for each in silent))
        self.assertIn('notice not listening yet waiting="for NATS"', errors)


class ThreeNATSServers(ClusterCase):
    """A cluster whose streams have three replicas, with the account of the guide."""

    def setUp(self):
        super().setUp()
        self.nats.end()
        sockets = [socket.socket() for _ in range(3)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        routes = [f"nats://127.0.0.1:{each.getsockname()[1]}" for each in sockets]
        for each in sockets:
            each.close()
        file = pathlib.Path(self.folder, "nats.conf")
        file.write_text(guide_configuration().replace("users: [", "users: [{user: operator, password: secret}, "))
        self.engines = []
        for place, route in enumerate(routes):
            more = "-c", str(file), "-sd", str(pathlib.Path(self.folder, f"engine{place}")), "--cluster_name", "test", "--routes", ",".join(routes)
            self.engines.append(self.begin("-js", "-n", str(place), "--cluster", route, *more))
        until(self.creates_stream, 60)
        self.nats.url = ",".join(engine.url.replace("//", "//waybridge:secret@") for engine in self.engines)

    def request(self, subject, body=None):
        """Makes a request to JetStream; returns None if there is no response."""
        payload = json.dumps(body).encode() if body else b""
        with socket.create_connection(("127.0.0.1", self.engines[0].port), timeout=5) as connection, connection.makefile("rb") as lines:
            connection.sendall(b'CONNECT {"verbose":false,"headers":true,"no_responders":true,"user":"operator","pass":"secret"}\r\nSUB _INBOX.test 1\r\n')
            connection.sendall(f"PUB {subject} _INBOX.test {len(payload)}\r\n".encode() + payload + b"\r\n")
            try:
                for line in lines:
                    if line.startswith(b"MSG "):
                        return json.loads(lines.read(int(line.split()[-1])))
                    if line.startswith(b"HMSG "):
                        return None
            except TimeoutError:
                return None

    def creates_stream(self):
        """Whether the NATS servers have a leader and know each other."""
        stream = {"name": "TRIAL", "subjects": ["trial"], "storage": "memory", "num_replicas": 3}
        response = self.request("$JS.API.STREAM.CREATE.TRIAL", stream)
        return response and "error" not in response

    def test_calls_continue_while_nats_elects_a_leader(self):
        servers = [self.serve("--cluster-replicas", "3") for _ in range(2)]
        connected = 'waybridge_cluster_voters{state="up"}'
        until(lambda: all(metrics(server)[connected] == 3 and metrics(server)["waybridge_cluster_servers"] == 2 for server in servers))
        clients = [self.client(server) for server in servers]
        for client in clients:
            self.assertEqual({"n": 1}, client.call("router.invoke", echo(1, key="k"))["result"])
        leader = int(self.request("$JS.API.STREAM.INFO.KV_waybridge-servers")["cluster"]["leader"])
        renewals = [metrics(server)["waybridge_cluster_lease_renewals_total"] for server in servers]
        self.engines[leader].process.kill()
        waiting = [client.begin("router.invoke", echo(2, key="l")) for client in clients]

        def is_over():
            for client in clients:
                self.assertEqual({"n": 3}, client.call("router.invoke", echo(3))["result"])
            # The first renewals may have been sent before the crash.
            return all(metrics(server)["waybridge_cluster_lease_renewals_total"] > count + 2 for server, count in zip(servers, renewals))

        until(is_over, 60)
        for client, call in zip(clients, waiting):
            self.assertEqual({"n": 2}, client.response(call)["result"])
            # No connection was closed.
            self.assertEqual(0, client.resumptions)
        for server in servers:
            self.assertEqual(0, metrics(server)["waybridge_cluster_lease_losses_total"])
            self.assertLess(0, metrics(server)["waybridge_cluster_lease_extensions_total"])
            self.assertEqual(1, metrics(server)['waybridge_cluster_voters{state="down"}'])

    def test_any_server_continues_an_upload(self):
        servers = self.serve_cluster(3)
        client = self.client(servers[0])
        fields = {"Authorization": "Bearer " + client.call("blobs.authorize", {})["result"]["token"]}

        def send(server, method, path, body=None, **more):
            names = {name.replace("_", "-"): value for name, value in more.items()}
            request = urllib.request.Request(f"{server.address}/{path}", body, fields | names, method=method)
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.headers, response.read()

        data = random.Random(7).randbytes(5 << 20)
        _, headers, _ = send(servers[1], "POST", "blobs", b"", Content_Type="image/png", Upload_Complete="?0", Upload_Length=str(len(data)))
        path = headers["Location"]
        for place in range(5):
            part = data[place << 20 : (place + 1) << 20]
            status, _, body = send(
                servers[place % 3], "PATCH", path, part, Content_Type="application/partial-upload", Upload_Offset=str(place << 20), Upload_Complete="?1" if place == 4 else "?0"
            )
        self.assertEqual((200, hashlib.sha256(data).hexdigest()), (status, json.loads(body)["sha256"]))
        for server in servers:
            self.assertEqual(data, send(server, "GET", path)[2])
            self.assertEqual(data[2_000_000:2_000_100], send(server, "GET", path, Range="bytes=2000000-2000099")[2])
        self.assertEqual(204, send(servers[2], "DELETE", path)[0])
        with self.assertRaisesRegex(urllib.error.HTTPError, "404") as refusal:
            send(servers[0], "GET", path)
        refusal.exception.close()


if __name__ == "__main__":
    unittest.main()
