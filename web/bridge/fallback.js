// @ts-check
import { deputy } from "./deputy.js";
import { failure } from "./errors.js";
import { served } from "./methods.js";
import { placeOf, URIMap } from "./uri-map.js";

/** @typedef {import("./types.js").TaskHandler} TaskHandler */
/** @typedef {"open" | "invoke" | "canOpen"} Asking */

/** What the page does itself, by URI or pattern, where it runs outside of the app. */
export class Fallback {
  /** @type {URIMap<TaskHandler>} */ #handlers = new URIMap();

  /** @param {Record<string, TaskHandler>} entries by URI, pattern or scheme */
  constructor(entries) {
    for (const [key, handler] of Object.entries(entries)) {
      if (typeof handler !== "function") throw failure("invalidParams", `the fallback for ${key} needs a function`);
      this.#handlers.add({ ...placeOf(key), kind: "task" }, handler);
    }
  }

  /**
   * What the server answered, or, where there never was a bridge, what the fallback does.
   * @param {Promise<any>} sent
   * @param {import("./deputy.js").Acting} bridge
   * @param {Asking} what
   * @param {string} uri
   * @param {import("./types.js").Params | undefined} params
   * @param {import("./types.js").InvokeOptions} options its timeout bounds no fallback: people take their time
   * @returns {Promise<any>}
   */
  async orElse(sent, bridge, what, uri, params, { exts = {}, signal = new AbortController().signal, onProgress }) {
    try {
      return await sent;
    } catch (/** @type {any} */ error) {
      // Not by its class, since a page may have loaded the two from two files.
      if (error?.kind !== "noBridge") throw error;
      const found = this.#handlers.find(uri);
      if (what === "canOpen") return found === undefined ? { canOpen: false } : { canOpen: true, kind: "task" };
      if (found === undefined) throw error;
      const call = { uri, exts, signal, progress: (/** @type {unknown} */ value) => onProgress?.(value), ...deputy(bridge) };
      const data = await served(signal, () => found.handler({ ...found.params, ...params }, call));
      return what === "open" ? finished(data) : data;
    }
  }
}

/**
 * The part of a client with which something stands in for the app.
 * @param {Record<string, TaskHandler>} entries by URI, pattern or scheme: what `open` and `invoke` do where there is no bridge
 */
export function fallback(entries) {
  return new Fallback(entries);
}

/**
 * What a page of the app would have told, from what the fallback did.
 * @param {unknown} data
 * @returns {import("./types.js").Outcome}
 */
export function finished(data) {
  return { outcome: "finished", code: 0, message: "", data: data ?? null };
}
