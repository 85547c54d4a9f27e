// @ts-check
import * as closeOf from "./close-codes.js";
import { codeOf, nextAfter } from "../codes.js";
import { bridgeError, textOf } from "../values/errors.js";

/**
 * How a connection closed.
 * @typedef {object} Close
 * @property {number} code
 * @property {string} reason
 * @property {unknown} [cause] the error that caused it
 * @property {boolean} [final] whether another connection would fail in the same way
 * @property {boolean} [isByApp] whether the app has closed the client
 * @property {boolean} [unopened] whether it ended before it was open
 * @property {boolean} [isClosed] whether the socket has reported its end, not only an error. A browser that does not allow a connection reports
 *   only an error
 */

/**
 * One WebSocket.
 * @typedef {object} Connection
 * @property {Promise<void>} ended resolves when the socket is closed
 * @property {(text: string) => boolean} send returns `false` if the socket is not open
 * @property {(close: Close) => void} close closes the connection for the given reason. A final close tells the server that this client leaves;
 *   a client that will reconnect closes with another code
 */

/** The subprotocol of the bridge. */
export const SUBPROTOCOL = "waybridge.v1";

/**
 * Opens a connection with three callbacks: `opened`, `received` for each message, and `closed`. `closed` is called exactly once, last, and never
 * before this function has returned.
 * @param {string} url
 * @param {import("../types/api.js").BridgeOptions["WebSocket"]} WebSocketClass
 * @param {object} callbacks
 * @param {() => void} callbacks.opened
 * @param {(data: unknown) => void} callbacks.received
 * @param {(close: Close) => void} callbacks.closed
 * @returns {Connection}
 */
export function connect(url, WebSocketClass, { opened, received, closed }) {
  /** @type {WebSocket | undefined} */
  let socket;
  let isOpen = false;
  let isOver = false;
  // The message of an `error` event. The close event that follows has no reason.
  let failure = "";
  /** @type {Close | undefined} the end that an `error` event has reported */
  let failed;
  let markEnded = () => {};
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => (markEnded = resolve));
  /** @param {Close} close */
  const end = (close) => {
    if (isOver) return;
    isOver = true;
    closed(close);
  };
  /** @param {Close} stated */
  const close = (stated) => {
    if (isOver) return;
    socket?.close(stated.final ? closeOf.normal : nextAfter(stated.code) === "resume" ? stated.code : closeOf.reconnecting);
    end(stated);
  };
  try {
    if (WebSocketClass === undefined) {
      throw bridgeError(codeOf.unavailable, `There is no WebSocket${globalThis.__waybridgeBrief ? "" : "; pass a class as the option WebSocket"}`, { kind: "unsupported" });
    }
    const made = (socket = new WebSocketClass(url, [SUBPROTOCOL]));
    made.addEventListener("open", () => {
      if (isOver) return;
      if (made.protocol !== SUBPROTOCOL) return close({ code: closeOf.normal, reason: `The server does not support ${SUBPROTOCOL}`, final: true });
      isOpen = true;
      opened();
    });
    made.addEventListener("message", ({ data }) => {
      if (!isOver) received(data);
    });
    made.addEventListener("error", (/** @type {any} */ { message }) => {
      if (typeof message === "string") failure = message;
      // Some implementations dispatch no close event for a connection that failed to open.
      if (isOpen) return;
      markEnded();
      end((failed = { code: 1006, reason: failure || "The connection failed", unopened: true }));
    });
    made.addEventListener("close", ({ code, reason }) => {
      markEnded();
      if (failed !== undefined) failed.isClosed = true;
      end({ code, reason: reason || failure, unopened: !isOpen, isClosed: true });
    });
  } catch (cause) {
    markEnded();
    queueMicrotask(() => end({ code: 1006, reason: textOf(cause), cause, unopened: true, final: true }));
  }
  const send = (/** @type {string} */ text) => {
    if (isOver || socket?.readyState !== 1) return false;
    socket.send(text);
    return true;
  };
  return { ended, send, close };
}
