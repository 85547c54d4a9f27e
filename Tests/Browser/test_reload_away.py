"""A tab that is put away, or has no network for a while, goes on where it was, with the result that came meanwhile."""

import json
import tempfile
import unittest
import urllib.parse

from selenium.webdriver.support.ui import WebDriverWait

from chromium import Chromium
from demo_server import DemoServer
from page_server import PageServer
from relay import Relay

PATIENCE = 20  # seconds

# With `join` it is a page that calls, without one the app that does the task when it is told to.
PAGE = """<!doctype html><title>page</title><script type="module">
import { Bridge } from "/bridge/bridge.js";
const options = JSON.parse(decodeURIComponent(location.search.slice(1)));
window.seen = [];
window.asked = 0;
const slow = () => new Promise((resolve) => { window.asked += 1; window.finish = resolve; });
const bridge = new Bridge({
  ...options, ping: { after: 300, timeout: 500 }, reconnect: { minDelay: 50, maxDelay: 200 },
  tasks: options.join ? {} : { "action://slow": slow },
});
bridge.addEventListener("statechange", ({ detail }) => seen.push(detail));
for (const type of ["freeze", "resume"]) document.addEventListener(type, () => seen.push(type));
window.bridge = bridge;
</script>"""


class AwayCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = PageServer({"/page.html": PAGE})
        cls.addClassCleanup(cls.pages.stop)
        cls.driver = Chromium(False, False)
        cls.addClassCleanup(cls.driver.quit)

    def setUp(self):
        self.relay = Relay()
        self.addCleanup(self.relay.stop)
        doors = ("--allow-origin", self.pages.origin, "--allow-host", f"127.0.0.1:{self.relay.port}")
        self.command = ("serve", "--conformance", "--drain", "0", *doors, *self.flags())
        self.serve(0)
        self.relay.target = self.port
        self.driver.start_anew((800, 600))
        self.app = self.load(self.port)
        key = self.driver.execute_script("return {session: bridge.session.session, token: bridge.session.joinToken}")
        self.driver.switch_to.new_window("tab")
        self.page = self.load(self.relay.port, join=key)
        self.session = self.driver.execute_script("return [bridge.session.session, bridge.session.client]")
        self.driver.execute_script(
            "bridge.invoke('action://slow', {}, { key: 'slow' }).then((value) => (window.result = value), (error) => (window.result = `${error}`))"
        )
        self.show(self.app)
        self.wait("return window.asked === 1", "the task")

    def flags(self):
        return ()

    def serve(self, port):
        self.server = DemoServer(port, self.command)
        self.addCleanup(self.server.stop)
        self.port = self.server.port

    def tearDown(self):
        self.show(self.page)
        self.driver.close()
        self.show(self.app)

    def load(self, port, **options):
        """Opens the page in the tab that is there; gives the tab."""
        options["url"] = f"ws://127.0.0.1:{port}/bridge"
        self.driver.get(f"{self.pages.origin}/page.html?{urllib.parse.quote(json.dumps(options))}")
        self.wait("return window.bridge?.state === 'open'", "the session")
        return self.driver.current_window_handle

    def show(self, tab):
        self.driver.switch_to.window(tab)

    def wait(self, script, what):
        waiting = WebDriverWait(self.driver, PATIENCE, 0.05)
        return waiting.until(lambda driver: driver.execute_script(script), f"waited for {what}")

    def freeze(self):
        """Puts the page behind the app, where it does nothing any more."""
        self.show(self.page)
        self.driver.execute_cdp_cmd("Page.setWebLifecycleState", {"state": "frozen"})
        self.show(self.app)

    def thaw(self):
        self.show(self.page)
        self.driver.execute_cdp_cmd("Page.setWebLifecycleState", {"state": "active"})

    def finish(self):
        """Lets the app finish the task, and waits until the server has heard of it."""
        self.driver.execute_script("finish(7); bridge.request('$/ping').then(() => (window.isHeard = true))")
        self.wait("return window.isHeard", "the server")

    def states(self):
        return self.driver.execute_script("return seen.map((each) => each.state ?? each)")

    def assert_all_is_there(self):
        self.wait("return window.result !== undefined && bridge.state === 'open'", "the result")
        self.assertEqual(self.driver.execute_script("return window.result"), 7)
        now = self.driver.execute_script("return [bridge.session.session, bridge.session.client]")
        self.assertEqual(now, self.session)
        lost = self.driver.execute_script("return seen.filter(({ lost }) => lost).length")
        self.assertEqual(lost, 0)

    def network(self, is_there):
        """What the browser does to new connections only, the relay does to those that are there."""
        if is_there:
            self.relay.restore()
        else:
            self.relay.silence()
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {"offline": not is_there, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
        )


class AwayTest(AwayCase):
    def test_a_tab_behind_another_has_its_result(self):
        self.finish()
        self.show(self.page)
        self.assert_all_is_there()

    def test_a_frozen_tab_goes_on_with_its_result(self):
        self.freeze()
        # The network that it comes back to is another one.
        self.relay.restore()
        self.finish()
        self.thaw()
        self.assert_all_is_there()
        states = self.states()
        self.assertLess(states.index("resume"), states.index("waiting"), states)

    def test_a_tab_without_a_network_goes_on_with_its_result_when_it_is_back(self):
        self.show(self.page)
        self.network(False)
        self.wait("return seen.some(({ state, code }) => state === 'waiting' && code === 4202)", "the end of its patience")
        self.show(self.app)
        self.finish()
        self.show(self.page)
        self.assertEqual(self.driver.execute_script("return [window.result ?? null, navigator.onLine]"), [None, False])
        self.network(True)
        self.assert_all_is_there()


class KeptAwayTest(AwayCase):
    """The server keeps its sessions, and is restarted while the tab is away."""

    def flags(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return ("--data", folder.name)

    def test_a_frozen_tab_has_its_result_after_a_crash(self):
        self.freeze()
        self.server.crash()
        self.serve(self.port)
        self.wait("return window.asked === 2", "the task, which is asked for again by its key")
        self.finish()
        self.thaw()
        self.assert_all_is_there()
        restarted = self.driver.execute_script("return seen.filter(({ restarted }) => restarted).length")
        self.assertEqual(restarted, 1)


if __name__ == "__main__":
    unittest.main()
