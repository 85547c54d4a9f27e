"""WebKitGTK on a display of its own, driven by WebKitWebDriver."""

import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from selenium.common.exceptions import NoSuchFrameException, NoSuchWindowException, StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.options import ArgOptions
from selenium.webdriver.common.utils import free_port
from selenium.webdriver.remote.command import Command
from selenium.webdriver.remote.remote_connection import RemoteConnection
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.webkitgtk.service import Service

from tabs import COMMAND_TIMEOUT, TIMEOUT, Tabs

PROGRAM = Path(__file__).resolve().parent / "webkit_browser.py"
# Larger than every window of the tests.
SCREEN = "1600x1200x24"
# The beginning of a message of the console, such as "http://127.0.0.1/page.js:1:2: CONSOLE JS ERROR text".
MESSAGE = re.compile(r"^(?:\S*: )?CONSOLE (?:[A-Z]+ )?(LOG|INFO|DEBUG|WARN|ERROR) ", re.MULTILINE)
# What the console says about each page that is left, but stays in memory so that one can go back to it.
SUSPENDED = "WebSocket is closed due to suspension."
# The theme and the motion that the page prefers.
PREFERRED = "return [matchMedia('(prefers-color-scheme: dark)').matches, !matchMedia('(prefers-reduced-motion: reduce)').matches]"
# The text of an element. The driver itself joins the texts of boxes without a space.
TEXT = "return arguments[0].checkVisibility({ visibilityProperty: true }) ? arguments[0].innerText.trim() : ''"
# The driver does not scroll to an element that is partly visible in a box, and then cannot press it.
SCROLL = "arguments[0].scrollIntoView({ behavior: 'instant', block: 'nearest', inline: 'nearest' })"
SCROLLING = {Command.CLICK_ELEMENT, Command.CLEAR_ELEMENT, Command.SEND_KEYS_TO_ELEMENT}
# Notes that an element of a frame is clicked.
WATCH = "top.isClicked_ = false; arguments[0].addEventListener('click', () => { top.isClicked_ = true; }, { capture: true, once: true })"
LEFT = (NoSuchFrameException, NoSuchWindowException, StaleElementReferenceException)
ATTEMPTS = 4


