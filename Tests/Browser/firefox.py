"""Headless Firefox, driven by WebDriver BiDi, which it speaks itself: Debian has no geckodriver."""

import base64
import json
import subprocess
import tempfile
import time
from pathlib import Path

import websocket
from selenium.common.exceptions import JavascriptException, NoSuchElementException, StaleElementReferenceException, WebDriverException
from selenium.webdriver.common.keys import Keys

PATIENCE = 30  # seconds
HELD = {Keys.SHIFT, Keys.CONTROL, Keys.ALT, Keys.META}
# What an element or frame is that has gone.
GONE = ("no such node", "no such frame", "stale element reference")


class Firefox:
    """So much of Selenium's WebDriver as the layout tests need; a profile and a process of its own."""

    name = "firefox"

    def __init__(self, dark, motion):
        self._profile = tempfile.TemporaryDirectory()
        preferences = {
            "layout.css.prefers-color-scheme.content-override": 0 if dark else 1,
            "ui.prefersReducedMotion": 0 if motion else 1,
        }
        lines = [f"user_pref({json.dumps(name)}, {value});\n" for name, value in preferences.items()]
        Path(self._profile.name, "user.js").write_text("".join(lines))
        self._log = tempfile.TemporaryFile("w+")
        command = ["firefox-esr", "--headless", "--no-remote", "--profile", self._profile.name]
        self._process = subprocess.Popen([*command, "--remote-debugging-port", "0"], stdout=self._log, stderr=self._log)
        self._socket = None
        try:
            self._connect()
        except BaseException:
            self.quit()
            raise

    def _connect(self):
        """The port is in the profile once the browser listens."""
        written = Path(self._profile.name, "WebDriverBiDiServer.json")
        end = time.monotonic() + PATIENCE
        while not written.exists() or not written.read_text():
            if self._process.poll() is not None or time.monotonic() > end:
                self._log.seek(0)
                raise RuntimeError(f"Firefox does not listen:\n{self._log.read()}")
            time.sleep(0.05)
        server = json.loads(written.read_text())
        url = f"ws://{server['ws_host']}:{server['ws_port']}/session"
        self._socket = websocket.create_connection(url, timeout=PATIENCE, suppress_origin=True)
        self._last_id = 0
        self._errors = []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        self._tab = self._context = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def quit(self):
        if self._socket:
            self._socket.close()
        self._process.terminate()
        self._process.wait(PATIENCE)
        self._log.close()
        self._profile.cleanup()

    def call(self, method, **params):
        """Sends a command and gives its result; keeps the errors of the console that come meanwhile."""
        self._last_id += 1
        self._socket.send(json.dumps({"id": self._last_id, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self._errors.append(message["params"]["text"])
            if message.get("id") != self._last_id:
                continue
            if message["type"] == "success":
                return message["result"]
            kind = StaleElementReferenceException if message["error"] in GONE else WebDriverException
            raise kind(f"{method}: {message['error']}: {message['message']}")

    # Tabs and frames

    def start_anew(self, size):
        """An empty tab of this size, without history, in place of the one that was open."""
        old = self._tab
        self._tab = self._context = self.call("browsingContext.create", type="tab")["context"]
        self.call("browsingContext.close", context=old)
        viewport = dict(zip(("width", "height"), size))
        self.call("browsingContext.setViewport", context=self._tab, viewport=viewport, devicePixelRatio=1)
        self.errors()

    def get(self, url):
        self._context = self._tab
        self.call("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    @property
    def switch_to(self):
        return self

    def frame(self, element):
        self._context = element.run("return this.contentWindow")

    def default_content(self):
        self._context = self._tab

    @property
    def active_element(self):
        return self.execute_script("return document.activeElement")

    # What is on the page

    def execute_script(self, body, *arguments, this=None, context=None):
        """Runs the body of a function; elements among the arguments and in its result are `Element`s, a window is its id."""
        done = self.call(
            "script.callFunction",
            functionDeclaration=f"function () {{ {body} }}",
            target={"context": context or self._context},
            this=to_remote(this),
            arguments=[to_remote(argument) for argument in arguments],
            awaitPromise=True,
        )
        if done["type"] == "exception":
            raise JavascriptException(done["exceptionDetails"]["text"])
        return self._from_remote(done["result"], context or self._context)

    def _from_remote(self, remote, context):
        match remote["type"]:
            case "array":
                return [self._from_remote(each, context) for each in remote["value"]]
            case "object":
                return {name: self._from_remote(each, context) for name, each in remote["value"]}
            case "node":
                return Element(self, context, remote["sharedId"])
            case "window":
                return remote["value"]["context"]
            case _:
                return remote.get("value")

    def find_elements(self, by, selector, within=None):
        find = {
            "css selector": "return [...(arguments[1] ?? document).querySelectorAll(arguments[0])]",
            "tag name": "return [...(arguments[1] ?? document).querySelectorAll(arguments[0])]",
            "xpath": """const found = document.evaluate(
                          arguments[0], arguments[1] ?? document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
                        return Array.from({ length: found.snapshotLength }, (_, at) => found.snapshotItem(at))""",
        }
        return self.execute_script(find[by], selector, within, context=within and within.context)

    def find_element(self, by, selector):
        found = self.find_elements(by, selector)
        if not found:
            raise NoSuchElementException(selector)
        return found[0]

    def save_screenshot(self, path):
        picture = self.call("browsingContext.captureScreenshot", context=self._tab)["data"]
        Path(path).write_bytes(base64.b64decode(picture))

    def errors(self):
        """The errors that the console has got since the last time."""
        self.execute_script("")
        errors, self._errors = self._errors, []
        return errors


class Element:
    def __init__(self, driver, context, shared_id):
        self.driver = driver
        self.context = context
        self.shared_id = shared_id

    def run(self, body, *arguments):
        """Runs the body of a function whose `this` is the element."""
        return self.driver.execute_script(body, *arguments, this=self, context=self.context)

    def find_elements(self, by, selector):
        return self.driver.find_elements(by, selector, self)

    def find_element(self, by, selector):
        return self.find_elements(by, selector)[0]

    @property
    def text(self):
        return self.run("return this.innerText.trim()")

    @property
    def tag_name(self):
        return self.run("return this.localName")

    def get_attribute(self, name):
        return self.run("return this.getAttribute(arguments[0])", name)

    def is_displayed(self):
        return self.run(
            """const { width, height } = this.getBoundingClientRect();
               return width > 0 && height > 0 && this.checkVisibility({ visibilityProperty: true, opacityProperty: true })"""
        )

    def click(self):
        """Presses the middle of the element, which nothing may cover."""
        cover = self.run(
            """this.scrollIntoView({ behavior: "instant", block: "nearest", inline: "nearest" });
               const { left, right, top, bottom } = this.getBoundingClientRect();
               const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
               return hit && this.contains(hit) ? null : hit?.outerHTML ?? "outside the window" """
        )
        if cover is not None:
            raise WebDriverException(f"the element is covered: {cover[:200]}")
        middle = {"type": "pointerMove", "x": 0, "y": 0, "origin": {"type": "element", "element": to_remote(self)}}
        press = [middle, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.driver.call(
            "input.performActions",
            context=self.context,
            actions=[{"type": "pointer", "id": "mouse", "actions": press}],
        )

    def send_keys(self, *texts):
        """Types where the element is, as a hand does; what is held is held to the end."""
        self.run("this.focus()")
        keys = [key for text in texts for key in text]
        pressed = [{"type": kind, "value": key} for key in keys for kind in (["keyDown"] if key in HELD else ["keyDown", "keyUp"])]
        released = [{"type": "keyUp", "value": key} for key in keys if key in HELD]
        self.driver.call(
            "input.performActions",
            context=self.context,
            actions=[{"type": "key", "id": "keyboard", "actions": [*pressed, *released]}],
        )


def to_remote(value):
    if isinstance(value, Element):
        return {"sharedId": value.shared_id}
    return {"type": "null"} if value is None else {"type": "string", "value": value}
