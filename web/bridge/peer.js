// @ts-check
import { sizeOf } from "./call.js";
import { Calling } from "./calling.js";
import { codeOf } from "./codes.js";
import { bridgeError, closedError, failure, textOf } from "./errors.js";

/** @typedef {(params: any) => unknown} NotificationHandler */
/** @typedef {import("./connection.js").Close} Close */
/**
 * Hands a text on. What is `bare` has no number; what `canWait` comes again when there is room. False when it can not go out now,
 * else its number where it has one.
 * @typedef {(text: string, how?: {bare?: boolean, canWait?: boolean}) => number | boolean} Send
 */

/**
 * JSON-RPC 2.0 in both directions over texts. Calls wait until `start`; after `interrupt` they wait again; after `close`
 * everything fails. It knows no socket and no route.
 */
export class Peer {
  #maxMessage = Infinity;
  #calling;
  #serving;
  #wiring;

  /**
   * @param {object} wiring
   * @param {Send} wiring.send
   * @param {(message: any, units: number) => boolean} [wiring.takes] whether a message is to be looked at; `units`:
   *   the length of its text
   * @param {(params: any) => void} [wiring.acknowledged] hears `$/ack`
   * @param {(error: import("./errors.js").BridgeError) => void} wiring.report what went wrong where no caller waits
   * @param {typeof import("./serving.js").Serving} [wiring.Serving] what answers requests; without, this side has no methods
   * @param {(method: string) => import("./serving.js").RequestHandler | undefined} [wiring.request] who answers it
   * @param {(method: string) => NotificationHandler | undefined} wiring.notification who hears it
   * @param {{count: number, bytes: number}} [wiring.queue] how much may wait for `start`
   * @param {import("./clock.js").Clock} wiring.clock
   */
  constructor({ queue = { count: Infinity, bytes: Infinity }, Serving, ...wiring }) {
    this.#wiring = wiring;
    const { send, report, clock } = wiring;
    const fits = (/** @type {string} */ text) => this.#fits(text);
    this.#calling = new Calling({ send, fits, queue, clock });
    this.#serving = Serving && new Serving({ send, fits, report });
  }

  /**
   * @param {string} method
   * @param {unknown} [params] an object, a list or nothing
   * @param {import("./call.js").AskOptions} [options]
   * @returns {Promise<any>}
   */
  request(method, params, options) {
    return this.#calling.request(method, params, options);
  }

  /** Asks whether the other side is there, at once or not at all. */
  ping() {
    return this.request("$/ping", undefined, { first: true });
  }

  /** What this side has asked, by id. */
  get calls() {
    return this.#calling.calls;
  }

  /**
   * The call of this side that has that id, while it is not answered.
   * @param {unknown} id
   */
  running(id) {
    return this.#calling.running(id);
  }

  /**
   * Tells the other side something; what can not go out now is dropped.
   * @param {string} method
   * @param {unknown} [params]
   */
  notify(method, params) {
    this.#wiring.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /**
   * @param {unknown} [maxMessage] the largest message, in bytes, that the other side takes, if it said so
   * @param {number} [overhead] how much of that is not the message's own
   */
  start(maxMessage, overhead = 0) {
    if (typeof maxMessage === "number") this.#maxMessage = maxMessage - overhead;
    this.#serving?.start();
    this.#calling.start();
  }

  /** There is room for calls that wait. */
  flush() {
    this.#calling.flush();
  }

  /** The connection ended, and the session goes on with another. */
  pause() {
    this.#calling.pause();
    this.#serving?.pause();
  }

  /**
   * What the server had asked is no longer asked, and is aborted.
   * @param {string} why
   */
  unask(why) {
    this.#serving?.interrupt(failure("outcomeUnknown", why));
  }

  /** @param {import("./call.js").Asked} asked of an earlier load of the page */
  adopt(asked) {
    return this.#calling.adopt(asked);
  }

  /**
   * Fails every call that was sent, and aborts every request that is being served.
   * @param {Close} close
   * @returns {import("./call.js").Asked[]} the calls
   */
  interrupt(close) {
    this.#serving?.interrupt(closedError(close, true));
    return this.#calling.interrupt(close);
  }

  /**
   * Fails every call, and aborts every request that is being served.
   * @param {Close & {absent?: boolean}} close
   */
  close(close) {
    this.#calling.close(close);
    this.#serving?.interrupt(closedError(close, true));
  }

  /**
   * Takes one incoming message.
   * @param {unknown} data
   */
  receive(data) {
    /** @type {any} */
    let message;
    try {
      message = typeof data === "string" && JSON.parse(data);
    } catch {
      // Then it is none.
    }
    const { jsonrpc, id, method, params, result, error } = message ?? {};
    if (jsonrpc !== "2.0") return this.#ignore("no JSON-RPC 2.0");
    if (method === "$/ack" && id === undefined) return this.#wiring.acknowledged?.(params ?? {});
    if (this.#wiring.takes?.(message, String(data).length) === false) return;
    const isCall = typeof method === "string" && (params === undefined || (typeof params === "object" && params !== null));
    if (isCall && id === undefined) void this.#notified(method, params ?? {});
    else if (isCall && (id === null || typeof id === "string" || typeof id === "number")) this.#asked(id, method, params);
    else if (method === undefined && id !== undefined && (result === undefined) !== (error === undefined)) this.#calling.answered(message);
    else this.#ignore("neither request nor response");
  }

  /**
   * @param {import("./serving.js").RequestID} id
   * @param {string} method
   * @param {unknown} params
   */
  #asked(id, method, params) {
    const answer = { jsonrpc: "2.0", id };
    if (method === "$/ping") this.#wiring.send(JSON.stringify({ ...answer, result: null }), { bare: true });
    else if (this.#serving !== undefined) void this.#serving.serve(id, method, params, this.#wiring.request?.(method));
    else this.#wiring.send(JSON.stringify({ ...answer, error: { code: codeOf.methodNotFound, message: `this client has no method ${method}` } }));
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  async #notified(method, params) {
    let what = method;
    try {
      if (method === "$/cancelRequest") return this.#serving?.cancel(params.id);
      if (method !== "$/progress") return void (await this.#wiring.notification(method)?.(params));
      const call = this.running(params.id);
      what = `onProgress of ${call?.asked.method}`;
      call?.progress(params.value);
    } catch (cause) {
      // The application's code, whose failure must not stop the connection's.
      this.#wiring.report(failure("internal", `${what} failed: ${textOf(cause)}`, { cause }));
    }
  }

  /** @param {string} text */
  #fits(text) {
    // A UTF-16 unit is at most three bytes of UTF-8: only what may be too large is counted.
    return text.length * 3 <= this.#maxMessage || sizeOf(text) <= this.#maxMessage;
  }

  /** @param {string} what */
  #ignore(what) {
    this.#wiring.report(bridgeError(codeOf.invalidRequest, `ignored a message that is ${what}`, { kind: "malformed" }));
  }
}
