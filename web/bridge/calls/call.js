// @ts-check
import { MAX_DELAY } from "../connection/backoff.js";
import { failure } from "../values/errors.js";

/** Milliseconds that the client waits for the server's own response after a deadline has passed, or after the caller has aborted the call. */
const RESPONSE_GRACE = 1000;
/** The longest timeout. */
export const MAX_TIMEOUT = MAX_DELAY - RESPONSE_GRACE;

/** @typedef {{id: string, method: string, uri?: string, key?: string}} CallInfo describes a call, in the terms of the protocol */
/**
 * `first`: the request is sent before `start` or not at all. `callers` is stored with the call. `onResult` receives the result before any later
 * message is processed.
 * @typedef {import("../types/api.js").CallOptions & {first?: boolean, callers?: unknown, onResult?: (result: any) => void}} RequestOptions
 */

/** A call of this client. When it has settled, it releases everything that belongs to its caller, and has no further effect. */
export class Call {
  /** @type {any} */ #resolve;
  /** @type {any} */ #reject;
  /** @type {unknown} */ #guard;
  #isShown = false;
  #peer;
  #clock;

  /** Whether the request was passed to an open socket, so that it may have taken effect. */
  sent = false;
  /** The sequence number of the request, if messages are numbered; 0 for a call of an earlier load of the page. */
  seq = 0;
  /** @type {Promise<any>} */
  promise = new Promise((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });

  /**
   * @param {CallInfo} info
   * @param {string} text the complete request
   * @param {RequestOptions} options `timeout` is already validated
   * @param {Pick<import("./peer.js").Peer, "calls" | "cancel" | "client">} peer sends it
   */
  constructor(info, text, options, peer) {
    this.info = info;
    this.text = text;
    this.options = options;
    /** Whether the call cannot be sent again, even if it has a key. */
    this.isOnce = options.first === true;
    this.#peer = peer;
    this.#clock = peer.client.clock;
    options.signal?.addEventListener("abort", this.#aborted);
    if (options.timeout !== undefined) this.#startGuard(options.timeout);
  }

  /** Whether the call is about a connection, not a session. Its messages have no number and are not sent again on another connection. */
  get isBare() {
    return ["session.open", "session.resume", "$/ping"].includes(this.info.method);
  }

  /** @param {unknown} result */
  succeed(result) {
    this.#release();
    this.#resolve(result);
  }

  /** @param {unknown} error */
  fail(error) {
    this.#release();
    this.#reject(error);
  }

  /** @param {any} value */
  progress(value) {
    if (value?.opened !== undefined && this.info.method === "router.open") {
      this.#isShown = true;
      // The timeout applies until the page is shown. How long the user then stays on it is not limited.
      if (!this.options.signal?.aborted) this.#clock.clearTimeout(this.#guard);
    }
    this.options.onProgress?.(value);
  }

  #aborted = () => {
    if (!this.sent) return this.fail(this.options.signal?.reason);
    this.#peer.cancel(this);
    this.#startGuard(0);
  };

  /** @param {number} timeout milliseconds after which the server should respond */
  #startGuard(timeout) {
    this.#clock.clearTimeout(this.#guard);
    this.#guard = this.#clock.setTimeout(this.#expired, timeout + RESPONSE_GRACE);
  }

  /** Settles a call that has no response, as the server would. */
  #expired = () => {
    const { info: { method }, options: { signal, timeout } } = this;
    if (this.#isShown) return this.succeed({ outcome: "cancelled", code: 0, message: "", data: null });
    if (signal?.aborted) return this.fail(failure("cancelled", `${method} was cancelled`, { method }));
    if (this.sent) this.#peer.cancel(this);
    this.fail(failure("deadline", `No response to ${method} within ${timeout} ms`, { method }));
  };

  #release() {
    this.#clock.clearTimeout(this.#guard);
    this.options.signal?.removeEventListener("abort", this.#aborted);
    this.#peer.calls.delete(this.info.id);
  }
}

/**
 * Whether a method accepts a `key` and can take long.
 * @param {string} method
 */
export function isKeyed(method) {
  return ["router.open", "router.invoke", "page.call"].includes(method);
}
