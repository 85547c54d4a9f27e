"""The React page of web/docs/frameworks.md, built with esbuild from the packed npm package, in StrictMode and with React's checks."""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

from browser import BrowserCase, save_screenshot
from demo_server import DemoServer
from phone import Phone

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Readme"))
from readme import files  # noqa: E402

DEBIAN = Path("/usr/share/nodejs")
GUIDE = files(ROOT / "web/docs/frameworks.md")
POLICY = {"rules": [{"name": "all", "allow": ["*"]}]}

# Records the messages that a page sends.
RECORDER = """
window.sent = [];
window.WebSocket = class extends WebSocket {
  send(text) { window.sent.push(JSON.parse(text)); super.send(text); }
};
"""

# The kinds of the hosts that a page has registered, with its session or later.
REGISTERED = """
return (window.sent ?? []).flatMap(({ method, params }) => (["session.open", "host.register"].includes(method) ? params.hosts ?? [] : []))
  .map(({ kind }) => kind);
"""

PUSH = """
const [params, done] = arguments;
import("/bridge/bridge.js").then(async ({ Bridge }) => {
  const backEnd = new Bridge({ keep: "nothing" });
  const result = await backEnd.request("session.push", { to: { all: true }, method: "event", params });
  await backEnd.close();
  return result;
}).then(done, (error) => done({ failed: String(error) }));
"""

# More components that use the topic and the page.
COUNTED = """
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { BridgeProvider, useEvent, useLatestEvent, usePage } from "waybridge/react";
import { bridge } from "./bridge.js";
import { OrderPage } from "./order.jsx";

window.heard = [];
function Others() {
  const { params } = usePage();
  useLatestEvent("stock.changed");
  useEvent("stock.changed", ({ data }) => window.heard.push(`${params.id}: ${data.count}`));
  return null;
}
createRoot(document.querySelector("#root")).render(
  <StrictMode><BridgeProvider client={bridge}><OrderPage /><Others /></BridgeProvider></StrictMode>,
);
"""

HOST = """
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { BridgeProvider } from "waybridge/react";
import { bridge } from "./bridge.js";
import { Shell } from "./shell.jsx";

window.bridge = bridge;
createRoot(document.querySelector("#root")).render(<StrictMode><BridgeProvider client={bridge}><Shell /></BridgeProvider></StrictMode>);
"""

# What a TypeScript project with the types of React itself compiles.
TYPED = """
import type { ReactNode } from "react";
import { BridgeProvider, createHooks } from "waybridge/react";
import { Bridge } from "waybridge";

type Routes = { pages: {}; tasks: { "service://now": { params: {}; result: number } }; topics: { "cart.changed": { count: number } } };
const { useResult, useLatestEvent, useSession } = createHooks<Routes>();
function Clock(): JSX.Element {
  const now = useResult("service://now");
  return <p title={useSession().state}>{now.status === "success" ? now.result.toFixed() : useLatestEvent("cart.changed")?.data.count}</p>;
}
export const page: ReactNode = <BridgeProvider client={new Bridge<Routes>({ url: null })}><Clock /></BridgeProvider>;
// @ts-expect-error a property that it does not have
export const wrong: ReactNode = <BridgeProvider bridge={new Bridge()} />;
"""


