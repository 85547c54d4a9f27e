// @ts-check
import { BridgeError, cancelled, failure, methodNotFound, textOf } from "../values/errors.js";
import { encode, withoutHalfPairs } from "../values/json-values.js";

/** The length to which the message of an error is cut if the peer does not accept it as a whole. */
const SHORT_MESSAGE = 1024;

/** @typedef {string | number | null} RequestID */
/**
 * A reference to a request, to make calls on behalf of its caller.
 * @typedef {{id: (method: string) => RequestID}} RequestReference `id`: returns the id for a call of `method`; throws once the request has a response
 */
/** @typedef {{signal: AbortSignal, progress: (value: unknown) => void}} RunContext */
/** @typedef {RunContext & {request: RequestReference}} RequestContext */
/** @typedef {(params: any, context: RequestContext) => unknown} RequestHandler a thrown `BridgeError` becomes the response */

/** Received requests. Each runs in its handler and gets exactly one response. */
export class IncomingRequests {
  /**
   * Running requests by id. The ids 1 and "1" are different.
   * @type {Map<RequestID, {controller: AbortController, key: unknown}>} `key`: the idempotency key of the call
   */
  #running = new Map();
  /**
   * The latest progress of each request while there is no connection.
   * @type {Map<RequestID, string> | undefined}
   */
  #latestProgress;
  #peer;
  #handlerOf;

  /**
   * @param {object} peer
   * @param {(text: string) => unknown} peer.send
   * @param {(text: string) => boolean} peer.fits whether the peer accepts a message of that size
   * @param {{report: (error: BridgeError) => void}} peer.client
   * @param {(method: string) => RequestHandler | undefined} handlerOf returns the handler of a method
   */
  constructor(peer, handlerOf) {
    this.#peer = peer;
    this.#handlerOf = handlerOf;
  }

  /**
   * @param {RequestID} id
   * @param {string} method
   * @param {any} params
   */
  async handle(id, method, params) {
    const handler = this.#handlerOf(method);
    if (handler === undefined) return this.#respondError(id, methodNotFound(method));
    if (this.#running.has(id)) return this.#respondError(id, failure("conflict", globalThis.__waybridgeBrief ? "The id is in use" : `The request ${JSON.stringify(id)} is still running`));
    const controller = new AbortController();
    const running = { controller, key: params?.key };
    this.#running.set(id, running);
    // False once the connection has closed; then there is no peer to respond to.
    const isRunning = () => this.#running.get(id) === running;
    try {
      /** @type {any} */
      const result = await handler(params ?? {}, {
        signal: controller.signal,
        progress: (value) => {
          try {
            if (isRunning()) this.#progress(id, value);
          } catch (error) {
            this.#peer.client.report(/** @type {BridgeError} */ (error));
          }
        },
        request: { id: (called) => requestID(id, isRunning(), called) },
      });
      // A response needs a result, also if its `toJSON` returns `undefined`.
      const value = typeof result?.toJSON === "function" ? result.toJSON("result") : result;
      const text = this.#encode(`The result of ${method}`, { jsonrpc: "2.0", id, result: value ?? null });
      if (isRunning()) this.#peer.send(text);
    } catch (error) {
      if (isRunning()) this.#respondError(id, error);
    } finally {
      if (isRunning()) this.#end(id);
    }
  }

  /**
   * Aborts the handler because the peer cancelled the request. The request still gets a response.
   * @param {RequestID} id
   */
  cancel(id) {
    this.#running.get(id)?.controller.abort(cancelled());
  }

  /** Called when the connection has closed and another one will continue the running requests. */
  pause() {
    this.#latestProgress ??= new Map();
  }

  /** Called when there is a connection. */
  start() {
    const latest = this.#latestProgress ?? [];
    this.#latestProgress = undefined;
    for (const [, text] of latest) this.#peer.send(text);
  }

  /**
   * Aborts running requests and sends no responses to them.
   * @param {BridgeError} error
   * @param {boolean} [keepsKeyed] whether requests with an idempotency key continue
   */
  interrupt(error, keepsKeyed = false) {
    const aborted = [...this.#running].filter(([, { key }]) => !keepsKeyed || key === undefined);
    for (const [id] of aborted) this.#end(id);
    for (const [, { controller }] of aborted) controller.abort(error);
  }

  /** @param {RequestID} id */
  #end(id) {
    this.#running.delete(id);
    this.#latestProgress?.delete(id);
  }

  /**
   * Encodes a message for the peer. Throws if it cannot be sent.
   * @param {string} what the content of the message
   * @param {object} message
   */
  #encode(what, message) {
    let text;
    try {
      text = encode(message);
    } catch (cause) {
      throw failure("internal", `${what} cannot be sent: ${textOf(cause)}`, { cause });
    }
    if (this.#peer.fits(text)) return text;
    throw failure("tooLarge", globalThis.__waybridgeBrief ? `${what} is too large` : `${what} is larger than the server's limit`);
  }

  /**
   * @param {RequestID} id
   * @param {unknown} reason
   */
  #respondError(id, reason) {
    const error = reason instanceof BridgeError ? reason : failure("internal", textOf(reason));
    this.#peer.send(encodeError({ jsonrpc: "2.0", id }, error, (text) => this.#peer.fits(text)));
  }

  /**
   * @param {RequestID} id
   * @param {unknown} value
   */
  #progress(id, value) {
    const text = this.#encode("A progress value", { jsonrpc: "2.0", method: "$/progress", params: { id, value: value ?? null } });
    if (this.#latestProgress === undefined) this.#peer.send(text);
    else this.#latestProgress.set(id, text);
  }
}

/**
 * Encodes an error as JSON. Data that JSON cannot represent, or that does not fit, is left out; a message is repaired, and shortened if it does
 * not fit.
 * @param {object} message the message to which the error is added
 * @param {BridgeError} error
 * @param {(text: string) => boolean} fits
 * @returns {string}
 */
export function encodeError(message, { code, message: stated, data }, fits) {
  let text = "";
  for (const [more, length] of /** @type {[object, number][]} */ ([[{ data }, Infinity], [{}, Infinity], [{}, SHORT_MESSAGE]])) {
    try {
      text = encode({ ...message, error: { code, message: withoutHalfPairs(stated.slice(0, length)), ...more } });
      if (fits(text)) break;
    } catch {
      // The next one has no data.
    }
  }
  return text;
}

/**
 * Returns the id of a request for a call on behalf of its caller.
 * @param {RequestID} id
 * @param {boolean} isRunning whether the request still has no response
 * @param {string} method the method to call
 */
export function requestID(id, isRunning, method) {
  // The server treats null as absent: it would make the call with this client's own rights.
  if (id !== null && isRunning) return id;
  const why = globalThis.__waybridgeBrief ? "" : ": the request has its response, its connection has closed, or it was a notification";
  throw failure("invalidParams", `${method} cannot be called on behalf of the caller${why}`, { method });
}
