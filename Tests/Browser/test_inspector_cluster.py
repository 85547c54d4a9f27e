"""The inspector of one of several servers, and of a single server."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

from accessibility import low_contrast_texts, unnamed_controls
from app_client import AppClient
from demo_server import DemoServer
from test_inspector import DESK, EVERYBODY, PHONE, ROOT, VIEWS, InspectorCase
from test_inspector_updates import UpdatesCase

sys.path.append(str(ROOT / "Tests/Command"))
from cluster_client import secret_file  # noqa: E402
from test_cluster import NATSServer  # noqa: E402

OTHERS = {"rules": [*EVERYBODY["rules"], {"name": "nobody prints", "deny": ["router.*"], "routes": ["print://*"]}]}
TABLE = str(ROOT / "protocol/routes/demo.json")
# Draws a page for other results than those of two idle servers.
DRAWN = """
  const { ClusterView } = await import("/inspector/cluster-view.js");
  const { ServerResultsView } = await import("/inspector/server-results-view.js");
  const stamp = { version: "2026-11-23T08:16:41Z+17", hash: "0123456789abcdef" };
  const server = (name, more) => ({ server: name, version: "1.0", since: 1e12, draining: false, sessions: 100000, clients: 250000,
    policy: "0123456789abcdef", table: stamp, relays: { in: 12345, out: 54321 }, ...more });
  const servers = [server("this"), server("drains", { draining: true, relays: undefined }), server("same", { sessions: 1 }),
    server("other", { version: "1.1", table: { ...stamp, hash: "f" }, policy: "" }), server("without", { table: undefined })];
  const link = new EventTarget();
  const answer = { server: "this", engine: "away", leaseMs: 0, takenOver: 1, servers };
  new ClusterView(Object.assign(link, { isWatching: true, request: async () => answer })).refresh();
  new ServerResultsView().show("The table 3", "f", [{ server: "a", version: "3", hash: "f" }, { server: "b", version: "4", hash: "e" },
    { server: "c", error: { code: 2503, message: "The server c has not answered within 30.0 seconds" } }]);
"""
REDIRECT = [{"op": "redirect", "from": "action://gone", "to": "action://echo"}]


def cells_of(driver, server):
    """The displayed values of a server, by the titles of the columns."""
    return dict(driver.execute_script(
        """return [...document.querySelector(`#cluster [data-server='${arguments[0]}']`).children]
             .map((cell) => [cell.dataset.label ?? "Server", cell.innerText])""", server))


class ClusterCase(UpdatesCase):
    """Two servers that share their sessions: one is inspected, the other has another policy."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.nats = NATSServer(cls.folder.name, "-js")
        cls.addClassCleanup(lambda: cls.nats.process.stderr.closed or cls.nats.end())
        cls.server = cls.serve("policy", EVERYBODY)
        cls.other = cls.serve("others", OTHERS)

    @classmethod
    def serve(cls, name, policy):
        file = Path(cls.folder.name, f"{name}.json")
        file.write_text(json.dumps(policy))
        server = DemoServer(arguments=("serve", "--cluster", cls.nats.url, "--table", TABLE, "--policy", str(file), "--cluster-secret-file", secret_file(cls.folder.name), "--conformance"))
        cls.addClassCleanup(server.crash)
        return server

    def setUp(self):
        super().setUp()
        self.here, self.there = self.app("here"), AppClient(self.other.address, "there")
        self.addCleanup(self.there.close)
        self.page.wait(lambda: all(len(self.servers(app)) == 2 for app in (self.here, self.there)), "servers that know of each other")
        self.name, self.others = (self.servers(app)[0]["server"] for app in (self.here, self.there))

    def servers(self, app):
        return app.request("admin.cluster")["result"]["servers"]

    def show_cluster(self):
        self.show("Cluster")
        self.wait("return document.querySelectorAll('#cluster-body tr').length === 2", "two servers")

    def cells(self, server):
        return cells_of(self.driver, server)


