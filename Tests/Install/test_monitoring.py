"""The alerts and the dashboard: that Prometheus reads them, that alerts fire when they should, and that each metric in them is
one that a server has."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from paths import PACKAGING, ROOT

from command import Server
from test_cluster import Engine, metrics, until
from test_metrics import handshake, parse
from test_serve import get
from rawsocket import WebSocket

MONITORING = PACKAGING / "monitoring"
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
METRIC = re.compile(r"\b(?:waybridge|process)_[a-z_]+")


def promtool(*arguments, folder=MONITORING):
    done = subprocess.run(["promtool", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def panels():
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def expressions():
    """Those of the dashboard, with what Grafana puts in the place of its variables."""
    texts = [target["expr"] for panel in panels() for target in panel["targets"]]
    texts += [annotation["expr"] for annotation in DASHBOARD["annotations"]["list"]]
    return [text.replace("$__rate_interval", "1m").replace("$job", ".+").replace("$instance", ".+") for text in texts]


def family(name, served):
    return re.sub("_(bucket|sum|count)$", "", name) if name not in served else name


class Alerts(unittest.TestCase):
    def test_the_rules_are_rules(self):
        code, output = promtool("check", "rules", "alerts.yml")
        self.assertEqual(0, code, output)

    def test_each_alert_fires_when_it_should_and_none_on_a_server_that_is_well(self):
        code, output = promtool("test", "rules", "alerts.test.yml")
        self.assertEqual(0, code, output)
        named = set(re.findall(r"alert: (\w+)", (MONITORING / "alerts.yml").read_text()))
        self.assertEqual(named, set(re.findall(r'alertname="(\w+)"', (MONITORING / "alerts.test.yml").read_text())))

    def test_each_alert_says_what_it_means(self):
        text = (MONITORING / "alerts.yml").read_text()
        count = text.count("- alert:")
        for word in ("severity: ", "summary: ", "description: "):
            self.assertEqual(count, text.count(word), word)


class Dashboard(unittest.TestCase):
    def test_its_expressions_are_read_by_prometheus(self):
        rules = [{"record": f"a{number}", "expr": text} for number, text in enumerate(expressions())]
        with tempfile.TemporaryDirectory() as folder:
            # JSON is YAML.
            (pathlib.Path(folder) / "rules.yml").write_text(json.dumps({"groups": [{"name": "a", "rules": rules}]}))
            code, output = promtool("check", "rules", "rules.yml", folder=folder)
        self.assertEqual(0, code, output)
        self.assertIn(f"{len(rules)} rules found", output)

    def test_the_panels_have_a_place_of_their_own_and_a_source(self):
        everything = DASHBOARD["panels"]
        self.assertEqual(len(everything), len({panel["id"] for panel in everything}))
        taken = set()
        for panel in everything:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells
        for panel in panels():
            self.assertEqual("${datasource}", panel["datasource"]["uid"], panel["title"])


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """All families: of a server that has a store, a table, and has seen a call, a close and a refusal; and of one of two
        that share their sessions."""
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "routes.json"
            table.write_text((ROOT / "protocol/routes/demo.json").read_text())
            with Server("serve", "--port", "0", "--data", folder, "--table", str(table), "--conformance") as server:
                with WebSocket(server.port) as client:
                    client.send({"jsonrpc": "2.0", "id": 1, "method": "router.invoke", "params": {"uri": "action://echo"}})
                    client.receive()
                    client.send(1000)
                    client.receive()
                handshake(server, {"Origin": "https://evil.example"})
                cls.samples, cls.types = parse(get(server.address + "/metrics")[1])
            shared = pathlib.Path(folder) / "engine"
            engine = Engine(str(shared), "-js")
            try:
                arguments = ["serve", "--port", "0", "--cluster", engine.url]
                with Server(*arguments) as one, Server(*arguments):
                    until(lambda: metrics(one)["waybridge_cluster_servers"] == 2)
                    samples, types = parse(get(one.address + "/metrics")[1])
            finally:
                engine.end()
            cls.samples = samples | cls.samples
            cls.types = types | cls.types

    def test_the_alerts_and_the_dashboard_name_what_is_served(self):
        for name in ("alerts.yml", "alerts.test.yml", "dashboard.json"):
            named = set(METRIC.findall((MONITORING / name).read_text()))
            self.assertGreater(len(named), 10)
            self.assertEqual(set(), named - set(self.samples), name)

    def test_the_dashboard_shows_all_that_a_bridge_serves(self):
        text = " ".join(expressions())
        shown = {family(name, self.types) for name in METRIC.findall(text)}
        bridges = {name for name in self.types if name.startswith("waybridge_")} - {"waybridge_connections"}
        self.assertEqual(set(), bridges - shown - {"waybridge_build_info"})

    def test_the_protocol_describes_each_and_no_others(self):
        section = (ROOT / "protocol/PROTOCOL.md").read_text().split("\n## Metrics\n")[1].split("\n## ")[0]
        described = set(re.findall(r"`((?:waybridge|process)_\w+)`", section))
        self.assertEqual(set(self.types), described)

    def test_their_labels_are_those_of_the_protocol(self):
        section = (ROOT / "protocol/PROTOCOL.md").read_text().split("\n## Metrics\n")[1].split("\n## ")[0]
        for names, labels in re.findall(r"^\| (`[^|]*) \| ([^|]*) \|", section, re.M):
            expected = set(re.findall(r"`(\w+)`", labels))
            found = set()
            for name in re.findall(r"`(\w+)`", names):
                for series in (name, name + "_bucket"):
                    found |= {label for row in self.samples.get(series, {}) for label, _ in row} - {"le"}
            self.assertEqual(expected, found, names)


if __name__ == "__main__":
    unittest.main()
