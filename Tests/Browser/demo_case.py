"""A test case with the demo open in a headless browser, in a session of its own."""

import os
from pathlib import Path

from browser import BrowserCase
from demo_server import DemoServer
from phone import Phone

SCREENSHOTS = Path(
    os.environ.get("SCREENSHOTS", Path(__file__).resolve().parents[2] / "screenshots")
)
# The messages of browsers about a server that has ended or drains. WebKit names the error of the socket after the address.
UNREACHED = (
    "WebSocket connection to 'ws://127.0.0.1:", "ERR_CONNECTION_", "ERR_EMPTY_RESPONSE", "ERR_SOCKET_NOT_CONNECTED", "a connection to the server at ws://",
    "The connection to ws://", "failed: Could not connect to 127.0.0.1", "failed: Connection terminated unexpectedly",
)  # fmt: skip


class DemoCase(BrowserCase):
    command = ("demo",)  # the command that starts the server
    server_ends = False  # whether a test ends the server, so that connecting to it fails

    @classmethod
    def setUpClass(cls):
        cls.server = DemoServer(arguments=cls.command)
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        super().setUp()
        self.phone = Phone(self.driver)
        self.open_demo()

    def tearDown(self):
        self.driver.switch_to.default_content()
        errors = self.driver.errors()
        if self.server_ends:
            errors = [error for error in errors if not any(text in error for text in UNREACHED)]
        self.assertEqual(errors, [], "the browser's console has errors")

    def open_demo(self):
        self.driver.get(f"{self.server.address}/demo/")
        self.phone.surface("native://home")
        self.phone.wait(
            lambda: self.driver.execute_script(
                "return document.getElementById('engine').dataset.state"
            )
            == "connected",
            "the Flutter view",
        )

    def open_shop(self):
        self.phone.press("native://home", "Outfitters")
        self.phone.surface("shop.html")

    def screenshot(self, name):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(SCREENSHOTS / f"{name}-{self.driver.name}.png"))
