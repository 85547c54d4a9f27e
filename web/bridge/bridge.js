// @ts-check
import { admission } from "./admission.js";
import { CallBuilder } from "./builder.js";
import { Capabilities } from "./capabilities.js";
import { events } from "./events.js";
import { fallback } from "./fallback.js";
import { fill } from "./fill.js";
import { Host } from "./host.js";
import { reload } from "./reload.js";

export * from "./host.js";
export { closeCodes, codes } from "./codes.js";
export { BridgeRefused } from "./errors.js";

/** @typedef {import("./types.js").BridgeOptions} BridgeOptions */
/** @typedef {import("./types.js").SessionInfo} SessionInfo */
/**
 * @template [Data=any]
 * @typedef {import("./types.js").Outcome<Data>} Outcome
 */
/** @typedef {import("./types.js").Page} Page */
/** @typedef {import("./types.js").Params} Params */
/** @typedef {import("./types.js").CallOptions} CallOptions */
/** @typedef {import("./types.js").KeyedOptions} KeyedOptions */
/** @typedef {import("./types.js").OpenOptions} OpenOptions */
/** @typedef {import("./types.js").InvokeOptions} InvokeOptions */
/** @typedef {import("./types.js").BackOptions} BackOptions */
/** @typedef {import("./types.js").FinishOptions} FinishOptions */
/** @typedef {import("./types.js").NavigationChange} NavigationChange */
/** @typedef {import("./types.js").PageHost} PageHost */
/** @typedef {import("./types.js").TaskHandler} TaskHandler */
/** @typedef {import("./types.js").MethodHandler} MethodHandler */
/** @typedef {import("./types.js").BridgeEvent} BridgeEvent */
/** @typedef {import("./types.js").EventHandler} EventHandler */
/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").StateChange} StateChange */
/** @typedef {import("./types.js").Lost} Lost */
/** @typedef {import("./types.js").PendingCall} PendingCall */
/** @typedef {import("./types.js").Unregister} Unregister */

/**
 * A client of one session with all that there is: what a `Host` does, the parts `events`, `reload`, `admission` and `fallback`, and calls
 * that are put together step by step.
 * @template [Routes=any] what is known of the routes: the `Routes` of the file that was generated from the table
 * @extends {Host<Routes>}
 */
export class Bridge extends Host {
  #hasFallback;
  #capabilities;

  /** @param {BridgeOptions} [options] */
  constructor(options = {}) {
    super(options, { events, reload, admission, fallback: options.fallback && fallback(options.fallback) });
    this.#hasFallback = options.fallback !== undefined;
    this.#capabilities = new Capabilities(this);
  }

  /**
   * Begins a call that is put together step by step: `bridge.build(uri).with("id", 2).open()`.
   * @param {import("./routes.js").AnyURI<Routes>} uri
   * @returns {CallBuilder}
   */
  build(uri) {
    return new CallBuilder(/** @type {any} */ (this), uri);
  }

  /**
   * Which routes fit a URI, in what order, with which parameters, and why; nothing is opened.
   * @template {import("./routes.js").AnyURI<Routes>} URI
   * @param {URI} uri
   * @param {import("./routes.js").Place<Routes, URI>} [params]
   * @returns {Promise<Record<string, any>>}
   */
  async explain(uri, params) {
    return this.request("router.explain", fill(uri, params));
  }

  /**
   * Hands over a link from outside of the app: of a push message, a shortcut, a universal link. Resolves when the server has it,
   * which follows it as soon as somebody can open it; what becomes of it is told by events.
   * @param {string | import("./types.js").ActionLink} link a URI, or a link in the shape of older servers
   * @param {Params} [params] with a URI
   * @returns {Promise<null>}
   */
  deliver(link, params) {
    return this.request("router.deliver", typeof link === "string" ? { uri: link, params } : link);
  }

  /**
   * The declared routes.
   * @returns {Promise<Record<string, any>[]>}
   */
  routes() {
    return this.request("router.routes");
  }

  /**
   * Whether the server has a method (`page.call`) or a capability of that name, or, of a URI, whether
   * something opens or runs it now. Without a bridge that is what the fallback does. Waits for the
   * connection; rejects when the server fails.
   * @param {string} what
   * @param {CallOptions} [options]
   * @returns {Promise<boolean>}
   */
  async supports(what, options) {
    if (what.includes(":")) return (await this.canOpen(/** @type {any} */ (what), undefined, options)).canOpen;
    try {
      return await this.#capabilities.has(what, options);
    } catch (/** @type {any} */ error) {
      if (!this.#hasFallback || error.kind !== "noBridge") throw error;
      return ["router.open", "router.invoke", "router.canOpen"].includes(what);
    }
  }
}
