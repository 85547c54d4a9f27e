// @ts-check
import { Call, checkTimeout } from "./call.js";
import { codeOf } from "./codes.js";
import { bridgeError, closedError, failure, textOf } from "./errors.js";
import { randomID } from "./plain.js";

/** @typedef {import("./call.js").Asked} Asked */
/** @typedef {import("./call.js").AskOptions} AskOptions */
/** @typedef {import("./connection.js").Close} Close */

/** What is about a connection and not a session: it has no number, and is not asked again on another connection. */
const BARE = ["session.open", "session.resume", "$/ping"];
/** What takes a `key`, and may take long. */
const KEYED = ["router.open", "router.invoke", "page.call"];

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
  calls = new Map();
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
   * @param {any} [params] an object, a list or nothing
   * @param {AskOptions} [options]
   * @returns {Promise<any>}
   */
  async request(method, params, options = {}) {
    const { signal, timeout, first } = options;
    if (this.#closed !== undefined) throw closedError(this.#closed, false, method);
    if (signal?.aborted) throw signal.reason;
    checkTimeout(timeout, method);
    this.#lastID += 1;
    const id = `${this.#idPrefix}-${this.#lastID}`;
    const { uri, key } = KEYED.includes(method) ? params : /** @type {any} */ ({});
    const call = this.#add({ id, method, uri, key }, encode(id, method, params), options);
    if (first || (this.#started && !this.#isFull)) this.#transmit(call);
    if (!call.sent && !call.settled) {
      if (first) call.fail(closedError({ code: 1006, reason: "" }, false, method));
      else this.#checkQueue(call);
    }
    try {
      return await call.promise;
    } finally {
      this.calls.delete(id);
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

  /** The connection ended: calls wait again. */
  pause() {
    this.#started = false;
  }

  /**
   * Takes up a call that an earlier load of the page has made.
   * @param {Asked} asked
   * @returns {Promise<any>}
   */
  adopt(asked) {
    const call = this.#add(asked, "", { first: true });
    call.sent = true;
    const settled = () => void this.calls.delete(asked.id);
    call.promise.then(settled, settled);
    return call.promise;
  }

  /**
   * The connection ended, and another will come: what was sent fails, the rest waits.
   * @param {Close} close
   * @returns {Asked[]} those of the former that took a key
   */
  interrupt(close) {
    this.pause();
    return this.#fail(close, (call) => call.sent).filter(({ method }) => KEYED.includes(method));
  }

  /**
   * Fails every call, those still to come too.
   * @param {Close & {absent?: boolean}} close
   */
  close(close) {
    this.#closed ??= close;
    this.#fail(close, () => true);
  }

  /** @param {any} response */
  answered({ id, result, error }) {
    const call = this.running(id);
    if (call === undefined) return;
    const { method } = call.asked;
    if (error !== undefined) {
      const { code, message = "", data } = error ?? {};
      const known = Number.isInteger(code);
      return call.fail(known ? bridgeError(code, String(message), { data, method })
        : bridgeError(codeOf.internal, "the server's error has no code", { kind: "malformed", data: error, method }));
    }
    try {
      call.options.taken?.(result);
      call.succeed(result);
    } catch (cause) {
      call.fail(cause);
    }
  }

  /**
   * The call that something is told about, while it is not answered.
   * @param {unknown} id
   */
  running(id) {
    const call = this.calls.get(id);
    return call?.settled ? undefined : call;
  }

  get #open() {
    return [...this.calls.values()].filter((call) => !call.settled);
  }

  get #waiting() {
    return this.#open.filter((call) => !call.sent);
  }

  /**
   * @param {Asked} asked
   * @param {string} text
   * @param {AskOptions} options
   */
  #add(asked, text, options) {
    const call = new Call(asked, text, options, this.#withdraw, this.#wiring.clock);
    this.calls.set(asked.id, call);
    return call;
  }

  /**
   * @param {Close & {absent?: boolean}} close
   * @param {(call: Call) => boolean} which
   */
  #fail(close, which) {
    return this.#open.filter(which).map((call) => {
      call.fail(closedError(close, call.sent, call.asked.method));
      return call.asked;
    });
  }

  /** @param {Call} call the last that was made */
  #checkQueue(call) {
    const { count, bytes } = this.#wiring.queue;
    const waiting = this.#waiting;
    const isMany = waiting.length > count;
    if (!isMany && waiting.reduce((sum, each) => sum + each.size, 0) <= bytes) return;
    const { method } = call.asked;
    call.fail(failure("tooMany", `${isMany ? `${count} calls` : `${bytes} bytes of calls`} wait for the connection already`, { method }));
  }

  /** @param {Call} call */
  #transmit(call) {
    const { text, asked: { method } } = call;
    if (!this.#wiring.fits(text)) {
      call.fail(failure("tooLarge", `the call has ${call.size} bytes, more than the server takes (limits.maxMessage)`, { method }));
      return;
    }
    const sent = this.#wiring.send(text, { bare: isBare(call), canWait: !call.isOnce });
    call.sent = sent !== false;
    call.seq = Number(sent);
    this.#isFull ||= this.#started && !call.sent;
  }

  /** @param {Call} call */
  #withdraw = ({ asked: { id } }) => {
    this.#wiring.send(JSON.stringify({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id } }));
  };
}

/**
 * Whether it is about a connection.
 * @param {Call} call
 */
export function isBare({ asked: { method } }) {
  return BARE.includes(method);
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
