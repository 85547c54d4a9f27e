// @ts-check
import { Call, checkTimeout } from "./call.js";
import { codes } from "./codes.js";
import { bridgeError, closedError, failure, textOf } from "./errors.js";

/** @typedef {import("./connection.js").Close} Close */
/** @typedef {{id: string, method: string, uri?: string, key?: string}} Asked a call, as far as it can be told */

/** What is about a connection and not a session: it has no number, and is not asked again on another connection. */
const BARE = new Set(["session.open", "session.resume", "$/ping"]);
/** What takes a `key`, and may take long. */
const KEYED = new Set(["router.open", "router.invoke", "page.call"]);

/** The requests that this side makes. They wait until `start`, and again after `interrupt`. */
export class Calling {
  /** The ids of two loads of one page, which the server may know as one client, never meet. */
  #idPrefix = randomID();
  #lastID = 0;
  #started = false;
  /** Whether calls wait though it has started, for room. */
  #isFull = false;
  /** @type {(Close & {absent?: boolean}) | undefined} */ #closed;
  /**
   * Sent and unsent, in the order they were made.
   * @type {Map<unknown, Call>}
   */
  #calls = new Map();
  #wiring;

  /**
   * @param {object} wiring
   * @param {import("./peer.js").Send} wiring.send
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
   * @param {import("./types.js").CallOptions & {first?: boolean, asker?: unknown, taken?: (result: any) => void}} [options] `first` goes
   *   out before `start`, or not at all; `asker` is kept with the call; `taken` is told the result before anything else that comes is
   *   looked at
   * @returns {Promise<any>}
   */
  async request(method, params, options = {}) {
    if (this.#closed !== undefined) throw closedError(this.#closed, false, method);
    if (options.signal?.aborted) throw options.signal.reason;
    checkTimeout(options.timeout, method);
    this.#lastID += 1;
    const id = `${this.#idPrefix}-${this.#lastID}`;
    const text = encode(id, method, params);
    const { uri, key } = KEYED.has(method) ? /** @type {any} */ (params) : { uri: undefined, key: undefined };
    const call = new Call({ id, method, text, uri, key }, options, this.#withdraw, this.#wiring.clock);
    // What had to go out at once is about this session.
    call.isOnce = options.first === true;
    this.#calls.set(id, call);
    if ((this.#started && !this.#isFull) || options.first) this.#transmit(call, options.first);
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
    this.#isFull = false;
    for (const call of this.#waiting) if (!this.#isFull) this.#transmit(call);
  }

  /** There is room again. */
  flush() {
    if (this.#started) this.start();
  }

  /**
   * The connection ended, and the session goes on with another: only what was about the connection fails.
   * @param {Close} close
   */
  pause(close) {
    this.#started = false;
    for (const call of [...this.#calls.values()]) {
      if (call.sent && BARE.has(call.method)) call.fail(closedError(close, true, call.method));
    }
  }

  /** Those that have to be known after a reload of the page. */
  get asked() {
    return [...this.#calls.values()].filter((call) => call.sent && !call.settled && KEYED.has(call.method)).map((call) => call.asked);
  }

  /**
   * Takes up a call that an earlier load of the page has made.
   * @param {Asked} asked
   * @returns {Promise<any>}
   */
  adopt(asked) {
    const call = new Call({ ...asked, text: "" }, {}, this.#withdraw, this.#wiring.clock);
    call.sent = call.isOnce = true;
    this.#calls.set(asked.id, call);
    const settled = () => void this.#calls.delete(asked.id);
    call.promise.then(settled, settled);
    return call.promise;
  }

  /**
   * Those that the server has taken, up to a number, and does not tell as pending. Their answers are on the way, or lost.
   * @param {number} received
   * @param {Set<unknown>} pending ids
   */
  doubtful(received, pending) {
    const all = [...this.#calls.values()].filter(({ method }) => !BARE.has(method));
    return all.filter((call) => call.sent && !call.settled && call.seq <= received && !pending.has(call.id));
  }

  /**
   * The session was lost, and another has begun: calls with a key are asked of that, others that were sent are lost.
   * @returns {Call[]} the lost, to be failed
   */
  renew() {
    const sent = [...this.#calls.values()].filter((call) => call.sent && !call.settled && !BARE.has(call.method));
    const lost = sent.filter((call) => call.key === undefined || call.isOnce || call.isWithdrawn);
    for (const call of sent) if (!lost.includes(call)) call.sent = false;
    return lost;
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
    if (Object.hasOwn(response, "result")) return this.#succeeded(call, response.result);
    const { method } = call;
    const { code, message, data } = response.error ?? {};
    call.fail(
      Number.isInteger(code)
        ? bridgeError(code, String(message ?? ""), { data, method })
        : bridgeError(codes.internal.code, "the server's error has no code", { kind: "malformed", data: response.error, method }),
    );
  }

  /**
   * @param {Call} call
   * @param {unknown} result
   */
  #succeeded(call, result) {
    try {
      call.taken?.(result);
    } catch (error) {
      return call.fail(error);
    }
    call.succeed(result);
  }

  /**
   * The call that something is told about, while it is not answered.
   * @param {unknown} id
   */
  running(id) {
    const call = this.#calls.get(id);
    return call?.settled ? undefined : call;
  }

  /**
   * Whether the answer to a call has a number, where such are.
   * @param {unknown} id
   */
  isNumbered(id) {
    const call = this.#calls.get(id);
    return call !== undefined && !BARE.has(call.method);
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

  /**
   * @param {Call} call
   * @param {boolean} [first]
   */
  #transmit(call, first) {
    if (this.#wiring.fits(call.text)) {
      const sent = this.#wiring.send(call.text, { bare: BARE.has(call.method), canWait: !first });
      call.sent = sent !== false;
      call.seq = Number(sent);
      this.#isFull ||= this.#started && !call.sent;
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
