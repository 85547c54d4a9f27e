"""The browser in which the tests run: the environment's BROWSER is chromium, firefox or webkit."""

import atexit
import os
import unittest
from pathlib import Path

from selenium.common.exceptions import WebDriverException
from urllib3.exceptions import HTTPError

from chromium import Chromium
from firefox import Firefox
from webkit import WebKit

# The messages of browsers when a server cannot be reached or ends. A server that drains rejects handshakes with 503.
UNREACHED = (
    "ERR_CONNECTION_", "ERR_EMPTY_RESPONSE", "ERR_SOCKET_NOT_CONNECTED", "a connection to the server at ws://", "The connection to ws://",
    "failed: Connection closed before receiving a handshake response", "failed: Connection terminated unexpectedly",
    "failed: Could not connect to 127.0.0.1", "failed: Error receiving data", "failed: Error sending data", "Unexpected response code: 503",
)  # fmt: skip
BROWSERS = {"chromium": Chromium, "firefox": Firefox, "webkit": WebKit}
NAME = os.environ.get("BROWSER", "chromium")
# The folder for pictures. Without it there are none, since to draw them takes a tenth of the processor time of a test.
SCREENSHOTS = os.environ.get("SCREENSHOTS")

_driver = None


def shared_browser():
    """Returns the driver of the browser that all tests of this process share. Starts another one if the last one has ended."""
    global _driver
    if _driver is not None:
        try:
            _driver.window_handles
        except (WebDriverException, HTTPError, OSError):
            quit_browser()
    if _driver is None:
        _driver = BROWSERS[NAME]()
    return _driver


@atexit.register
def quit_browser():
    global _driver
    driver, _driver = _driver, None
    if driver is not None:
        driver.quit()


def save_screenshot(driver, name):
    """Saves a picture of what the browser shows, if the environment names a folder for pictures in SCREENSHOTS."""
    if SCREENSHOTS:
        Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        driver.save_screenshot(str(Path(SCREENSHOTS, f"{name}-{driver.name}.png")))


class BrowserCase(unittest.TestCase):
    """A test case with an empty tab."""

    size = (1280, 800)
    dark = False
    motion = False  # without motion, nothing moves under the pointer
    server_ends = False  # whether a test ends the server, so that connecting to it fails

    def setUp(self):
        self.driver = shared_browser()
        self.driver.prefer(self.dark, self.motion)
        self.driver.open_tab(self.size)

    def check_console(self):
        """Fails if the console has errors, other than those about a server that the test has ended."""
        errors = self.driver.errors()
        if self.server_ends:
            errors = [error for error in errors if not any(text in error for text in UNREACHED)]
        self.assertEqual(errors, [], "the browser's console has errors")
