"""The JavaScript client's own README: its blocks, in their order, are one program."""

import os
import signal
import subprocess
import tempfile
import unittest

from readme import ROOT, blocks, replaced

WAYBRIDGE = os.environ.get("WAYBRIDGE")
if not WAYBRIDGE:
    raise RuntimeError("WAYBRIDGE must hold the path of the waybridge executable")

README = "web/bridge/README.md"

BEFORE = """
import { createRequire } from "node:module";
globalThis.WebSocket = createRequire(import.meta.url)("/usr/share/nodejs/ws").WebSocket;
const show = (page) => console.log("show", page.uri);
const hide = (page, exts) => console.log("hide", page.uri, exts);
let address;
const load = (page, invited) => (address = invited);
const banner = (...words) => console.log("banner", ...words);
Object.assign(globalThis.navigator ??= {}, { share: ({ title }) => console.log("navigator.share", title) });
"""

# The page that was invited, once it is loaded.
WITHIN = """
while (address === undefined) await new Promise(setImmediate);
Object.assign(globalThis, { location: new URL(address), history: { replaceState() {} } });
const page = new Bridge({ bridges"""

AFTER = """
const { opened: { page: last } } = await new Promise((onProgress) => {
  shell.open("native://address/a2", {}, { onProgress }).catch(() => {});
});
await shell.finish(undefined, { page: last });
await page.finish("drunk");
console.log((await tea).data, page.session.guest);
await shell.stack();
await Promise.all([page.close(), shell.close(), outside.close()]);
"""

# Sorted, since what two connections hear has no order.
PRINTED = """\
show native://address/list
native://address/list at end
hide native://address/list { animated: false }
finished { id: 'a2', name: 'Home', street: 'Dock Road 1', city: 'Kyoto' }
show native://address/list
hide native://address/list {}
Oslo
RouteNotFoundError 2404 noRoute false
true true
navigator.share Tea
false []
true false
Kyoto
{ shared: 'Tea' } router.invoke
[ 'tea' ] [ { name: 'signedIn', open: true } ]
show native://address/a2
page.closed finished
hide native://address/a2 {}
page.closed finished
hide https://shop.example/tea.html {}
drunk true
banner over: 1000
banner closed undefined
"""


def lines(text):
    return sorted(line.strip() for line in text.splitlines())


class BridgeReadme(unittest.TestCase):
    maxDiff = None

    def test_code_blocks_form_a_program(self):
        server = subprocess.Popen([WAYBRIDGE, "demo", "--port", "0"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait, timeout=30)
        self.addCleanup(server.send_signal, signal.SIGTERM)
        address = server.stdout.readline().strip().removeprefix("listening on http://")
        sections = ["Host", "Invite", "Call", "Events and methods", "When the connection is lost", "Tools for agents", "Outside of the app", "In tests"]
        found = [block for section in sections for block in blocks(section, "js", README)]
        self.assertEqual(len(sections), len(found))
        program = replaced(
            BEFORE + "\n".join(found) + AFTER,
            [("127.0.0.1:8080", address), ("\nconst page = new Bridge({ bridges", WITHIN), ('"/bridge/bridge.js"', f'"{ROOT}/web/bridge/bridge.js"'),
             ('"/bridge/mock.js"', f'"{ROOT}/web/bridge/mock.js"'), ('"/bridge/webmcp.js"', f'"{ROOT}/web/bridge/webmcp.js"')],
        )
        with tempfile.NamedTemporaryFile("w", suffix=".mjs") as file:
            file.write(program)
            file.flush()
            done = subprocess.run(["node", file.name], capture_output=True, text=True, timeout=60)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(lines(PRINTED), lines(done.stdout))


if __name__ == "__main__":
    unittest.main()
