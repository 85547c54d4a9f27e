// @ts-check
import { BridgeError, cancelled, failure, textOf } from "./errors.js";

/** @typedef {string | number | null} RequestID */
/**
 * A request, for whose caller this side may call in turn.
 * @typedef {{asked: (method: string) => RequestID}} Served `asked`: its id, while the other side waits for its answer, so that a method can be called for it
 */
/** @typedef {{signal: AbortSignal, progress: (value: unknown) => void}} Running */
/** @typedef {Running & {request: Served}} RequestContext */
/** @typedef {(params: any, context: RequestContext) => unknown} RequestHandler throws a `BridgeError` to answer with it */

/** The requests that the other side made: each runs in its handler, and is answered exactly once. */
export class Serving {
  /**
   * By id, whose type counts: 1 and "1" are two.
   * @type {Map<RequestID, AbortController>}
   */
  #running = new Map();
  /**
   * While nobody is connected, the latest progress of each.
   * @type {Map<RequestID, string> | undefined}
   */
  #waiting;
  #peer;
  #report;

  /**
   * @param {object} peer
   * @param {(text: string) => unknown} peer.send
   * @param {(text: string) => boolean} peer.fits whether the other side takes a message of that size
   * @param {(error: BridgeError) => void} report
   */
  constructor(peer, report) {
    this.#peer = peer;
    this.#report = report;
  }

  /**
   * @param {RequestID} id
   * @param {string} method
   * @param {unknown} params
   * @param {RequestHandler | undefined} handler
   */
  async serve(id, method, params, handler) {
    if (handler === undefined) return this.#refuse(id, noMethod(method));
    if (this.#running.has(id)) return this.#refuse(id, failure("conflict", `the request ${JSON.stringify(id)} is still running`));
    const controller = new AbortController();
    this.#running.set(id, controller);
    // False as soon as the connection ended: then there is nobody to answer.
    const isRunning = () => this.#running.get(id) === controller;
    try {
      const result = await handler(params ?? {}, {
        signal: controller.signal,
        progress: (value) => {
          if (isRunning()) this.#progress(id, value);
        },
        request: { asked: (called) => asked(id, isRunning(), called) },
      });
      if (isRunning()) this.#answer(id, method, result);
    } catch (error) {
      if (isRunning()) this.#refuse(id, error);
    } finally {
      if (isRunning()) this.#end(id);
    }
  }

  /**
   * The other side no longer wants the answer; it gets one all the same.
   * @param {RequestID} id
   */
  cancel(id) {
    this.#running.get(id)?.abort(cancelled());
  }

  /** The connection ended, and another will go on with what runs. */
  pause() {
    this.#waiting ??= new Map();
  }

  /** There is a connection. */
  start() {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const [, text] of waiting) this.#peer.send(text);
  }

  /**
   * Aborts everything that runs, and answers none of it.
   * @param {BridgeError} error
   */
  interrupt(error) {
    this.#waiting = undefined;
    const controllers = [...this.#running.values()];
    this.#running.clear();
    for (const controller of controllers) controller.abort(error);
  }

  /** @param {RequestID} id */
  #end(id) {
    this.#running.delete(id);
    this.#waiting?.delete(id);
  }

  /**
   * @param {RequestID} id
   * @param {string} method
   * @param {unknown} result
   */
  #answer(id, method, result) {
    let encoded;
    try {
      encoded = JSON.stringify(result === undefined ? null : result);
      if (encoded === undefined) throw new TypeError(`a ${typeof result} has no JSON`);
    } catch (error) {
      return this.#refuse(id, failure("internal", `the result of ${method} can not be JSON: ${textOf(error)}`));
    }
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${encoded}}`;
    if (this.#peer.fits(text)) this.#peer.send(text);
    else this.#refuse(id, failure("tooLarge", `the result of ${method} is larger than the server's limit`));
  }

  /**
   * @param {RequestID} id
   * @param {unknown} reason
   */
  #refuse(id, reason) {
    const error = reason instanceof BridgeError ? reason : failure("internal", textOf(reason));
    const { code, message, data } = error;
    const withoutData = JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
    try {
      const text = JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
      this.#peer.send(this.#peer.fits(text) ? text : withoutData);
    } catch {
      this.#peer.send(withoutData);
    }
  }

  /**
   * @param {RequestID} id
   * @param {unknown} value
   */
  #progress(id, value) {
    let text;
    try {
      text = JSON.stringify({ jsonrpc: "2.0", method: "$/progress", params: { id, value: value ?? null } });
    } catch (cause) {
      return this.#report(failure("internal", `a progress value can not be JSON: ${textOf(cause)}`, { cause }));
    }
    if (!this.#peer.fits(text)) return this.#report(failure("tooLarge", "a progress value is larger than the server's limit"));
    if (this.#waiting === undefined) this.#peer.send(text);
    else this.#waiting.set(id, text);
  }
}

/** @param {string} method */
export function noMethod(method) {
  return failure("methodNotFound", `this client has no method ${method}`);
}

/**
 * The id to call by on behalf of who asked.
 * @param {RequestID} id
 * @param {boolean} isRunning whether the other side waits for the answer
 * @param {string} method that is to be called
 */
export function asked(id, isRunning, method) {
  // A null would be read as none: the call would be made with this client's own rights.
  if (id !== null && isRunning) return id;
  const why = "the request has been answered, or its connection has ended, or it was a notification";
  throw failure("invalidParams", `${method} can not be called on behalf of who asked: ${why}`, { method });
}
