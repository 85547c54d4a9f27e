// @ts-check
import { failure } from "./errors.js";

/** Milliseconds that the server's own answer to a passed deadline may take before the client stops waiting for it. */
const GRACE = 1000;
/** The longest that `setTimeout` can wait; what is longer fires at once. */
const LONGEST = 0x7fffffff - GRACE;

/** One call that this side made: it settles exactly once, and then holds on to nothing of the caller's. */
export class Call {
  /** @type {(value: any) => void} */ #resolve = () => {};
  /** @type {(error: unknown) => void} */ #reject = () => {};
  /** @type {unknown} */ #guard;
  #options;
  #withdraw;
  #clock;

  /** Whether it was handed to an open socket, so that the server may have carried it out. */
  sent = false;
  settled = false;

  /**
   * @param {{id: string, method: string, text: string}} message `text` is the complete request
   * @param {import("./types.js").CallOptions & {asker?: unknown}} options `timeout` already checked
   * @param {(call: Call) => void} withdraw told when the caller no longer wants the call: cancel it at the server
   * @param {import("./clock.js").Clock} clock
   */
  constructor({ id, method, text }, options, withdraw, clock) {
    this.id = id;
    this.method = method;
    this.text = text;
    /** Who had this side make it, where that was told. */
    this.asker = options.asker;
    this.#options = options;
    this.#withdraw = withdraw;
    this.#clock = clock;
    /** @type {Promise<any>} */
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    options.signal?.addEventListener("abort", this.#aborted);
    if (options.timeout !== undefined) this.#guard = clock.setTimeout(this.#late, options.timeout + GRACE);
  }

  /** In bytes, as it is sent. */
  get size() {
    return new TextEncoder().encode(this.text).length;
  }

  /** @param {unknown} result */
  succeed(result) {
    if (this.#settle()) this.#resolve(result);
  }

  /** @param {unknown} error */
  fail(error) {
    if (this.#settle()) this.#reject(error);
  }

  /** @param {unknown} value */
  progress(value) {
    // The deadline ends when the page is shown; how long the user then stays is not the caller's to bound.
    if (this.method === "router.open" && typeof value === "object" && value !== null && Object.hasOwn(value, "opened")) {
      this.#clock.clearTimeout(this.#guard);
    }
    this.#options.onProgress?.(value);
  }

  #aborted = () => {
    if (this.sent) this.#withdraw(this);
    else this.fail(this.#options.signal?.reason);
  };

  #late = () => {
    if (this.sent) this.#withdraw(this);
    this.fail(failure("deadline", `no answer to ${this.method} within ${this.#options.timeout} ms`, { method: this.method }));
  };

  #settle() {
    if (this.settled) return false;
    this.settled = true;
    this.#clock.clearTimeout(this.#guard);
    this.#options.signal?.removeEventListener("abort", this.#aborted);
    return true;
  }
}

/**
 * @param {number | undefined} timeout milliseconds
 * @param {string} method
 */
export function checkTimeout(timeout, method) {
  if (timeout === undefined || (Number.isInteger(timeout) && timeout > 0 && timeout <= LONGEST)) return;
  throw failure("invalidParams", `timeout is ${timeout}; give whole milliseconds, 1 to ${LONGEST}, or none`, { method });
}

/**
 * The params of a page's method are an object: what is none the server would refuse, and what JSON
 * would make an empty one of, such as a Map, would get lost.
 * @param {unknown} params
 * @param {string} method
 */
export function checkParams(params, method) {
  if (params === undefined || isPlain(params)) return;
  const what = `the params of ${method} are ${kindOf(params)}`;
  throw failure("invalidParams", `${what}; give an object, each value by its name, or nothing`, { method });
}

/**
 * Whether it is an object of no class; it may be one of another window.
 * @param {unknown} value
 */
export function isPlain(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** @param {unknown} value */
function kindOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? `an object of the class ${value.constructor?.name}` : `a ${typeof value}`;
}
