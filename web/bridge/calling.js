// @ts-check
import { check } from "./backoff.js";
import { Call, LONGEST, sizeOf } from "./call.js";
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
  #maxMessage = Infinity;
  #client;
  #queue;

  /**
   * @param {import("./peer.js").Wiring} client
   * @param {{count?: number, bytes?: number}} queue how much may wait
   */
  constructor(client, { count = 256, bytes = 1 << 20 } = {}) {
    check("queue.count", count, 0);
    check("queue.bytes", bytes, 0);
    this.#client = client;
    this.#queue = { count, bytes };
  }

  /**
   * Hands a text on.
   * @param {string} text
   * @param {{bare?: boolean, canWait?: boolean}} [how] what is `bare` has no number; what `canWait` comes again when there is room
   * @returns {number | boolean} false when it can not go out now, else its number where it has one
   */
  send(text, how) {
    const { link, resumption } = this.#client;
    return resumption?.send(text, how) ?? link.send(text);
  }

  /**
   * @param {string} method
   * @param {any} [params] an object, a list or nothing
   * @param {AskOptions} [options]
   * @returns {Promise<any>}
   */
  async request(method, params, options = {}) {
    const { signal, timeout, onBehalfOf } = options;
    // For others it goes out at once or not at all: to the next session that id is another request's.
    const first = options.first || onBehalfOf !== undefined;
    if (this.#closed !== undefined) throw closedError(this.#closed, false, method);
    if (signal?.aborted) throw signal.reason;
    if (timeout !== undefined) check("timeout", timeout, 1, LONGEST);
    this.#lastID += 1;
    const id = `${this.#idPrefix}-${this.#lastID}`;
    const { uri, key } = KEYED.includes(method) ? params : /** @type {any} */ ({});
    const text = encode(id, method, onBehalfOf === undefined ? params : { ...params, onBehalfOf: onBehalfOf.asked(method) });
    const call = this.add({ id, method, uri, key }, text, { ...options, first });
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

  /**
   * Lets the waiting calls go, in the order they were made.
   * @param {unknown} [maxMessage] the largest message, in bytes, that the other side takes, if it said so
   * @param {number} [overhead] how much of that is not the message's own
   */
  start(maxMessage, overhead = 0) {
    if (typeof maxMessage === "number") this.#maxMessage = maxMessage - overhead;
    this.#started = true;
    this.flush();
  }

  /** There is room for calls that wait. */
  flush() {
    if (!this.#started) return;
    this.#isFull = false;
    for (const call of this.#waiting) if (!this.#isFull) this.#transmit(call);
  }

  /**
   * Whether the other side takes a message of that size.
   * @param {string} text
   */
  fits(text) {
    // A UTF-16 unit is at most three bytes of UTF-8: only what may be too large is counted.
    return text.length * 3 <= this.#maxMessage || sizeOf(text) <= this.#maxMessage;
  }

  /** The connection ended: calls wait again. */
  pause() {
    this.#started = false;
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

  /**
   * Tells the other side something; what can not go out now is dropped.
   * @param {string} method
   * @param {unknown} [params]
   */
  notify(method, params) {
    this.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** @param {any} response */
  answered({ id, result, error }) {
    const call = this.running(id);
    if (call === undefined) return;
    const { method } = call.asked;
    if (error !== undefined) {
      const { code, message = "", data } = error ?? {};
      return call.fail(Number.isInteger(code) ? bridgeError(code, String(message), { data, method })
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
   * @param {string} text what is sent
   * @param {AskOptions} options
   */
  add(asked, text, options) {
    const call = new Call(asked, text, options, this.#withdraw, this.#client.clock);
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
    const { count, bytes } = this.#queue;
    const waiting = this.#waiting;
    const isMany = waiting.length > count;
    if (!isMany && waiting.reduce((sum, each) => sum + each.size, 0) <= bytes) return;
    const { method } = call.asked;
    call.fail(failure("tooMany", `${isMany ? `${count} calls` : `${bytes} bytes`} wait for the connection already`, { method }));
  }

  /** @param {Call} call */
  #transmit(call) {
    const { text, asked: { method } } = call;
    if (!this.fits(text)) {
      return call.fail(failure("tooLarge", `the call has ${call.size} bytes, more than the server takes${globalThis.__waybridgeBrief ? "" : " (limits.maxMessage)"}`, { method }));
    }
    const sent = this.send(text, { bare: isBare(call), canWait: !call.isOnce });
    call.sent = sent !== false;
    call.seq = Number(sent);
    this.#isFull ||= this.#started && !call.sent;
  }

  /** @param {Call} call */
  #withdraw = ({ asked: { id } }) => this.notify("$/cancelRequest", { id });
}

/**
 * Asks whether the other side is there, at once or not at all.
 * @param {Calling} calling
 * @returns {Promise<any>}
 */
export function ping(calling) {
  return calling.request("$/ping", undefined, { first: true });
}

/**
 * Takes up a call that an earlier load of the page has made.
 * @param {Calling} calling
 * @param {Asked} asked
 * @returns {Promise<any>}
 */
export function adopt(calling, asked) {
  const call = calling.add(asked, "", { first: true });
  call.sent = true;
  const settled = () => void calling.calls.delete(asked.id);
  call.promise.then(settled, settled);
  return call.promise;
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
