// @ts-check
import * as closeOf from "./closes.js";
import { codeOf } from "./codes.js";
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

/** The subprotocol that makes a WebSocket a bridge. */
export const SUBPROTOCOL = "waybridge.v1";

/**
 * One WebSocket, reduced to three callbacks: `opened`, `received` with each message, and `closed`, which comes exactly
 * once, last, and never while the constructor runs.
 */
export class Connection {
  /** @type {WebSocket | undefined} */ #socket;
  #opened = false;
  #over = false;
  /** What an `error` event said: the close that follows it has no reason. */
  #failure = "";
  #callbacks;
  /**
   * Settles when the socket itself is gone.
   * @type {Promise<void>}
   */
  ended;

  /**
   * @param {string} url
   * @param {import("./types.js").BridgeOptions["WebSocket"]} WebSocketClass
   * @param {object} callbacks
   * @param {() => void} callbacks.opened
   * @param {(data: unknown) => void} callbacks.received
   * @param {(close: Close) => void} callbacks.closed
   */
  constructor(url, WebSocketClass, callbacks) {
    this.#callbacks = callbacks;
    this.ended = new Promise((resolve) => this.#connect(url, WebSocketClass, () => resolve()));
  }

  /**
   * @param {string} text
   * @returns {boolean} false when it could not be handed to an open socket
   */
  send(text) {
    if (this.#over || this.#socket?.readyState !== 1) return false;
    this.#socket.send(text);
    return true;
  }

  /**
   * Ends it. To the other side a normal close means that this one leaves; who comes again says another.
   * @param {Close} [close] what this side knows about it
   */
  close(close = { code: 1000, reason: "", final: true }) {
    if (this.#over) return;
    const isForNow = close.code >= 4200 && close.code < 4300;
    this.#socket?.close(close.final ? closeOf.normal : isForNow ? close.code : closeOf.reconnecting);
    this.#end(close);
  }

  /**
   * @param {string} url
   * @param {import("./types.js").BridgeOptions["WebSocket"]} WebSocketClass
   * @param {() => void} ended
   */
  #connect(url, WebSocketClass, ended) {
    /** @param {unknown} cause */
    const failed = (cause) => {
      ended();
      queueMicrotask(() => this.#end({ code: 1006, reason: textOf(cause), cause, final: true }));
    };
    if (WebSocketClass === undefined) {
      return failed(bridgeError(codeOf.unavailable, "there is no WebSocket here: give one as `WebSocket` in the options", { kind: "unsupported" }));
    }
    try {
      this.#socket = new WebSocketClass(url, [SUBPROTOCOL]);
    } catch (error) {
      return failed(error);
    }
    const socket = this.#socket;
    socket.addEventListener("open", () => {
      if (this.#over) return;
      if (socket.protocol !== SUBPROTOCOL) {
        return this.close({ code: 1000, reason: `the server does not speak ${SUBPROTOCOL}`, final: true });
      }
      this.#opened = true;
      this.#callbacks.opened();
    });
    socket.addEventListener("message", (event) => {
      if (!this.#over) this.#callbacks.received(event.data);
    });
    socket.addEventListener("error", (event) => {
      const message = Reflect.get(event, "message");
      if (typeof message === "string") this.#failure = message;
      // Some implementations never send a close event for a connection that did not come about.
      if (this.#opened) return;
      ended();
      this.#end({ code: 1006, reason: this.#failure || "the connection failed", unopened: true });
    });
    socket.addEventListener("close", ({ code, reason }) => {
      ended();
      this.#end({ code, reason: reason || this.#failure, unopened: !this.#opened });
    });
  }

  /** @param {Close} close */
  #end(close) {
    if (this.#over) return;
    this.#over = true;
    this.#callbacks.closed(close);
  }
}
