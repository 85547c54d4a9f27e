// @ts-check
import { Call, checkTimeout } from "./call.js";
import { codes } from "./codes.js";
import { bridgeError, ConnectionClosed, failure } from "./errors.js";
import { Serving, textOf } from "./serving.js";

/** @typedef {(params: any) => void} NotificationHandler */
/** @typedef {{code: number, reason: string, cause?: unknown}} Close how the connection ended */

/**
 * JSON-RPC 2.0 in both directions over texts. Calls wait until `start`; after `close` everything fails. It knows no
 * socket and no route.
 */
export class Peer {
  #idPrefix = randomPrefix();
  #lastID = 0;
  #started = false;
  #maxMessage = Infinity;
  /** @type {Close | undefined} */ #closed;
  /**
   * Sent and unsent, in the order they were made.
   * @type {Map<unknown, Call>}
   */
  #calls = new Map();
  /** @type {Map<string, NotificationHandler>} */ #notifications;
  #serving;
  #send;
  #report;

  /**
   * @param {object} wiring
   * @param {(text: string) => boolean} wiring.send false when the text can not go out any more
   * @param {(error: import("./errors.js").BridgeError) => void} wiring.report what went wrong where no caller waits
   * @param {Map<string, import("./serving.js").RequestHandler>} wiring.requests by method
   * @param {Map<string, NotificationHandler>} wiring.notifications by method
   */
  constructor({ send, report, requests, notifications }) {
    this.#send = send;
    this.#report = report;
    const handlers = new Map([...requests, ["$/ping", () => null]]);
    this.#serving = new Serving({ handlers, send, report, fits: (text) => this.#fits(text) });
    this.#notifications = new Map([
      ...notifications,
      ["$/progress", (params) => this.#progress(params)],
      ["$/cancelRequest", (params) => this.#serving.cancel(params.id)],
    ]);
  }

  /**
   * @param {string} method
   * @param {unknown} [params] an object, a list or nothing
   * @param {import("./types.js").CallOptions & {first?: boolean}} [options] `first` goes out before `start`
   * @returns {Promise<any>}
   */
  async request(method, params, options = {}) {
    if (this.#closed !== undefined) throw closedError(this.#closed, false, method);
    if (options.signal?.aborted) throw options.signal.reason;
    checkTimeout(options.timeout, method);
    this.#lastID += 1;
    const id = `${this.#idPrefix}-${this.#lastID}`;
    const call = new Call({ id, method, text: encode(id, method, params) }, options, this.#withdraw);
    this.#calls.set(id, call);
    if (this.#started || options.first) this.#transmit(call);
    try {
      return await call.promise;
    } finally {
      this.#calls.delete(id);
    }
  }

  /**
   * Lets the waiting calls go, in the order they were made.
   * @param {unknown} maxMessage the largest message, in bytes, that the other side takes, if it said so
   */
  start(maxMessage) {
    if (typeof maxMessage === "number") this.#maxMessage = maxMessage;
    this.#started = true;
    for (const call of [...this.#calls.values()]) {
      if (!call.sent && !call.settled) this.#transmit(call);
    }
  }

  /**
   * Fails every call, and aborts every request that is being served.
   * @param {Close} close
   */
  close(close) {
    if (this.#closed !== undefined) return;
    this.#closed = close;
    for (const call of [...this.#calls.values()]) call.fail(closedError(close, call.sent, call.method));
    this.#serving.close(closedError(close, true));
  }

  /**
   * Takes one incoming message.
   * @param {unknown} data
   */
  receive(data) {
    if (typeof data !== "string") return this.#ignore("a binary message");
    /** @type {any} */
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return this.#ignore("a message that is not JSON");
    }
    if (typeof message !== "object" || message === null || message.jsonrpc !== "2.0") {
      return this.#ignore('a message that is no object with "jsonrpc": "2.0"');
    }
    const hasID = Object.hasOwn(message, "id");
    if (Object.hasOwn(message, "method")) {
      const { id, method, params } = message;
      if (typeof method !== "string") return this.#ignore("a method that is no text");
      if (params !== undefined && (typeof params !== "object" || params === null)) {
        return this.#ignore(`params of ${method} that are neither object nor list`);
      }
      if (!hasID) return this.#guarded(method, () => this.#notifications.get(method)?.(params ?? {}));
      if (id !== null && typeof id !== "string" && typeof id !== "number") {
        return this.#ignore(`an id of ${method} that is neither text, number nor null`);
      }
      void this.#serving.serve(id, method, params);
    } else if (hasID && Object.hasOwn(message, "result") !== Object.hasOwn(message, "error")) {
      this.#answered(message);
    } else {
      this.#ignore("a message that is neither request nor response");
    }
  }

  /** @param {Call} call */
  #transmit(call) {
    if (this.#fits(call.text)) {
      call.sent = this.#send(call.text);
      return;
    }
    const { method } = call;
    call.fail(failure("tooLarge", `the call is larger than the server's limit of ${this.#maxMessage} bytes`, { method }));
  }

  /** @param {Call} call */
  #withdraw = (call) => {
    this.#send(JSON.stringify({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id: call.id } }));
  };

  /** @param {any} response */
  #answered(response) {
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

  /** @param {any} params */
  #progress(params) {
    const call = this.#calls.get(params.id);
    if (call === undefined || call.settled) return;
    this.#guarded(`onProgress of ${call.method}`, () => call.progress(params.value));
  }

  /** @param {string} text */
  #fits(text) {
    // A UTF-16 unit is at most three bytes of UTF-8: only what may be too large is counted.
    return text.length * 3 <= this.#maxMessage || new TextEncoder().encode(text).length <= this.#maxMessage;
  }

  /**
   * @param {string} what
   * @param {() => void} body the application's code, whose failure must not stop the connection's
   */
  #guarded(what, body) {
    try {
      body();
    } catch (cause) {
      this.#report(failure("internal", `${what} failed: ${textOf(cause)}`, { cause }));
    }
  }

  /** @param {string} what */
  #ignore(what) {
    this.#report(bridgeError(codes.invalidRequest.code, `ignored ${what}`, { kind: "malformed" }));
  }
}

/**
 * @param {Close} close
 * @param {boolean} sent
 * @param {string} [method]
 */
function closedError({ code, reason, cause }, sent, method) {
  return new ConnectionClosed({ code, reason }, { sent, method, cause });
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

/** So that the ids of two loads of one page, which the server may know as one client, never meet. */
function randomPrefix() {
  return Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
