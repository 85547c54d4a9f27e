"""A web project of its own: the packed npm package and calls generated from the demo's table, compiled, in a browser."""

import functools
import json
import os
import subprocess
import tarfile
import tempfile
import threading
import unittest
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from browser import BrowserCase
from demo_server import DemoServer
from phone import Phone

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("WAYBRIDGE", "waybridge")

PAGE = """<!doctype html>
<title>Typed</title>
<script type="importmap">
  { "imports": { "waybridge": "/node_modules/waybridge/dist/bridge.js", "waybridge/": "/node_modules/waybridge/dist/" } }
</script>
<script type="module" src="/out/main.js"></script>
"""

PROGRAM = """
import { Bridge } from "waybridge";
import { routes, table } from "./routes.js";
import type { Address, Cart, Money, Routes } from "./routes.js";

const url = new URLSearchParams(location.search).get("bridge") ?? "";
const seen: unknown[] = [];
// A native page of this project, done as soon as it is shown.
const bridge = new Bridge<Routes>({ url, table, hosts: { native: { open: () => {}, close: () => {} } } });
const kyoto: Address = { id: "a2", name: "Mira", street: "Teramachi 5", city: "Kyoto" };
const heard = new Promise<Cart>((resolve) => {
  bridge.addEventListener("cart.changed", ({ detail }) => resolve(detail.data));
});
const opened = await bridge.open(routes.address, { id: "a/2" }, {
  onProgress: ({ opened }) => { void bridge.finish(kyoto, { page: opened?.page }); },
});
seen.push(opened.outcome, opened.outcome === "finished" && opened.data?.city);
const { lines }: Cart = await bridge.invoke(routes.cartAdd, { sku: "trail-mug", count: 2 });
seen.push(lines.map(({ sku, count }) => [sku, count]), (await heard).lines.length);
const price: Money = await bridge.invoke(routes.quote, { sku: "trail-mug" });
seen.push(price.currency);
// @ts-expect-error a parameter that the route does not have
const code: number = await bridge.invoke(routes.cartAdd, { sku: "trail-mug", cuont: 2 }).catch(({ code }) => code);
seen.push(code);
document.title = JSON.stringify(seen);
"""

OPTIONS = ["--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext", "--outDir", "out"]


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class GeneratedCallsTest(BrowserCase):
    def run_in(self, folder, *command):
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(0, done.returncode, done.stdout)
        return done.stdout.strip()

    def project(self):
        """The folder of a project that has the package installed and its routes generated, compiled."""
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = Path(temporary.name)
        tarball = self.run_in(ROOT / "web", "node", "pack.js", str(folder))
        with tarfile.open(tarball) as package:
            package.extractall(folder / "node_modules")
        (folder / "node_modules/package").rename(folder / "node_modules/waybridge")
        table = str(ROOT / "protocol/routes/demo.json")
        self.run_in(folder, BINARY, "routes", "generate", table, "--language", "typescript", "--output", ".")
        (folder / "package.json").write_text('{ "private": true, "type": "module" }')
        (folder / "main.ts").write_text(PROGRAM)
        (folder / "index.html").write_text(PAGE)
        self.run_in(folder, "tsc", *OPTIONS, "main.ts", "routes.ts")
        return folder

    def test_generated_calls_match_their_types_in_browser(self):
        handler = functools.partial(QuietHandler, directory=str(self.project()))
        site = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(site.server_close)
        self.addCleanup(site.shutdown)
        origin = f"http://localhost:{site.server_port}"
        server = DemoServer(arguments=("demo", "--allow-origin", origin))
        self.addCleanup(server.stop)
        self.driver.get(f"{origin}/?bridge=ws://127.0.0.1:{server.port}/bridge")
        title = Phone(self.driver).wait(lambda: self.driver.title.startswith("[") and self.driver.title, "the page's end")
        self.assertEqual(["finished", "Kyoto", [["trail-mug", 2]], 1, "EUR", 2422], json.loads(title))


if __name__ == "__main__":
    unittest.main()
