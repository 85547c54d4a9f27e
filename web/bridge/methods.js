// @ts-check
import { cancelled, failure, hostFailure } from "./errors.js";

/** @typedef {import("./types.js").MethodHandler} MethodHandler */

/** Names that the protocol gives a meaning of its own. */
const RESERVED = /^(?:\$\/|rpc\.|(?:session|router|navigation|page|task|host|events|table)\.|event$)/;

/** The methods that the server may call of this client, under names that the app agreed on. */
export class Methods {
  /** @type {Map<string, MethodHandler>} */ #handlers = new Map();

  /**
   * @param {string} name
   * @param {MethodHandler} handler
   * @returns {() => void} takes it back
   */
  add(name, handler) {
    if (typeof name !== "string" || name === "" || RESERVED.test(name)) {
      throw failure("invalidParams", `${JSON.stringify(name)} can not be a method of a client${globalThis.__waybridgeBrief ? "" : ": the protocol's own names can not"}`);
    }
    if (typeof handler !== "function") throw failure("invalidParams", `the method ${name} needs a function`);
    if (this.#handlers.has(name)) throw failure("conflict", `this client has a method ${name} already${globalThis.__waybridgeBrief ? "" : "; take the first back before"}`);
    this.#handlers.set(name, handler);
    return () => {
      if (this.#handlers.get(name) === handler) this.#handlers.delete(name);
    };
  }

  /** @param {string} name */
  get(name) {
    return this.#handlers.get(name);
  }

  /**
   * As what answers a request, or hears a notification.
   * @param {string} name
   * @returns {MethodHandler | undefined}
   */
  handler(name) {
    const handler = this.#handlers.get(name);
    return handler && ((params, call) => served(call.signal, () => handler(params, call)));
  }
}

/**
 * Runs a handler of the application; what it throws is what a caller gets from a host.
 * @param {AbortSignal} signal the caller no longer wants it
 * @param {() => unknown} body
 */
export async function served(signal, body) {
  try {
    return await body();
  } catch (error) {
    throw signal.aborted ? cancelled() : hostFailure(error);
  }
}