class ClusterTest(ClusterCase):
    def test_servers_are_shown_with_differences(self):
        self.inspect(self.here)
        self.show_cluster()
        numbers = lambda server, counts: [self.cells(server)[name] for name in ("Sessions", "Clients", "Relays in", "Relays out")] == counts
        counts = lambda of: [str(count) for count in (of["sessions"], of["clients"], *of["relays"].values())]
        for place, server in enumerate((self.name, self.others)):
            self.page.wait(lambda: numbers(server, counts(self.servers(self.here)[place])), f"the counts of {server}")
        here, there = self.cells(self.name), self.cells(self.others)
        self.assertEqual([here["Server"], there["Server"]], [f"{self.name} this server", self.others])
        # At least the app and the inspector itself.
        self.assertGreaterEqual(int(here["Sessions"]), 2)
        self.assertEqual([here["State"], there["State"]], ["running", "running"])
        self.assertRegex(there["Since"], r"\d:\d\d")
        self.assertEqual(there["Table"], here["Table"])
        self.assertRegex(here["Table"], "^1 [0-9a-f]{12}$")
        self.assertNotIn("differs", here["Policy"])
        self.assertRegex(there["Policy"], "^[0-9a-f]{16} differs$")
        self.assertEqual(self.texts("#cluster-view dd")[::2], ["reached", "0 sessions"])
        self.assertRegex(self.page.find("#cluster-lease").text, r"^[\d.]+ m?s left$")

    def test_session_is_shown_with_its_server(self):
        self.inspect(self.there)
        note = lambda app: self.page.find(f"#sessions [data-session='{app.session}'] .notes").text
        self.page.wait(lambda: note(self.here).endswith("on this server"), "this server")
        self.page.wait(lambda: note(self.there).endswith(f"on {self.others}"), "the other server")
        self.page.wait(lambda: "there" in self.page.find("#members").text, "the clients of a session elsewhere")
        self.page.wait(lambda: self.others in self.page.find("#calls-elsewhere").text, "where its calls are told")
        self.page.find("#record").click()
        self.page.wait(lambda: "record it with the inspector there" in self.page.find("#notice").text, "where it is recorded")
        self.page.find(f"#sessions [data-session='{self.here.session}']").click()
        self.wait("return document.getElementById('calls-elsewhere').textContent === ''", "a session of this server")

    def test_cluster_is_detected_once(self):
        self.inspect(self.here)
        self.page.button("Cluster", self.page.find("#tabs"))
        self.wait_for_refresh("admin.sessions")
        self.assertEqual(self.sent_params("admin.cluster"), [])
        self.show_cluster()
        self.wait_for_refresh("admin.cluster")
        self.driver.execute_script("document.getElementById('tab-cluster').focus()")
        self.key("Home")
        self.key("End")
        self.wait("return document.activeElement.id === 'tab-cluster'", "the last tab")

    def test_table_is_rolled_back_on_all_servers(self):
        self.here.request("table.update", operations=REDIRECT)
        self.inspect()
        self.roll_back("table")
        self.page.wait(lambda: self.page.find("#answers-title").text == "The table 1 is in force on all servers", "what has become of it")
        self.assertEqual(self.texts("#answers li"), [f"{self.others} in force"])
        self.page.button("Close", self.page.find("#answers")).click()
        self.wait("return document.getElementById('answers').hidden && document.activeElement.id === 'tab-versions'", "the end of the answers")

    def test_policy_rollback_reports_servers_without_the_policy(self):
        before = self.here.request("admin.versions")["result"]["policy"]["hash"]
        Path(self.folder.name, "policy.json").write_text(json.dumps({"rules": [*EVERYBODY["rules"], {"name": "more", "allow": ["*"]}]}))
        self.inspect()
        self.roll_back("policy")
        text = f"The policy {before} is in force here, but not on 1 of 1 other server"
        self.page.wait(lambda: self.page.find("#answers-title").text == text, "what has become of it")
        response, = self.texts("#answers li")
        self.assertRegex(response, rf"^{self.others} failed: .*\(2404\)$")
        self.assertIn("but not on 1", self.page.find("#notice").text)
        self.assertEqual([unnamed_controls(self.driver), low_contrast_texts(self.driver), self.page.overflow()], [[], [], []])
        self.picture("cluster-answers")

    def roll_back(self, kind):
        self.show("Versions")
        self.page.button("Restore", self.page.find(f"#{kind}-versions")).click()
        self.page.button("Restore", self.page.find("#confirm")).click()


