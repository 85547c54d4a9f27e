// @ts-check
import { cancelled, failure, hostFailure } from "../values/errors.js";

/** @typedef {import("../types/api.js").MethodHandler} MethodHandler */

/** Names that the protocol reserves. */
const RESERVED = /^(?:\$\/|rpc\.|(?:session|router|navigation|page|task|host|events|table)\.|event$)/;

/** Methods of this client that the server can call, under names that the app chooses. */
export class ClientMethods {
  /** @type {Map<string, MethodHandler>} */ #handlers = new Map();

  /**
   * @param {string} name
   * @param {MethodHandler} handler
   * @returns {() => void} removes the method
   */
  add(name, handler) {
    if (typeof name !== "string" || name === "" || RESERVED.test(name)) {
      throw failure("invalidParams", globalThis.__waybridgeBrief ? `The method "${name}" is reserved` : `A method cannot have the name ${JSON.stringify(name)}: it is empty, or reserved by the protocol`);
    }
    if (typeof handler !== "function") throw failure("invalidParams", `The method "${name}" needs a function`);
    if (this.#handlers.has(name)) throw failure("conflict", globalThis.__waybridgeBrief ? `The method "${name}" is there already` : `This client already has a method "${name}"; remove the first one before`);
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
   * Returns a method as a handler of requests and notifications.
   * @param {string} name
   * @returns {MethodHandler | undefined}
   */
  handler(name) {
    const handler = this.#handlers.get(name);
    return handler && ((params, call) => runHandler(call.signal, () => handler(params, call)));
  }
}

/**
 * Runs a handler of the application and converts its errors to those of a host.
 * @param {AbortSignal} signal aborted when the caller has cancelled
 * @param {() => unknown} body
 */
export async function runHandler(signal, body) {
  try {
    return await body();
  } catch (error) {
    throw signal.aborted ? cancelled() : hostFailure(error);
  }
}
