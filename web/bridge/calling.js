// @ts-check
import { Call, checkTimeout } from "./call.js";
import { codes } from "./codes.js";
import { bridgeError, closedError, failure, textOf } from "./errors.js";

/** @typedef {import("./connection.js").Close} Close */

/** The requests that this side makes. They wait until `start`, and again after `interrupt`. */
export class Calling {
  /** The ids of two loads of one page, which the server may know as one client, never meet. */
  #idPrefix = randomID();
  #lastID = 0;
  #started = false;
  /** @type {(Close & {absent?: boolean}) | undefined} */ #closed;
  /**
   * Sent and unsent, in the order they were made.
   * @type {Map<unknown, Call>}
   */
  #calls = new Map();
  #wiring;

  /**
   * @param {object} wiring
   * @param {(text: string) => boolean} wiring.send false when the text can not go out now
   * @param {(text: string) => boolean} wiring.fits whether the other side takes a message of that size
   * @param {{count: number, bytes: number}} wiring.queue how much may wait
   * @param {import("./clock.js").Clock} wiring.clock
   */
  constructor(wiring) {
    this.#wiring = wiring;
  }

  /**
   * @param {string} method
   * @param {unknown} [params] an object, a list or nothing
   * @param {import("./types.js").CallOptions & {first?: boolean, asker?: unknown}} [options] `first` goes out before `start`, or not
   *   at all; `asker` is kept with the call
   * @returns {Promise<any>}
   */
  async request(method, params, options = {}) {
    if (this.#closed !== undefined) throw closedError(this.#closed, false, method);
    if (options.signal?.aborted) throw options.signal.reason;
    checkTimeout(options.timeout, method);
    this.#lastID += 1;
    const id = `${this.#idPrefix}-${this.#lastID}`;
    const text = encode(id, method, params);
    const call = new Call({ id, method, text }, options, this.#withdraw, this.#wiring.clock);
    this.#calls.set(id, call);
    if (this.#started || options.first) this.#transmit(call);
    if (!call.sent && !call.settled) {
      if (options.first) call.fail(closedError({ code: 1006, reason: "" }, false, method));
      else this.#checkQueue(call);
    }
    try {
      return await call.promise;
    } finally {
      this.#calls.delete(id);
    }
  }

  /** Lets the waiting calls go, in the order they were made. */
  start() {
    this.#started = true;
    for (const call of this.#waiting) this.#transmit(call);
  }

  /**
   * The connection ended, and another will come: what was sent fails, the rest waits.
   * @param {Close} close
   */
  interrupt(close) {
    this.#started = false;
    for (const call of [...this.#calls.values()]) {
      if (call.sent) call.fail(closedError(close, true, call.method));
    }
  }

  /**
   * Fails every call, those still to come too.
   * @param {Close & {absent?: boolean}} close
   */
  close(close) {
    this.#closed ??= close;
    for (const call of [...this.#calls.values()]) call.fail(closedError(close, call.sent, call.method));
  }

  /** @param {any} response */
  answered(response) {
    const call = this.#calls.get(response.id);
    if (call === undefined) return;
    if (Object.hasOwn(response, "result")) return call.succeed(response.result);
    const { method } = call;
    const { code, message, data } = response.error ?? {};
    call.fail(
      Number.isInteger(code)
        ? bridgeError(code, String(message ?? ""), { data, method })
        : bridgeError(codes.internal.code, "the server's error has no code", { kind: "malformed", data: response.error, method }),
    );
  }

  /**
   * The call that something is told about, while it is not answered.
   * @param {unknown} id
   */
  running(id) {
    const call = this.#calls.get(id);
    return call?.settled ? undefined : call;
  }

  get #waiting() {
    return [...this.#calls.values()].filter((call) => !call.sent && !call.settled);
  }

  /** @param {Call} call the last that was made */
  #checkQueue(call) {
    const { count, bytes } = this.#wiring.queue;
    const waiting = this.#waiting;
    const { method } = call;
    if (waiting.length > count) {
      call.fail(failure("tooMany", `${count} calls wait for the connection already`, { method }));
    } else if (waiting.reduce((sum, each) => sum + each.size, 0) > bytes) {
      call.fail(failure("tooMany", `more than ${bytes} bytes of calls would wait for the connection`, { method }));
    }
  }

  /** @param {Call} call */
  #transmit(call) {
    if (this.#wiring.fits(call.text)) {
      call.sent = this.#wiring.send(call.text);
      return;
    }
    const { method } = call;
    call.fail(failure("tooLarge", `the call has ${call.size} bytes, more than the server takes (limits.maxMessage)`, { method }));
  }

  /** @param {Call} call */
  #withdraw = (call) => {
    this.#wiring.send(JSON.stringify({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id: call.id } }));
  };
}

/**
 * @param {string} id
 * @param {string} method
 * @param {unknown} params
 */
function encode(id, method, params) {
  try {
    return JSON.stringify({ jsonrpc: "2.0", id, method, params });
  } catch (cause) {
    throw failure("invalidParams", `the parameters of ${method} can not be JSON: ${textOf(cause)}`, { method, cause });
  }
}

/** A text that no other load of any page has. */
export function randomID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
