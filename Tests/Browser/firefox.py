"""Headless Firefox. It supports WebDriver itself: its commands over Marionette, its events over WebDriver BiDi."""

import json
import subprocess
import tempfile
import time
from pathlib import Path

import websocket
from selenium.common.exceptions import JavascriptException, StaleElementReferenceException, WebDriverException
from selenium.webdriver.common.options import ArgOptions
from selenium.webdriver.remote.command import Command
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement

from marionette import Marionette
from tabs import COMMAND_TIMEOUT, TIMEOUT, Tabs

PREFERENCES = {"marionette.port": 0, "remote.prefs.recommended": True}
# Changes the colour scheme and the motion that pages prefer.
THEME = """
  Services.prefs.setIntPref("layout.css.prefers-color-scheme.content-override", arguments[0] ? 0 : 1);
  Services.prefs.setIntPref("ui.prefersReducedMotion", arguments[1] ? 0 : 1);
"""


# The process of the current tab.
PROCESS = "return gBrowser.selectedBrowser.browsingContext.currentWindowGlobal.osPid"
# The commands after which scripts run in another frame or tab.
SWITCHES = {Command.SWITCH_TO_FRAME, Command.SWITCH_TO_PARENT_FRAME, Command.SWITCH_TO_WINDOW}
# The errors of a removed element or frame.
STALE = ("no such node", "no such frame", "stale element reference")


def to_remote(value):
    """A value as BiDi writes it."""
    match value:
        case None:
            return {"type": "null"}
        case WebElement():
            return {"sharedId": value.id}
        case bool():
            return {"type": "boolean", "value": value}
        case int() | float():
            return {"type": "number", "value": value}
        case str():
            return {"type": "string", "value": value}
        case dict():
            return {"type": "object", "value": [[name, to_remote(each)] for name, each in value.items()]}
        case _:
            return {"type": "array", "value": [to_remote(each) for each in value]}


class Options(ArgOptions):
    default_capabilities = {"browserName": "firefox"}

    def to_capabilities(self):
        return self._caps


class Firefox(Tabs, WebDriver):
    def __init__(self, dark=False, motion=False):
        self.prefer(dark, motion)
        self._profile = tempfile.TemporaryDirectory()
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
        Path(self._profile.name, "user.js").write_text("".join(lines))
        self._log = tempfile.TemporaryFile("w+")
        command = ["firefox-esr", "--headless", "--no-remote", "--profile", self._profile.name, "--marionette"]
        command += ["--remote-debugging-port", "0", "--remote-allow-system-access"]
        self._process = subprocess.Popen(command, stdout=self._log, stderr=self._log)
        self._marionette = self._events = self._context = None
        try:
            self._connect()
        except BaseException:
            self._stop()
            raise

    def _connect(self):
        self._marionette = Marionette(int(self._port()), COMMAND_TIMEOUT)
        options = Options()
        options.accept_insecure_certs = True
        options.set_capability("webSocketUrl", True)
        super().__init__(self._marionette, options=options)
        self._events = websocket.create_connection(self.caps["webSocketUrl"], timeout=COMMAND_TIMEOUT, suppress_origin=True)
        self._last_id = 0
        self._errors = []
        self.call("session.subscribe", events=["log.entryAdded"])

    def _port(self):
        """The port, which the browser writes to the profile when it listens."""
        file = Path(self._profile.name, "MarionetteActivePort")
        end = time.monotonic() + TIMEOUT
        while not file.exists() or not file.read_text():
            if self._process.poll() is not None or time.monotonic() > end:
                self._log.seek(0)
                raise RuntimeError(f"Firefox does not listen:\n{self._log.read()}")
            time.sleep(0.05)
        return file.read_text()

    def quit(self):
        self._stop()

    def _stop(self):
        for connection in (self._events, self._marionette):
            if connection:
                connection.close()
        self._process.terminate()
        try:
            self._process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        self._profile.cleanup()

    def call(self, method, **params):
        """Sends a command of BiDi and returns its result; stores errors of the console that arrive meanwhile."""
        self._last_id += 1
        self._events.send(json.dumps({"id": self._last_id, "method": method, "params": params}))
        while True:
            message = json.loads(self._events.recv())
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self._errors.append(message["params"]["text"])
            if message.get("id") != self._last_id:
                continue
            if message["type"] == "success":
                return message["result"]
            kind = StaleElementReferenceException if message["error"] in STALE else WebDriverException
            raise kind(f"{method}: {message['error']}: {message['message']}")

    def execute(self, driver_command, params=None):
        if driver_command in SWITCHES:
            self._context = None
        return super().execute(driver_command, params)

    def execute_script(self, script, *args):
        """Runs the body of an asynchronous function with the page's own global object, unlike Marionette."""
        if self._context is None:
            reference = self._in_marionette("return window")
            self._context = next(iter(reference.values()))
        done = self.call(
            "script.callFunction",
            functionDeclaration=f"async function () {{ {script}\n }}",
            target={"context": self._context},
            arguments=[to_remote(each) for each in args],
            awaitPromise=True,
        )
        if done["type"] == "exception":
            raise JavascriptException(done["exceptionDetails"]["text"])
        return self._from_remote(done["result"])

    def _in_marionette(self, script, *args):
        return super().execute(Command.W3C_EXECUTE_SCRIPT, {"script": script, "args": args})["value"]

    def _in_browser(self, script, *args):
        """Runs a script with the rights of the browser itself."""
        self._marionette.call("Marionette:SetContext", {"value": "chrome"})
        try:
            return self._in_marionette(script, *args)
        finally:
            self._marionette.call("Marionette:SetContext", {"value": "content"})

    def _from_remote(self, remote):
        match remote["type"]:
            case "array":
                return [self._from_remote(each) for each in remote["value"]]
            case "object":
                return {name: self._from_remote(each) for name, each in remote["value"]}
            case "node":
                return self.create_web_element(remote["sharedId"])
            case _:
                return remote.get("value")

    def show(self, size, dark):
        self._in_browser(THEME, dark, self._motion)
        viewport = dict(zip(("width", "height"), size))
        self.call("browsingContext.setViewport", context=self.current_window_handle, viewport=viewport, devicePixelRatio=1)

    def errors(self):
        self.execute_script("")
        self.call("session.status")
        errors, self._errors = self._errors, []
        return errors

    def freeze(self):
        return self.stop_process(self._in_browser(PROCESS))

    def set_online(self, is_online):
        conditions = None if is_online else {"type": "offline"}
        self.call("emulation.setNetworkConditions", networkConditions=conditions, contexts=[self.current_window_handle])
        return True