class NATSLossTest(ClusterCase):
    def test_lost_nats_connection_is_shown(self):
        self.inspect(self.here)
        self.show_cluster()
        self.nats.end()
        self.wait(
            """document.dispatchEvent(new Event("visibilitychange"));
               return document.getElementById("cluster-engine").textContent.startsWith("unreachable")""", "the absence")
        # Without a lease a server has no sessions, including that of the inspector.
        self.page.wait(lambda: self.page.find("#cluster-lease").text in ("expired", "unknown"), "the end of the lease")
        self.picture("cluster-away")


class ViewCase(InspectorCase):
    def check_view(self, name):
        self.picture(f"cluster-{name}")
        self.assertEqual(self.page.overflow(), [], f"{name}: too wide")
        self.assertEqual(self.page.cut(), [], f"{name}: cut off")
        self.assertEqual(unnamed_controls(self.driver), [], f"{name}: without a name")
        self.assertEqual(low_contrast_texts(self.driver), [], f"{name}: too pale")


class PhoneTest(ClusterCase, ViewCase):
    size = PHONE

    def test_cluster_views_fit_and_are_readable(self):
        self.inspect(self.there)
        self.page.wait(lambda: self.others in self.page.find("#calls-elsewhere").text, "where its calls are told")
        self.check_view("phone-sessions")
        self.show_cluster()
        self.check_view("phone")


class RenderingTest(ViewCase):
    """The page of a single server, which draws given results of other servers."""

    def test_single_server_shows_no_cluster_view(self):
        self.inspect(self.host())
        self.assertEqual(self.texts("#tabs [role=tab]"), list(VIEWS))
        self.assertNotIn("server", self.page.find("#sessions").text)
        self.assertEqual(self.driver.execute_script("return document.getElementById('calls-elsewhere').textContent"), "")

    def test_differences_and_failures_are_shown_and_readable(self):
        self.inspect()
        # The page itself finds no cluster, and must not hide the tab again.
        self.driver.execute_script(
            f"""const tab = document.getElementById("tab-cluster");
                tab.hidden = false;
                Object.defineProperty(tab, "hidden", {{ get: () => false, set: () => {{}} }});
                (async () => {{{DRAWN}}})()""")
        self.wait("return document.querySelectorAll('#cluster-body tr').length === 5", "five servers")
        for dark in (False, True):
            for size in (DESK, PHONE):
                name = f"{size[0]}-{'dark' if dark else 'light'}"
                self.driver.show(size, dark)
                self.show("Cluster")
                cells = {server: cells_of(self.driver, server) for server in ("this", "drains", "same", "other", "without")}
                differing = {server: [label for label, text in texts.items() if text.endswith(" differs")] for server, texts in cells.items()}
                self.assertEqual(differing, {"this": [], "drains": [], "same": [], "other": ["Version", "Table", "Policy"], "without": ["Table"]})
                drains = cells["drains"]
                self.assertEqual([drains["State"], drains["Relays in"], cells["other"]["Policy"]], ["draining", "", "none differs"])
                self.assertEqual(self.texts("#cluster-view dd")[1:], ["expired", "1 session"])
                self.check_view(f"drawn-{name}")
                self.show("Versions")
                self.assertEqual(self.page.find("#answers-title").text, "The table 3 is in force here, but not on 2 of 3 other servers")
                responses = ["c failed: The server c has not answered within 30.0 seconds (2503)", "b has 4", "a in force"]
                self.assertEqual(self.texts("#answers li"), responses)
                self.check_view(f"drawn-answers-{name}")


if __name__ == "__main__":
    unittest.main()