class ReactTest(BrowserCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        packed = cls.run_in(ROOT / "web", "node", "pack.js", str(cls.folder))
        modules = cls.folder / "node_modules"
        with tarfile.open(packed) as package:
            package.extractall(modules)
        (modules / "package").rename(modules / "waybridge")
        (modules / "@types").mkdir()
        for name in ("react", "react-dom", "@types/react"):
            (modules / name).symlink_to(DEBIAN / name)
        (cls.folder / "package.json").write_text('{ "private": true, "type": "module" }')
        for name, text in GUIDE.items():
            cls.write(name, text)
        cls.write("src/counted.jsx", COUNTED)
        cls.write("src/host.jsx", HOST)
        cls.write("web/recorder.js", RECORDER)
        cls.write("policy.json", json.dumps(POLICY))

    @classmethod
    def write(cls, name, text):
        path = cls.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    @classmethod
    def run_in(cls, folder, *command):
        environment = {**os.environ, "NODE_PATH": str(DEBIAN)}
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=environment)
        if done.returncode:
            raise AssertionError(done.stdout)
        return done.stdout.strip()

    def record(self):
        """Records what the page of the guide sends."""
        page = GUIDE["web/order.html"]
        self.write("web/order.html", page.replace("<div", '<script src="/recorder.js"></script>\n<div'))
        self.addCleanup(self.write, "web/order.html", page)

    def build(self, main, path="/"):
        """Builds the page with esbuild, and loads the app shell of the guide, or another path."""
        self.run_in(self.folder, "esbuild", main, "--bundle", "--jsx=automatic", "--outfile=web/order.js", "--log-level=warning")
        self.server = DemoServer(arguments=("serve", "--web", str(self.folder / "web"), "--policy", str(self.folder / "policy.json")))
        self.addCleanup(self.server.stop)
        self.driver.get(self.server.address + path)
        self.phone = Phone(self.driver)

    def press(self, text):
        self.phone.wait(lambda: [each for each in self.driver.find_elements("tag name", "button") if each.text == text], text)[0].click()

    def press_in_page(self, text):
        self.in_page(lambda: self.press(text))

    def in_page(self, body):
        frame = self.phone.wait(lambda: self.driver.find_elements("tag name", "iframe"), "the frame")[0]
        self.driver.switch_to.frame(frame)
        try:
            return body()
        finally:
            self.driver.switch_to.default_content()

    def wait_for_page(self, *lines):
        """Waits until the page shows the lines."""
        def shown():
            body = self.driver.find_elements("tag name", "body")
            return body and all(line in body[0].text for line in lines)

        self.in_page(lambda: self.phone.wait(shown, " | ".join(lines)))

    def push(self, count):
        """Publishes an event in all sessions, as a back-end."""
        result = self.driver.execute_async_script(PUSH, {"topic": "stock.changed", "data": {"count": count}})
        self.assertEqual(0, result["failed"])

    def sent(self):
        """The requests that the page has sent, except those of the session."""
        names = self.in_page(lambda: self.driver.execute_script("return window.sent"))
        return [each for each in names if "id" in each and "method" in each and not each["method"].startswith(("session.", "$/"))]

    def test_double_effects_send_no_request_twice(self):
        self.record()
        self.build("src/counted.jsx")
        self.press("Open order 7")
        self.wait_for_page("Connection: open", "Order 7", "Total: 84")
        self.in_page(lambda: self.phone.wait(lambda: len(self.driver.execute_script("return window.sent")) >= 5, "the requests"))
        self.assertEqual(
            ["events.subscribe", "events.subscribe", "navigation.contains", "router.invoke"],
            sorted(each["method"] for each in self.sent()),
        )
        topics = [each["params"]["topics"] for each in self.sent() if each["method"] == "events.subscribe"]
        self.assertEqual([["page.closed", "page.resumed", "page.visibility"], ["stock.changed"]], sorted(topics))
        self.push(3)
        self.wait_for_page("In stock: 3")
        self.press("Show order 8")
        self.wait_for_page("Order 8", "Total: 96")
        self.push(4)
        self.wait_for_page("In stock: 4")
        self.assertEqual(["7: 3", "8: 4"], self.in_page(lambda: self.driver.execute_script("return window.heard")))
        self.check_console()

    def test_component_hosts_pages_and_tasks(self):
        self.record()
        self.build("src/host.jsx", "/order.html")
        self.phone.wait(lambda: len(self.driver.execute_script(REGISTERED)) >= 2, "the hosts")
        greeting = "return bridge.invoke('action://greet', { name: 'Ada' })"
        self.assertEqual("Hello, Ada", self.driver.execute_script(greeting))
        self.driver.execute_script("bridge.open('native://address/a2').then(({ data }) => (document.title = data.city))")
        self.phone.wait(lambda: "Address a2" in self.driver.find_element("tag name", "body").text, "the page")
        self.press("Choose")
        self.phone.wait(lambda: self.driver.title == "Kyoto", "the address")
        self.assertEqual([], self.driver.find_elements("tag name", "dialog"))
        self.assertEqual(["page", "task"], sorted(self.driver.execute_script(REGISTERED)))
        self.assertNotIn("host.unregister", self.driver.execute_script("return window.sent.map(({ method }) => method)"))
        self.check_console()

    def test_page_of_the_guide_pays_and_returns_its_result(self):
        self.build("src/main.jsx")
        self.press("Open order 7")
        self.wait_for_page("Connection: open", "Order 7", "Total: 84")
        self.press_in_page("Pay")
        self.wait_for_page("Waiting for the confirmation")
        save_screenshot(self.driver, "react-payment")
        self.press_in_page("Cancel")
        self.wait_for_page("The payment was cancelled.")
        self.press_in_page("Pay")
        self.press("Confirm the payment")
        self.press_in_page("Done")
        self.phone.wait(lambda: self.driver.find_element("tag name", "output").text == "finished R7", "the result")
        self.assertEqual([], self.driver.find_elements("tag name", "iframe"))
        self.check_console()

    def test_types_of_the_package_match_those_of_react(self):
        self.write("typed.tsx", TYPED)
        options = ["--strict", "--noEmit", "--skipLibCheck", "--jsx", "react-jsx", "--target", "es2022", "--moduleResolution", "node"]
        self.run_in(self.folder, "tsc", *options, "typed.tsx")


if __name__ == "__main__":
    unittest.main()
