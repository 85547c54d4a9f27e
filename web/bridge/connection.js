// @ts-check
import * as closeOf from "./closes.js";
import { codeOf, nextAfter } from "./codes.js";
import { bridgeError, textOf } from "./errors.js";

/**
 * How a connection ended.
 * @typedef {object} Close
 * @property {number} code
 * @property {string} reason
 * @property {unknown} [cause] the error behind it
 * @property {boolean} [final] whether another connection would end in the same way
 * @property {boolean} [unopened] whether the other side, or the way there, ended it before it was open
 */

/**
 * One WebSocket.
 * @typedef {object} Connection
 * @property {Promise<void>} ended settles when the socket itself is gone
 * @property {(text: string) => boolean} send false when it could not be handed to an open socket
 * @property {(close?: Close) => void} close ends it, with what this side knows about that. To the other side a normal close means that this one
 *   leaves; who comes again says another
 */

/** The subprotocol that makes a WebSocket a bridge. */
export const SUBPROTOCOL = "waybridge.v1";

/**
 * Connects, with three callbacks: `opened`, `received` with each message, and `closed`, which comes exactly once, last, and never while this
 * runs.
 * @param {string} url
 * @param {import("./types.js").BridgeOptions["WebSocket"]} WebSocketClass
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
  // What an `error` event said: the close that follows it has no reason.
  let failure = "";
  let gone = () => {};
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => (gone = resolve));
  /** @param {Close} close */
  const end = (close) => {
    if (isOver) return;
    isOver = true;
    closed(close);
  };
  /** @param {Close} [given] */
  const close = (given = { code: closeOf.normal, reason: "", final: true }) => {
    if (isOver) return;
    socket?.close(given.final ? closeOf.normal : nextAfter(given.code) === "resume" ? given.code : closeOf.reconnecting);
    end(given);
  };
  try {
    if (WebSocketClass === undefined) {
      throw bridgeError(codeOf.unavailable, `there is no WebSocket here${globalThis.__waybridgeBrief ? "" : ": give one as `WebSocket` in the options"}`, { kind: "unsupported" });
    }
    const made = (socket = new WebSocketClass(url, [SUBPROTOCOL]));
    made.addEventListener("open", () => {
      if (isOver) return;
      if (made.protocol !== SUBPROTOCOL) return close({ code: closeOf.normal, reason: `the server does not speak ${SUBPROTOCOL}`, final: true });
      isOpen = true;
      opened();
    });
    made.addEventListener("message", ({ data }) => {
      if (!isOver) received(data);
    });
    made.addEventListener("error", (/** @type {any} */ { message }) => {
      if (typeof message === "string") failure = message;
      // Some implementations never send a close event for a connection that did not come about.
      if (isOpen) return;
      gone();
      end({ code: 1006, reason: failure || "the connection failed", unopened: true });
    });
    made.addEventListener("close", ({ code, reason }) => {
      gone();
      end({ code, reason: reason || failure, unopened: !isOpen });
    });
  } catch (cause) {
    gone();
    queueMicrotask(() => end({ code: 1006, reason: textOf(cause), cause, final: true }));
  }
  const send = (/** @type {string} */ text) => {
    if (isOver || socket?.readyState !== 1) return false;
    socket.send(text);
    return true;
  };
  return { ended, send, close };
}