def start_display():
    """Starts an X server without a screen; returns its process and its name."""
    readable, writable = os.pipe()
    command = ["Xvfb", "-displayfd", str(writable), "-screen", "0", SCREEN, "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=[writable], stderr=subprocess.DEVNULL)
    os.close(writable)
    with open(readable) as stream:
        number = stream.readline() if select.select([stream], [], [], TIMEOUT)[0] else ""
    if not number:
        stop(process)
        raise RuntimeError("Xvfb does not start")
    return process, f":{number.strip()}"


def wait_until(condition, what):
    end = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutException(f"waited for {what}")
        time.sleep(0.01)


def stop(process):
    process.terminate()
    try:
        process.wait(TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Options(ArgOptions):
    default_capabilities = {"browserName": "webkit"}

    def to_capabilities(self):
        return self._caps


class WebKit(Tabs, WebDriver):
    def __init__(self, dark=False, motion=False):
        self.prefer(dark, motion)
        # Processes of the browser can still write when it has ended.
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._console = Path(self._folder.name, "console")
        self._read = 0  # bytes of the console's messages
        self._ends = []
        self._processes = {}  # by tab
        # The elements of the current frame and of those around it, outermost first.
        self._frames = []
        try:
            self._start()
        except BaseException:
            self._stop()
            raise

    def _start(self):
        display, name = start_display()
        self._ends.append(lambda: stop(display))
        port = free_port()
        folders = {f"XDG_{kind}_HOME": self._folder.name for kind in ("CACHE", "CONFIG", "DATA")}
        environment = {**os.environ, **folders, "DISPLAY": name, "GDK_BACKEND": "x11", "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "1"}
        environment["WEBKIT_INSPECTOR_SERVER"] = f"127.0.0.1:{port}"
        # Without stdbuf, messages of the console would wait in a buffer.
        command = ["stdbuf", "--output=L", sys.executable, str(PROGRAM), self._folder.name]
        with self._console.open("wb") as console:
            self._process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=console, stderr=console, text=True)
        self._ends.append(lambda: stop(self._process))
        service = Service("/usr/bin/WebKitWebDriver", service_args=[f"--target=127.0.0.1:{port}"])
        service.start()
        self._ends.append(service.stop)
        options = Options()
        options.accept_insecure_certs = True
        RemoteConnection.set_timeout(COMMAND_TIMEOUT)
        super().__init__(service.service_url, options=options)

    def quit(self):
        try:
            super().quit()
        finally:
            self._stop()

    def _stop(self):
        while self._ends:
            self._ends.pop()()
        self._folder.cleanup()

    # Frames: the driver leaves all of them when the page on top changes its history, also in the middle of a command. So they are entered again.

    def execute(self, driver_command, params=None):
        if driver_command == Command.SWITCH_TO_FRAME:
            frames = [] if params["id"] is None else [*self._frames, params["id"]]
            result = self._execute_in_frame(driver_command, params) if frames else super().execute(driver_command, params)
            self._frames = frames
            return result
        if driver_command == Command.SEND_KEYS_TO_ELEMENT and not params["text"]:
            return {"value": None}  # the driver refuses an empty text
        if driver_command == Command.GET_ELEMENT_TEXT:
            driver_command, params = Command.W3C_EXECUTE_SCRIPT, {"script": TEXT, "args": [self.create_web_element(params["id"])]}
        if driver_command == Command.NEW_WINDOW:
            old = self._page_processes()
            result = super().execute(driver_command, params)
            self._processes[result["value"]["handle"]] = next(iter(self._page_processes() - old), None)
            return result
        if driver_command in (Command.SWITCH_TO_WINDOW, Command.GET):
            self._frames = []
        if driver_command in SCROLLING:
            self.execute(Command.W3C_EXECUTE_SCRIPT, {"script": SCROLL, "args": [self.create_web_element(params["id"])]})
        if not self._frames:
            return super().execute(driver_command, params)
        if driver_command == Command.CLICK_ELEMENT:
            return self._click_in_frame(params)
        return self._execute_in_frame(driver_command, params)

    def _page_processes(self):
        """The processes of pages: the children of the browser with this name."""
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text()
            except OSError:
                continue  # the process has just ended
            name, _, others = fields.rpartition(") ")
            if name.endswith("(WebKitWebProces") and others.split()[1] == str(self._process.pid):
                found.add(int(folder.name))
        return found

    def _execute_in_frame(self, command, params, is_done=lambda: False):
        """Runs a command in the current frame; again, if the driver has left the frame and the command is not done."""
        is_entered = True
        for _ in range(ATTEMPTS):
            try:
                if not is_entered:
                    self._enter_frames()
                return super().execute(command, params)
            except LEFT as error:
                left = error
            is_entered = False
            super().execute(Command.SWITCH_TO_FRAME, {"id": None})
            if is_done():
                return {"value": None}
        raise left

    def _enter_frames(self):
        super().execute(Command.SWITCH_TO_FRAME, {"id": None})
        for frame in self._frames:
            super().execute(Command.SWITCH_TO_FRAME, {"id": frame})

    def _click_in_frame(self, params):
        self._execute_in_frame(Command.W3C_EXECUTE_SCRIPT, {"script": WATCH, "args": [self.create_web_element(params["id"])]})
        is_clicked = {"script": "return top.isClicked_", "args": []}
        execute = super().execute
        return self._execute_in_frame(Command.CLICK_ELEMENT, params, lambda: execute(Command.W3C_EXECUTE_SCRIPT, is_clicked)["value"])

    def _send(self, message):
        self._process.stdin.write(f"{json.dumps(message)}\n")
        self._process.stdin.flush()

    def show(self, size, dark):
        self.set_window_rect(0, 0, *size)
        self._send({"gtk-application-prefer-dark-theme": dark, "gtk-enable-animations": self._motion})
        wait_until(lambda: self.execute_script(PREFERRED) == [dark, self._motion], "the page's theme and motion")

    def save_screenshot(self, filename):
        """Saves what the window shows. The driver would wait for the next frame, and without a graphics card there is none."""
        picture = Path(self._folder.name, "picture")
        self._send({"picture": str(picture)})
        wait_until(picture.exists, "the picture")
        shutil.move(picture, filename)
        return True

    def errors(self):
        # Whatever the page has written before is in the file when the page has responded.
        self.execute_script("")
        with self._console.open("rb") as console:
            console.seek(self._read)
            text = console.read()
        self._read += len(text)
        _, *parts = MESSAGE.split(text.decode(errors="replace"))
        messages = [message.strip() for level, message in zip(parts[::2], parts[1::2]) if level == "ERROR"]
        return [message for message in messages if not message.endswith(SUSPENDED)]

    def freeze(self):
        return self.stop_process(self._processes[self.current_window_handle])

    def set_online(self, _):
        return False
