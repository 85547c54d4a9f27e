// @ts-check
import { admission } from "./admission.js";
import { CallBuilder } from "./builder.js";
import { events } from "./events.js";
import { fallback } from "./fallback.js";
import { expandTemplate } from "./uri/uri-template.js";
import { Host } from "./host.js";
import { reload } from "./reload.js";
import { failure } from "./values/errors.js";

export * from "./host.js";
export { closeCodes, codes } from "./codes.js";
export { BridgeRejectedError } from "./values/errors.js";

/** @typedef {import("./types/api.js").BridgeOptions} BridgeOptions */
/** @typedef {import("./types/api.js").SessionInfo} SessionInfo */
/**
 * @template [Data=any]
 * @typedef {import("./types/api.js").Outcome<Data>} Outcome
 */
/**
 * @template [Data=any]
 * @typedef {import("./types/api.js").Finished<Data>} Finished
 */
/** @typedef {import("./types/api.js").Unfinished} Unfinished */
/** @typedef {import("./types/api.js").Page} Page */
/** @typedef {import("./types/api.js").Params} Params */
/** @typedef {import("./types/api.js").CallOptions} CallOptions */
/** @typedef {import("./types/api.js").KeyedOptions} KeyedOptions */
/** @typedef {import("./types/api.js").OpenOptions} OpenOptions */
/** @typedef {import("./types/api.js").InvokeOptions} InvokeOptions */
/** @typedef {import("./types/api.js").BackOptions} BackOptions */
/** @typedef {import("./types/api.js").FinishOptions} FinishOptions */
/** @typedef {import("./types/api.js").NavigationChange} NavigationChange */
/** @typedef {import("./types/api.js").PageHost} PageHost */
/** @typedef {import("./types/api.js").TaskHandler} TaskHandler */
/** @typedef {import("./types/api.js").MethodHandler} MethodHandler */
/** @typedef {import("./types/api.js").BridgeEvent} BridgeEvent */
/** @typedef {import("./types/api.js").EventHandler} EventHandler */
/** @typedef {import("./types/api.js").State} State */
/** @typedef {import("./types/api.js").StateChange} StateChange */
/** @typedef {import("./types/api.js").Lost} Lost */
/** @typedef {import("./types/api.js").PendingCall} PendingCall */
/** @typedef {import("./types/api.js").Unregister} Unregister */
/** @typedef {import("./types/api.js").Leave} Leave */
/** @typedef {import("./types/api.js").LeaveGuard} LeaveGuard */

/**
 * A client of one session with all functions: those of a `Host`, the parts `events`, `reload`, `admission` and `fallback`, and a builder for
 * calls.
 * @template [Routes=any] the `Routes` type of the file that was generated from the route table
 * @extends {Host<Routes>}
 */
export class Bridge extends Host {
  #hasFallback;
  /** @type {Set<string>} the methods and capabilities of the server, requested once for each session */ #capabilities = new Set();
  /** @type {SessionInfo | undefined} the session for which they were requested */ #capableSession;

  /** @param {BridgeOptions} [options] */
  constructor(options = {}) {
    super(options, { events, reload, admission, fallback: options.fallback && fallback(options.fallback) });
    this.#hasFallback = options.fallback !== undefined;
  }

  /**
   * Returns a builder for a call: `bridge.build(uri).with("id", 2).open()`.
   * @param {import("./types/routes.js").AnyURI<Routes>} uri
   * @returns {CallBuilder}
   */
  build(uri) {
    return new CallBuilder(/** @type {any} */ (this), uri);
  }

  /**
   * Returns which routes match a URI, in which order, with which parameters, and why. It opens nothing.
   * @template {import("./types/routes.js").AnyURI<Routes>} URI
   * @param {URI} uri
   * @param {import("./types/routes.js").Place<Routes, URI>} [params]
   * @returns {Promise<Record<string, any>>}
   */
  async explain(uri, params) {
    return this.request("router.explain", expandTemplate("explain", uri, params));
  }

  /**
   * Delivers a deep link, for example from a push message, a shortcut or a universal link. Resolves when the server has accepted it. The
   * server follows it as soon as a host can open it; events report the result.
   * @param {string | import("./types/api.js").ActionLink} link a URI, or an `{action, action_url}` map
   * @param {Params} [params] only if the link is a URI
   * @param {import("./types/api.js").DeliverOptions} options
   * @returns {Promise<null>}
   */
  deliver(link, params, { key, style, exts, ...call } = {}) {
    const target = typeof link === "string" ? { uri: link, params } : link;
    return this.request("router.deliver", { key, style, exts, ...target }, call);
  }

  /**
   * Returns the declared routes.
   * @returns {Promise<Record<string, any>[]>}
   */
  routes() {
    return this.request("router.routes");
  }

  /**
   * Returns whether the server has a method (`page.call`) or a capability with this name, or, for a URI, whether a host or handler can open
   * or run it now. Without a bridge the answer is that of the fallback. Waits for the connection, and rejects if the server fails.
   * @param {string} what
   * @param {CallOptions} [options]
   * @returns {Promise<boolean>}
   */
  async supports(what, options) {
    if (typeof what !== "string") throw failure("invalidParams", "supports needs a URI or the name of a method or capability");
    if (what.includes(":")) return (await this.canOpen(/** @type {any} */ (what), undefined, options)).canOpen;
    try {
      if (this.#capableSession === undefined || this.#capableSession !== this.session) {
        const { methods } = await this.request("rpc.discover", undefined, options);
        this.#capableSession = this.session;
        this.#capabilities = new Set([...methods.map((/** @type {any} */ { name }) => name), ...(this.session?.capabilities ?? [])]);
      }
      return this.#capabilities.has(what);
    } catch (/** @type {any} */ error) {
      if (!this.#hasFallback || error.kind !== "noBridge") throw error;
      return ["router.open", "router.invoke", "router.canOpen"].includes(what);
    }
  }
}
