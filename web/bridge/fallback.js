// @ts-check
import { delegation } from "./calls/delegation.js";
import { platformClock } from "./connection/clock.js";
import { KeyedResults } from "./hosting/keyed-results.js";
import { failure, runHandler } from "./values/errors.js";
import { declarationOf, URIMap } from "./uri/uri-map.js";
import { normalForm } from "./uri/uri.js";

/** @typedef {import("./types/api.js").TaskHandler} TaskHandler */
/** @typedef {"open" | "invoke" | "canOpen"} FallbackMethod */

/** Handlers of the page itself, by URI or pattern, for running outside of the app. */
export class Fallback {
  /** @type {URIMap<TaskHandler>} */ #handlers = new URIMap();
  #results = new KeyedResults(platformClock);

  /** @param {Record<string, TaskHandler>} entries by URI, pattern or scheme */
  constructor(entries) {
    for (const [key, handler] of Object.entries(entries)) {
      if (typeof handler !== "function") throw failure("invalidParams", `The fallback for "${key}" needs a function`);
      this.#handlers.add({ ...declarationOf(key), kind: "task" }, handler);
    }
  }

  /**
   * Returns the result of the server or, if there is no bridge, of the fallback.
   * @param {Promise<any>} sent
   * @param {import("./calls/delegation.js").CallFunctions} bridge
   * @param {FallbackMethod} what
   * @param {string} uri
   * @param {import("./types/api.js").Params | undefined} params
   * @param {import("./types/api.js").InvokeOptions} options the timeout does not apply to a fallback, which may wait for the user
   * @returns {Promise<any>}
   */
  async orElse(sent, bridge, what, uri, params, { exts = {}, key, signal = new AbortController().signal, onProgress }) {
    try {
      return await sent;
    } catch (/** @type {any} */ error) {
      // The class is not compared, because a page can load it from two files.
      if (error?.kind !== "noBridge") throw error;
      const found = this.#handlers.find(uri);
      if (what === "canOpen") return found === undefined ? { canOpen: false } : { canOpen: true, kind: "task" };
      if (found === undefined) throw error;
      const progress = (/** @type {unknown} */ value) => onProgress?.(value);
      const call = { uri: normalForm(uri), exts, signal, progress, ...this.#results.context([found.host], { key }), ...delegation(bridge) };
      const data = await runHandler(signal, () => found.handler({ ...found.params, ...params }, call));
      return what === "open" ? finished(data) : data;
    }
  }
}

/**
 * The part of a client that handles calls when there is no bridge.
 * @param {Record<string, TaskHandler>} entries handlers of `open` and `invoke`, by URI, pattern or scheme
 */
export function fallback(entries) {
  return new Fallback(entries);
}

/**
 * Returns the outcome of a finished page with this data.
 * @param {unknown} data
 * @returns {import("./types/api.js").Outcome}
 */
export function finished(data) {
  return { outcome: "finished", code: 0, message: "", data: data ?? null };
}
