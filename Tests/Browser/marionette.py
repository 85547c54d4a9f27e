"""Firefox's own WebDriver protocol, Marionette, for Selenium: Debian has no geckodriver, which would translate WebDriver to it."""

import json
import socket

from selenium.webdriver.remote.command import Command

# The commands of Selenium that have another name than `WebDriver:` and their own name with an upper-case letter.
NAMES = {
    Command.GET: "Navigate",
    Command.GO_BACK: "Back",
    Command.GO_FORWARD: "Forward",
    Command.CLOSE: "CloseWindow",
    Command.W3C_GET_CURRENT_WINDOW_HANDLE: "GetWindowHandle",
    Command.W3C_GET_WINDOW_HANDLES: "GetWindowHandles",
    Command.W3C_GET_ACTIVE_ELEMENT: "GetActiveElement",
    Command.GET_CURRENT_URL: "GetCurrentURL",
    Command.W3C_EXECUTE_SCRIPT: "ExecuteScript",
    Command.W3C_EXECUTE_SCRIPT_ASYNC: "ExecuteAsyncScript",
    Command.FIND_CHILD_ELEMENT: "FindElement",
    Command.FIND_CHILD_ELEMENTS: "FindElements",
    Command.CLICK_ELEMENT: "ElementClick",
    Command.CLEAR_ELEMENT: "ElementClear",
    Command.SEND_KEYS_TO_ELEMENT: "ElementSendKeys",
    Command.GET_ELEMENT_VALUE_OF_CSS_PROPERTY: "GetElementCSSValue",
    Command.GET_ELEMENT_ARIA_ROLE: "GetComputedRole",
    Command.GET_ELEMENT_ARIA_LABEL: "GetComputedLabel",
    Command.SCREENSHOT: "TakeScreenshot",
    Command.W3C_ACTIONS: "PerformActions",
    Command.W3C_CLEAR_ACTIONS: "ReleaseActions",
}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Marionette:
    """A connection in place of Selenium's `RemoteConnection`."""

    def __init__(self, port, timeout):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout)
        self._stream = self._socket.makefile("rb")
        self._last_id = 0
        self._receive()  # its name and version

    def close(self):
        self._stream.close()
        self._socket.close()

    def _receive(self):
        """Receives a message, which begins with its length: `12:[1,1,null,{}]`."""
        length = b""
        while (byte := self._stream.read(1)) != b":":
            if not byte:
                raise ConnectionError("Firefox has closed the connection")
            length += byte
        return json.loads(self._stream.read(int(length)))

    def call(self, name, params):
        """Sends a command; returns its error and its result, one of which is `None`."""
        self._last_id += 1
        text = json.dumps([0, self._last_id, name, params])
        self._socket.sendall(f"{len(text)}:{text}".encode())
        while True:
            _, number, error, result = self._receive()
            # The response to an earlier command, which has timed out, can precede it.
            if number == self._last_id:
                return error, result

    def execute(self, command, params):
        """Runs a command of Selenium; returns the response that a driver would send."""
        params = {name: value for name, value in (params or {}).items() if name != "sessionId"}
        if command == Command.QUIT:
            return {"value": None}
        if command == Command.NEW_SESSION:
            params = params["capabilities"]["alwaysMatch"] | params["capabilities"]["firstMatch"][0]
        elif command in (Command.FIND_CHILD_ELEMENT, Command.FIND_CHILD_ELEMENTS):
            params["element"] = params.pop("id")
        elif command == Command.SWITCH_TO_FRAME and isinstance(params["id"], dict):
            params = {"element": params["id"][ELEMENT]}
        error, result = self.call(f"WebDriver:{NAMES.get(command, command[0].upper() + command[1:])}", params)
        if error is not None:
            return {"status": 500, "value": json.dumps({"value": error})}
        return {"value": result["value"] if isinstance(result, dict) and result.keys() == {"value"} else result}
