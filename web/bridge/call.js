// @ts-check
import { failure } from "./errors.js";

/** Milliseconds that the server's own answer to a passed deadline may take before the client stops waiting for it. */
const GRACE = 1000;
/** The longest timeout: `setTimeout` can wait no longer, and fires at once instead. */
export const LONGEST = 0x7fffffff - GRACE;

/** @typedef {{id: string, method: string, uri?: string, key?: string}} Asked a call, as far as it can be told, in the words of the protocol */
/**
 * `first`: it goes out before `start`, or not at all; `asker` is kept with the call; `taken` is told the result before anything else that comes
 * is looked at.
 * @typedef {import("./types.js").CallOptions & {first?: boolean, asker?: unknown, taken?: (result: any) => void}} AskOptions
 */

/** One call that this side made: it settles exactly once, and then holds on to nothing of the caller's. */
export class Call {
  /** @type {(value: any) => void} */ #resolve = () => {};
  /** @type {(error: unknown) => void} */ #reject = () => {};
  /** @type {unknown} */ #guard;
  #withdraw;
  #clock;

  /** Whether it was handed to an open socket, so that the server may have carried it out. */
  sent = false;
  /** The number with which it was sent, where such are; 0 for one of an earlier load of the page. */
  seq = 0;
  settled = false;
  /** @type {Promise<any>} */
  promise = new Promise((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });

  /**
   * @param {Asked} asked
   * @param {string} text the complete request
   * @param {AskOptions} options `timeout` already checked
   * @param {(call: Call) => void} withdraw told when the caller no longer wants the call: cancel it at the server
   * @param {import("./clock.js").Clock} clock
   */
  constructor(asked, text, options, withdraw, clock) {
    this.asked = asked;
    this.text = text;
    this.options = options;
    /** Whether it can not be asked again, whatever its key. */
    this.isOnce = options.first === true;
    this.#withdraw = withdraw;
    this.#clock = clock;
    options.signal?.addEventListener("abort", this.#aborted);
    if (options.timeout !== undefined) this.#guard = clock.setTimeout(this.#late, options.timeout + GRACE);
  }

  /** In bytes, as it is sent. */
  get size() {
    return sizeOf(this.text);
  }

  /** @param {unknown} result */
  succeed(result) {
    if (this.#settle()) this.#resolve(result);
  }

  /** @param {unknown} error */
  fail(error) {
    if (this.#settle()) this.#reject(error);
  }

  /** @param {any} value */
  progress(value) {
    // The deadline ends when the page is shown; how long the user then stays is not the caller's to bound.
    if (value?.opened !== undefined && this.asked.method === "router.open") this.#clock.clearTimeout(this.#guard);
    this.options.onProgress?.(value);
  }

  #aborted = () => {
    if (this.sent) this.#withdraw(this);
    else this.fail(this.options.signal?.reason);
  };

  #late = () => {
    if (this.sent) this.#withdraw(this);
    const { method } = this.asked;
    this.fail(failure("deadline", `no answer to ${method} within ${this.options.timeout} ms`, { method }));
  };

  #settle() {
    if (this.settled) return false;
    this.settled = true;
    this.#clock.clearTimeout(this.#guard);
    this.options.signal?.removeEventListener("abort", this.#aborted);
    return true;
  }
}

/**
 * Bytes of UTF-8.
 * @param {string} text
 */
export function sizeOf(text) {
  return new TextEncoder().encode(text).length;
}
