"""web/docs/frameworks.md: its files for Vue and Svelte with a mocked app. Tests/Browser has those for React."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from readme import ROOT, files

sys.path.insert(0, str(ROOT / "Tests/Command"))
import pypi  # noqa: E402

GUIDE = files(ROOT / "web/docs/frameworks.md")

# In place of the guide's bridge.js: a page of a mocked app, in which the page itself runs.
BRIDGE = f"""
import {{ mockBridge }} from "{ROOT}/web/bridge/mock.js";
let task;
export const running = () => task;
export const shell = mockBridge(
  {{ tasks: {{ "action://pay/:id": (params, call) => new Promise((resolve, reject) => {{
    task = {{ params, call, resolve, reject }};
    call.signal.addEventListener("abort", reject);
  }}) }} }},
  {{ hosts: {{ web: {{ patterns: ["web://order/:id"], open: () => {{}}, close: () => {{}} }} }} }},
);
const id = await new Promise((resolve) => shell.open("web://order/:id", {{ id: "7" }}, {{ onProgress: ({{ opened }}) => resolve(opened.page) }}).catch(() => {{}}));
export const pageID = id;
export const bridge = shell.guest(await shell.invite("https://shop.example/", {{ page: id }}));
"""

# What both programs do. `value` reads a ref or a store; `end` ends the component.
STORY = """
import assert from "node:assert/strict";
import { bridge, pageID, running, shell } from "./bridge.js";
const until = async (condition) => { while (!condition()) await new Promise(setImmediate); };
const requests = (method) => shell.app.calls.filter((each) => each.method === method).length;
export async function story({ value, session, page, stock, other, call, run, cancel, end }) {
  await until(() => value(session)?.state === "open" && value(page) !== null);
  assert.deepEqual([value(session).session.page, value(page).params], [pageID, { id: "7" }]);
  await until(() => requests("events.subscribe") === 1);
  shell.app.publish("stock.changed", { count: 3 });
  await until(() => value(stock)?.data.count === 3 && value(other)?.data.count === 3);
  shell.open("web://order/:id", { id: "7", tab: "2" }, { style: "popTo" }).catch(() => {});
  await until(() => value(page).params.tab === "2");
  assert.equal(value(call).status, "idle");
  run({ id: "7" });
  assert.equal(value(call).status, "pending");
  await until(() => running());
  running().call.progress("half");
  await until(() => value(call).progress === "half");
  cancel();
  await until(() => value(call).status === "cancelled");
  run({ id: "8" });
  await until(() => running().params.id === "8");
  running().resolve({ receipt: "R8" });
  await until(() => value(call).status === "success");
  assert.deepEqual(value(call).result, { receipt: "R8" });
  run({ n: NaN });
  await until(() => value(call).status === "error");
  assert.equal(value(call).error.code, -32602);
  run({ id: "9" });
  await until(() => running().params.id === "9");
  await end();
  await until(() => requests("events.unsubscribe") === 1);
  assert.equal(requests("events.subscribe"), 1);
  const before = requests("navigation.contains");
  shell.open("web://order/:id", { id: "7", tab: "3" }, { style: "popTo" }).catch(() => {});
  await bridge.request("$/ping");
  assert.equal(requests("navigation.contains"), before);
  await Promise.all([bridge.close(), shell.close()]);
  console.log("done");
}
"""

VUE = """
import { effectScope } from "vue";
import { bridge, running } from "./bridge.js";
import { useCall, useLatestEvent, usePage, useSession } from "./waybridge-vue.js";
import { story } from "./story.js";
const scope = effectScope();
const used = scope.run(() => ({
  session: useSession(), page: usePage(), stock: useLatestEvent("stock.changed"), other: useLatestEvent("stock.changed"),
  ...useCall((params, options) => bridge.invoke("action://pay/:id", params, options)),
}));
const end = async () => {
  scope.stop();
  while (!running().call.signal.aborted) await new Promise(setImmediate);
};
await story({ value: ({ value }) => value, ...used, end });
"""

# The scripts of a component, as Vue's compiler needs them, and its template, compiled.
COMPONENT = """
import { compile } from "vue";
import { readFileSync } from "node:fs";
const faults = [];
console.warn = console.error = (...words) => faults.push(words.join(" "));
const [, template] = /<template>(.*)<\\/template>/s.exec(readFileSync(process.argv[2], "utf8"));
if (typeof compile(template) !== "function" || faults.length > 0) throw new Error(faults.join("\\n"));
"""

# Vue's file for browsers, as a module.
VUE_MODULE = """
import { readFileSync } from "node:fs";
const Vue = new Function(`${readFileSync(new URL("vue.global.js", import.meta.url), "utf8")}\\nreturn Vue;`)();
// A compiled template refers to it.
globalThis.Vue = Vue;
export const { compile, effectScope, onScopeDispose, shallowRef, version } = Vue;
"""

# What the guide uses of svelte/store, after its documentation: a store begins with its first subscriber and ends with its last one.
SVELTE_STORE = """
export function writable(value, start = () => {}) {
  const subscribers = new Set();
  let stop;
  const set = (next) => {
    value = next;
    for (const subscriber of [...subscribers]) subscriber(value);
  };
  return {
    set,
    subscribe(subscriber) {
      subscribers.add(subscriber);
      if (subscribers.size === 1) stop = start(set) ?? (() => {});
      subscriber(value);
      return () => {
        subscribers.delete(subscriber);
        if (subscribers.size === 0) stop();
      };
    },
  };
}
export const readable = (value, start) => ({ subscribe: writable(value, start).subscribe });
"""

SVELTE = """
import { bridge } from "./bridge.js";
import { createCall, latestEvent, page, session } from "./waybridge-svelte.js";
import { story } from "./story.js";
const values = new Map();
const payment = createCall((params, options) => bridge.invoke("action://pay/:id", params, options));
const used = { session, page, stock: latestEvent("stock.changed"), other: latestEvent("stock.changed"), call: payment };
const unsubscribes = Object.values(used).map((store) => store.subscribe((value) => values.set(store, value)));
await story({ value: (store) => values.get(store), ...used, run: payment.run, cancel: payment.cancel, end: () => unsubscribes.forEach((each) => each()) });
"""


class FrameworksTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.write("package.json", '{ "type": "module" }')
        for name, text in {**GUIDE, "src/bridge.js": BRIDGE, "src/story.js": STORY}.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def node(self, *words):
        done = subprocess.run(["node", *words], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return done.stdout

    def script(self, name):
        """Checks the script of a component, as far as this is possible without its compiler."""
        text = re.search(r"<script.*?>(.*?)</script>", GUIDE[name], re.S)[1]
        self.write("script.mjs", text)
        self.node("--check", "script.mjs")
        found = set(re.findall(r"export (?:const|function) (\w+)", GUIDE[name.replace("Order.", "waybridge-") + ".js"]))
        used = set(re.search(r"import \{ ([^}]*) \} from \"./waybridge-", text)[1].split(", "))
        self.assertLessEqual(used, found)

    def test_vue_composables_run_and_template_compiles(self):
        environment, reason = pypi.installed("--no-deps", "trame-client")
        self.assertIsNotNone(environment, reason)
        vue = next(environment.glob("lib/*/site-packages/trame_client/module/vue3-www/vue.global.js"))
        self.write("node_modules/vue/package.json", '{ "type": "module", "exports": "./index.js" }')
        self.write("node_modules/vue/index.js", VUE_MODULE)
        self.write("node_modules/vue/vue.global.js", vue.read_text())
        self.write("src/main.js", VUE)
        self.assertEqual("done\n", self.node("src/main.js"))
        self.script("src/Order.vue")
        self.write("component.js", COMPONENT)
        self.node("component.js", "src/Order.vue")

    def test_svelte_stores_run_with_a_stand_in(self):
        self.write("node_modules/svelte/package.json", '{ "type": "module", "exports": { "./store": "./store.js" } }')
        self.write("node_modules/svelte/store.js", SVELTE_STORE)
        self.write("src/main.js", SVELTE)
        self.assertEqual("done\n", self.node("src/main.js"))
        self.script("src/Order.svelte")


if __name__ == "__main__":
    unittest.main()
