"""Routes as tools for the agents of a browser, with WebMCP as Chromium has it."""

import json
import tempfile
import unittest
from pathlib import Path

import browser
from browser import shared_browser
from chromium import Chromium
from demo_server import DemoServer
from page_server import PageServer

TABLE = Path(__file__).resolve().parents[2] / "protocol/routes/demo.json"
POLICY = {
    "rules": [
        {"name": "all", "allow": ["*"]},
        {"name": "table", "allow": ["table.update"]},
        {"name": "orders", "deny": ["*"], "routes": ["action://orders/*"]},
    ]
}

PAGE = """<!doctype html><title>page</title>
<script type="module">
  import { Bridge } from "/bridge/bridge.min.js";
  import { offerTools } from "/bridge/webmcp.min.js";

  // The page, and a second client of its session, which is the app shell.
  window.start = async (url) => {
    const bridge = new Bridge({ url, keep: "nothing" });
    const { session, joinToken } = await bridge.ready;
    const shell = new Bridge({ url, keep: "nothing", join: { session, token: joinToken } });
    window.cancelled = new Promise((resolve) => {
      shell.task("action://location", (params, { signal }) => new Promise(() => signal.addEventListener("abort", () => resolve(true))));
    });
    const address = { id: "a2", name: "Ada", street: "Main", city: "Kyoto" };
    const shown = shell.host("native", { open: ({ id, uri }) => void setTimeout(() => shell.finish(uri.endsWith("list") ? address : undefined, { page: id })), close() {} });
    const tasks = {
      "action://share": ({ title }) => ({ shared: true, channel: title }),
      "action://cart/add": () => { throw Object.assign(new Error("Sold out"), { code: 7 }); },
      "action://orders/:number/cancel": () => null,
    };
    await Promise.all([shown, ...Object.entries(tasks).map(([uri, handler]) => shell.task(uri, handler))].map(({ registered }) => registered));
    window.join = () => new Bridge({ url, keep: "nothing", join: { session, token: joinToken }, tasks: { "action://cart/contents": () => null } });
    const offer = offerTools(bridge, document.modelContext);
    await offer.ready;
    Object.assign(window, { bridge, offer });
    return { isSupported: offer.isSupported, tools: offer.tools };
  };
  window.tool = async (name) => (await document.modelContext.getTools()).find((each) => each.name === name);
  window.call = async (name, input, options) => document.modelContext.executeTool(await tool(name), input, options);
  document.title = "ready";
</script>
"""


@unittest.skipIf(browser.NAME != "chromium", "only Chromium has WebMCP")
class WebMCPTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.site = PageServer({"/": PAGE})
        cls.addClassCleanup(cls.site.stop)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        policy = Path(folder.name, "policy.json")
        policy.write_text(json.dumps(POLICY))
        cls.server = DemoServer(arguments=("serve", "--table", str(TABLE), "--policy", str(policy), "--allow-origin", cls.site.origin))
        cls.addClassCleanup(cls.server.stop)

    def open(self, driver):
        driver.get(f"{self.site.origin}/")
        self.driver = driver
        self.wait("document.title === 'ready'")
        return self.run_script(f"return start('ws://127.0.0.1:{self.server.port}/bridge')")

    def run_script(self, body):
        return self.driver.execute_script(f"return (async () => {{ {body} }})()")

    def wait(self, condition):
        return self.driver.execute_async_script(
            f"const [done] = arguments; const look = () => (({condition}) ? done(true) : setTimeout(look, 20)); look();"
        )

    def test_agent_finds_and_calls_the_tools(self):
        driver = Chromium(features=("WebMCP",))
        self.addCleanup(driver.quit)
        driver.set_script_timeout(30)
        # The policy denies cancelOrder, and nobody serves the others.
        tools = ["addressList", "share", "cartAdd", "location"]
        self.assertEqual({"isSupported": True, "tools": tools}, self.open(driver))

        with self.subTest("descriptions"):
            found = self.run_script("return (await document.modelContext.getTools()).map(({ name, title, description, inputSchema, annotations }) =>"
                                    " ({ name, title, description, inputSchema, annotations }))")
            self.assertEqual(sorted(tools), sorted(each["name"] for each in found))
            (add,) = [each for each in found if each["name"] == "cartAdd"]
            self.assertEqual("Add to the cart", add["title"])
            self.assertEqual("Puts products into the cart and tells everybody in the session.", add["description"])
            self.assertEqual((["sku"], False, ["count", "sku"]), (add["inputSchema"]["required"], add["inputSchema"]["additionalProperties"], sorted(add["inputSchema"]["properties"])))
            self.assertEqual([False, True], [each["annotations"]["readOnlyHint"] for each in (add, *(each for each in found if each["name"] == "location"))])

        with self.subTest("task"):
            result = json.loads(self.run_script("return call('share', { title: 'Tea' })"))
            self.assertEqual({"content": [{"type": "text", "text": '{"shared":true,"channel":"Tea"}'}], "structuredContent": {"shared": True, "channel": "Tea"}}, result)

        with self.subTest("page"):
            result = json.loads(self.run_script("return call('addressList', {})"))
            self.assertEqual("Kyoto", result["structuredContent"]["city"])

        with self.subTest("error"):
            result = json.loads(self.run_script("return call('share', { title: 7 })"))
            self.assertEqual(True, result["isError"])
            self.assertRegex(result["content"][0]["text"], "Change the arguments, then call again")
            result = json.loads(self.run_script("return call('cartAdd', { sku: 'mug' })"))
            self.assertEqual({"content": [{"type": "text", "text": "Sold out."}], "isError": True}, result)

        with self.subTest("clients that join and leave"):
            self.run_script("window.other = join()")
            self.wait("offer.tools.includes('cartContents')")
            self.assertIsNotNone(self.run_script("return await tool('cartContents') ?? null"))
            self.run_script("await other.close()")
            self.wait("!offer.tools.includes('cartContents')")

        with self.subTest("cancel"):
            stopped = self.run_script(
                "const abort = new AbortController(); setTimeout(() => abort.abort(), 100);"
                " return call('location', {}, { signal: abort.signal }).then(() => 'done', ({ name }) => name)"
            )
            self.assertEqual(["AbortError", True], [stopped, self.run_script("return cancelled")])

        with self.subTest("change of the table"):
            self.run_script("await bridge.request('table.update', { operations: [{ op: 'remove', route: 'share' }] })")
            self.wait("!offer.tools.includes('share')")
            self.assertIsNone(self.run_script("return await tool('share') ?? null"))
            self.assertIsNotNone(self.run_script("return await tool('cartAdd') ?? null"))

        with self.subTest("stop"):
            self.run_script("offer.stop()")
            self.assertEqual([], self.run_script("return (await document.modelContext.getTools()).map(({ name }) => name)"))
        self.assertEqual([], driver.errors())

    def test_page_works_without_webmcp(self):
        driver = shared_browser()
        driver.open_tab((800, 600))
        self.assertEqual({"isSupported": False, "tools": []}, self.open(driver))
        self.assertEqual(True, self.run_script("return (await bridge.invoke('action://share', { title: 'Tea' })).shared"))


if __name__ == "__main__":
    unittest.main()
