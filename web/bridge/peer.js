// @ts-check
import { Calling } from "./calling.js";
import { codes } from "./codes.js";
import { bridgeError, closedError, failure, textOf } from "./errors.js";
import { Serving } from "./serving.js";

/** @typedef {(params: any, context: import("./serving.js").RequestContext) => unknown} NotificationHandler */
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
   * @param {(message: any, units: number) => boolean} [wiring.takes] whether a message that has a number is to be looked at; `units`:
   *   the length of its text
   * @param {(params: any) => void} [wiring.acknowledged] hears `$/ack`
   * @param {(error: import("./errors.js").BridgeError) => void} wiring.report what went wrong where no caller waits
   * @param {(method: string) => import("./serving.js").RequestHandler | undefined} wiring.request who answers it
   * @param {(method: string) => NotificationHandler | undefined} wiring.notification who hears it
   * @param {{count: number, bytes: number}} [wiring.queue] how much may wait for `start`
   * @param {import("./clock.js").Clock} wiring.clock
   */
  constructor({ queue = { count: Infinity, bytes: Infinity }, ...wiring }) {
    this.#wiring = wiring;
    const { send, report, clock } = wiring;
    const fits = (/** @type {string} */ text) => this.#fits(text);
    this.#calling = new Calling({ send, fits, queue, clock });
    this.#serving = new Serving({ send, fits, report });
  }

  /**
   * @param {string} method
   * @param {unknown} [params] an object, a list or nothing
   * @param {import("./types.js").CallOptions & {first?: boolean, asker?: unknown, taken?: (result: any) => void}} [options] `first` goes
   *   out before `start`; `asker` is kept with the call; `taken` is told the result before anything else that comes is looked at
   * @returns {Promise<any>}
   */
  request(method, params, options) {
    return this.#calling.request(method, params, options);
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
    this.#serving.start();
    this.#calling.start();
  }

  /** There is room for calls that wait. */
  flush() {
    this.#calling.flush();
  }

  /**
   * The connection ended, and the session goes on with another: nothing fails that was not about the connection.
   * @param {Close} close
   */
  pause(close) {
    this.#calling.pause(close);
    this.#serving.pause();
  }

  /**
   * The session was lost, and another has begun: what was sent without a key fails, and what is being served is aborted.
   * @param {string} why
   */
  renew(why) {
    const lost = this.#calling.renew();
    for (const call of lost) call.fail(failure("outcomeUnknown", why, { method: call.method }));
    this.#serving.interrupt(failure("outcomeUnknown", why));
    return lost.map((call) => call.asked);
  }

  /**
   * The server has begun anew, and the session goes on: what it had asked is no longer asked, and is aborted.
   * @param {string} why
   */
  unask(why) {
    this.#serving.interrupt(failure("outcomeUnknown", why));
  }

  /** The calls that have to be known after a reload of the page. */
  get asked() {
    return this.#calling.asked;
  }

  /** @param {import("./calling.js").Asked} asked of an earlier load of the page */
  adopt(asked) {
    return this.#calling.adopt(asked);
  }

  /**
   * Fails what the server has lost, as soon as all has come that it still had to send.
   * @param {number} received the last message that it has taken
   * @param {Set<unknown>} pending ids of those that it still works on
   * @returns {Promise<import("./calling.js").Asked[]>} the lost
   */
  async settle(received, pending) {
    const doubtful = this.#calling.doubtful(received, pending);
    if (doubtful.length === 0) return [];
    await this.request("$/ping", undefined, { first: true });
    const lost = doubtful.filter((call) => !call.settled);
    for (const call of lost) call.fail(failure("outcomeUnknown", "the server has lost the call", { method: call.method }));
    return lost.map((call) => call.asked);
  }

  /**
   * Fails every call that was sent, and aborts every request that is being served.
   * @param {Close} close
   * @returns {import("./calling.js").Asked[]} the calls
   */
  interrupt(close) {
    const { asked } = this.#calling;
    this.#calling.interrupt(close);
    this.#serving.interrupt(closedError(close, true));
    return asked;
  }

  /**
   * Fails every call, and aborts every request that is being served.
   * @param {Close & {absent?: boolean}} close
   */
  close(close) {
    this.#calling.close(close);
    this.#serving.interrupt(closedError(close, true));
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
    if (message.method === "$/ack" && !hasID) return this.#wiring.acknowledged?.(message.params ?? {});
    if (!this.#isBare(message) && !(this.#wiring.takes?.(message, data.length) ?? true)) return;
    if (Object.hasOwn(message, "method")) {
      const { id, method, params } = message;
      if (typeof method !== "string") return this.#ignore("a method that is no text");
      if (params !== undefined && (typeof params !== "object" || params === null)) {
        return this.#ignore(`params of ${method} that are neither object nor list`);
      }
      if (!hasID) return void this.#notified(method, params ?? {});
      if (id !== null && typeof id !== "string" && typeof id !== "number") {
        return this.#ignore(`an id of ${method} that is neither text, number nor null`);
      }
      const handler = method === "$/ping" ? () => null : this.#wiring.request(method);
      void this.#serving.serve(id, method, params, handler);
    } else if (hasID && Object.hasOwn(message, "result") !== Object.hasOwn(message, "error")) {
      this.#calling.answered(message);
    } else {
      this.#ignore("a message that is neither request nor response");
    }
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  async #notified(method, params) {
    let what = method;
    try {
      if (method === "$/cancelRequest") return this.#serving.cancel(params.id);
      if (method !== "$/progress") return void (await this.#wiring.notification(method)?.(params, unanswered()));
      const call = this.running(params.id);
      what = `onProgress of ${call?.method}`;
      call?.progress(params.value);
    } catch (cause) {
      // The application's code, whose failure must not stop the connection's.
      this.#wiring.report(failure("internal", `${what} failed: ${textOf(cause)}`, { cause }));
    }
  }

  /**
   * Whether a message has no number: it is a ping, or answers what had none.
   * @param {any} message
   */
  #isBare(message) {
    if (message.method !== undefined) return message.method === "$/ping" && message.id !== undefined;
    return message.seq === undefined && !this.#calling.isNumbered(message.id);
  }

  /** @param {string} text */
  #fits(text) {
    // A UTF-16 unit is at most three bytes of UTF-8: only what may be too large is counted.
    return text.length * 3 <= this.#maxMessage || new TextEncoder().encode(text).length <= this.#maxMessage;
  }

  /** @param {string} what */
  #ignore(what) {
    this.#wiring.report(bridgeError(codes.invalidRequest.code, `ignored ${what}`, { kind: "malformed" }));
  }
}

/**
 * In what a notification is heard: nobody waits for anything.
 * @returns {import("./serving.js").RequestContext}
 */
function unanswered() {
  return { signal: new AbortController().signal, progress: () => {}, request: { id: null, isRunning: () => false } };
}
