"""The alerts and the dashboard: Prometheus accepts them, alerts fire when they should, and each of their metrics is
a metric of a server."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from paths import PACKAGING, ROOT

from command import Server
from rawsocket import WebSocket
from test_cluster import NATSServer, metrics, until
from test_metrics import handshake, parse
from test_serve import get

MONITORING = PACKAGING / "monitoring"
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
METRIC = re.compile(r"\b(?:waybridge|process)_[a-z_]+")


def promtool(*arguments, folder=MONITORING):
    done = subprocess.run(["promtool", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def panels():
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def expressions():
    """The expressions of the dashboard, with its variables replaced as Grafana does."""
    texts = [target["expr"] for panel in panels() for target in panel["targets"]]
    texts += [annotation["expr"] for annotation in DASHBOARD["annotations"]["list"]]
    return [text.replace("$__rate_interval", "1m").replace("$job", ".+").replace("$instance", ".+") for text in texts]


def family(name, served):
    return re.sub("_(bucket|sum|count)$", "", name) if name not in served else name


class Alerts(unittest.TestCase):
    def test_alert_rules_are_valid(self):
        code, output = promtool("check", "rules", "alerts.yml")
        self.assertEqual(0, code, output)

    def test_alerts_fire_only_when_expected(self):
        code, output = promtool("test", "rules", "alerts.test.yml")
        self.assertEqual(0, code, output)
        named = set(re.findall(r"alert: (\w+)", (MONITORING / "alerts.yml").read_text()))
        self.assertEqual(named, set(re.findall(r'alertname="(\w+)"', (MONITORING / "alerts.test.yml").read_text())))

    def test_alerts_have_summary_and_description(self):
        text = (MONITORING / "alerts.yml").read_text()
        count = text.count("- alert:")
        for word in ("severity: ", "summary: ", "description: "):
            self.assertEqual(count, text.count(word), word)


class Dashboard(unittest.TestCase):
    def test_expressions_are_valid_for_prometheus(self):
        rules = [{"record": f"a{number}", "expr": text} for number, text in enumerate(expressions())]
        with tempfile.TemporaryDirectory() as folder:
            # JSON is YAML.
            (pathlib.Path(folder) / "rules.yml").write_text(json.dumps({"groups": [{"name": "a", "rules": rules}]}))
            code, output = promtool("check", "rules", "rules.yml", folder=folder)
        self.assertEqual(0, code, output)
        self.assertIn(f"{len(rules)} rules found", output)

    def test_panels_do_not_overlap_and_have_a_source(self):
        everything = DASHBOARD["panels"]
        self.assertEqual(len(everything), len({panel["id"] for panel in everything}))
        occupied = set()
        for panel in everything:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
            self.assertFalse(cells & occupied, panel["title"])
            occupied |= cells
        for panel in panels():
            self.assertEqual("${datasource}", panel["datasource"]["uid"], panel["title"])


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """All metric families: those of a server with a store, a table, keys, a call, a close and a rejection, and those of one of
        two servers that share their sessions."""
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "routes.json"
            table.write_text((ROOT / "protocol/routes/demo.json").read_text())
            secret = pathlib.Path(folder) / "secret"
            secret.write_text("a secret for the tests of metrics, 32 bytes or longer")
            secret.chmod(0o600)
            tokens = ["--token-secret-file", str(secret), "--allow-anonymous"]
            signing = pathlib.Path(folder) / "signing"
            signing.write_text("whsec_" + "c2lnbmluZyBzZWNyZXQgb2YgYSB3ZWJob29r")
            signing.chmod(0o600)
            tokens += ["--push-webhook", "http://127.0.0.1:9/", "--push-webhook-secret-file", str(signing)]
            with Server("serve", "--port", "0", "--data", folder, "--table", str(table), "--conformance", *tokens) as server:
                with WebSocket(server.port) as client:
                    client.send({"jsonrpc": "2.0", "id": 1, "method": "router.invoke", "params": {"uri": "action://echo"}})
                    client.receive()
                    client.send(1000)
                    client.receive()
                handshake(server, {"Origin": "https://evil.example"})
                cls.samples, cls.types = parse(get(server.address + "/metrics")[1])
            shared = pathlib.Path(folder) / "engine"
            nats = NATSServer(str(shared), "-js")
            try:
                arguments = ["serve", "--port", "0", "--cluster", nats.url, "--cluster-secret-file", str(secret)]
                with Server(*arguments) as one, Server(*arguments):
                    until(lambda: metrics(one)["waybridge_cluster_servers"] == 2)
                    samples, types = parse(get(one.address + "/metrics")[1])
            finally:
                nats.end()
            cls.samples = samples | cls.samples
            cls.types = types | cls.types

    def test_alerts_and_dashboard_use_existing_metrics(self):
        for name in ("alerts.yml", "alerts.test.yml", "dashboard.json"):
            named = set(METRIC.findall((MONITORING / name).read_text()))
            self.assertGreater(len(named), 10)
            self.assertEqual(set(), named - set(self.samples), name)

    def test_dashboard_shows_all_bridge_metrics(self):
        text = " ".join(expressions())
        shown = {family(name, self.types) for name in METRIC.findall(text)}
        bridges = {name for name in self.types if name.startswith("waybridge_")} - {"waybridge_connections"}
        self.assertEqual(set(), {name for name in bridges - shown if not name.endswith("_info")})

    def test_reference_describes_exactly_the_served_metrics(self):
        section = (ROOT / "web/docs/metrics.md").read_text().split("\n## Metrics\n")[1].split("\n## ")[0]
        described = set(re.findall(r"`((?:waybridge|process)_\w+)`", section))
        self.assertEqual(set(self.types), described)

    def test_labels_match_the_reference(self):
        section = (ROOT / "web/docs/metrics.md").read_text().split("\n## Metrics\n")[1].split("\n## ")[0]
        for names, labels in re.findall(r"^\| (`[^|]*) \| ([^|]*) \|", section, re.M):
            expected = set(re.findall(r"`(\w+)`", labels))
            found = set()
            for name in re.findall(r"`(\w+)`", names):
                for series in (name, name + "_bucket"):
                    found |= {label for row in self.samples.get(series, {}) for label, _ in row} - {"le"}
            self.assertEqual(expected, found, names)


if __name__ == "__main__":
    unittest.main()
