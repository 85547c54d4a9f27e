// @ts-check
import { failure, textOf } from "./values/errors.js";
import { RouteTool } from "./webmcp/route-tool.js";
import { codeIn } from "./webmcp/tool-result.js";

/** @typedef {import("./caller.js").Caller<any>} Caller */
/** @typedef {import("./webmcp/route-tool.js").Route} Route */
/** @typedef {import("./webmcp/route-tool.js").ToolAnnotations} ToolAnnotations */
/** @typedef {import("./webmcp/tool-result.js").ToolResult} ToolResult */
/**
 * @typedef {object} ModelContextTool a tool, as WebMCP defines it
 * @property {string} name
 * @property {string} [title]
 * @property {string} description
 * @property {object} inputSchema
 * @property {ToolAnnotations} annotations
 * @property {(input: any, call?: {signal?: AbortSignal}) => Promise<ToolResult>} execute
 *
 * @typedef {object} ModelContext `document.modelContext` of WebMCP, as far as it is used here
 * @property {(tool: ModelContextTool, options: {signal: AbortSignal, exposedTo?: string[]}) => unknown} registerTool
 *
 * @typedef {object} OfferOptions
 * @property {(route: Route) => boolean} [filter] chooses among the routes that are tools for agents; default: all of them
 * @property {string[]} [exposedTo] other origins whose frames in this page may call the tools; default: none
 * @property {number} [timeout] milliseconds within which a task must return or a page must be shown
 * @property {boolean} [untrusted] whether results can contain text of strangers, such as comments; browsers then take precautions. Default: false
 * @property {AbortSignal} [signal] stops offering the tools when it is aborted
 */

/**
 * Offers an app's routes as tools to the agents of a browser, with WebMCP: the routes that the table marks with `agents` and that this client can
 * call: the policy allows it, and a handler or host serves the route. The tools follow changes of the route table. A call has the rights of this
 * client. Without WebMCP it does nothing.
 *
 * ```js
 * const offer = offerTools(bridge, document.modelContext);
 * await offer.ready;
 * console.log(offer.isSupported, offer.tools);
 * ```
 *
 * An error of a call is a result with `isError`, whose text says what the agent should do. Errors that belong to no call are dispatched as `error`
 * events of the client.
 * @param {Caller} bridge a client with the part `events`, such as a `Bridge`
 * @param {ModelContext | null} [modelContext] default: `document.modelContext`
 * @param {OfferOptions} [options]
 * @returns {ToolOffer}
 */
export function offerTools(bridge, modelContext = /** @type {any} */ (globalThis).document?.modelContext, options = {}) {
  return new ToolOffer(bridge, modelContext, options);
}

/** The tools that a client offers to the agents of a browser. */
export class ToolOffer {
  #bridge;
  #context;
  #options;
  #stopping = new AbortController();
  /** @type {Map<string, {text: string, registration: AbortController}>} the offered tools with their definitions, by name */ #offered = new Map();
  /** @type {Promise<void>} the last update, which may have to begin */ #last = Promise.resolve();
  /** @type {Promise<void> | undefined} the update that has not begun */ #waiting;

  /**
   * Resolves when the tools are offered for the first time. Rejects if the routes cannot be read or a tool is rejected; the others are then offered.
   * @type {Promise<void>}
   */
  ready;

  /**
   * @param {Caller} bridge
   * @param {ModelContext | null | undefined} context
   * @param {OfferOptions} options
   */
  constructor(bridge, context, options) {
    this.#bridge = bridge;
    this.#context = typeof context?.registerTool === "function" ? context : undefined;
    this.#options = options;
    options.signal?.addEventListener("abort", this.stop, { signal: this.#stopping.signal });
    if (options.signal?.aborted) this.stop();
    if (this.isSupported && !this.#stopping.signal.aborted) this.#follow();
    this.ready = this.refresh();
    // Not every page waits for it.
    this.ready.catch(() => {});
  }

  /** Whether the browser has WebMCP. */
  get isSupported() {
    return this.#context !== undefined;
  }

  /** The names of the offered tools, in the order of the table. */
  get tools() {
    return [...this.#offered.keys()];
  }

  /**
   * Reads the routes and offers them again, for example after the rights of the client have changed or another client has registered a host. It is
   * not needed after a change of the table, or when a client has joined or left. Rejects as `ready` does.
   * @returns {Promise<void>}
   */
  refresh() {
    this.#waiting ??= this.#last = this.#last.catch(() => {}).then(() => {
      this.#waiting = undefined;
      return this.#update();
    });
    return this.#waiting;
  }

  /** Removes all tools, and offers none any more. Calls that run continue. */
  stop = () => {
    this.#stopping.abort();
    for (const name of this.tools) this.#remove(name);
  };

  #follow() {
    const { signal } = this.#stopping;
    // Clients that join or leave may serve routes.
    for (const topics of ["table.changed", ["session.joined", "session.left"]]) {
      const unsubscribe = this.#bridge.subscribe(topics, this.#refreshLater);
      unsubscribe.registered.catch(this.#report);
      signal.addEventListener("abort", () => void unsubscribe().catch(() => {}));
    }
    this.#bridge.addEventListener("statechange", ({ detail: { state, lost, restarted } }) => {
      if (state === "open" && (lost || restarted)) this.#refreshLater();
    }, { signal });
  }

  #refreshLater = () => void this.refresh().catch(this.#report);

  #report = (/** @type {unknown} */ cause) => {
    if (this.#stopping.signal.aborted) return;
    const detail = codeIn(cause) === undefined ? failure("internal", textOf(cause), { cause }) : cause;
    this.#bridge.dispatchEvent(new CustomEvent("error", { detail }));
  };

  async #update() {
    const isStopped = () => this.#stopping.signal.aborted;
    if (!this.isSupported || isStopped()) return;
    await this.#bridge.ready;
    /** @type {Route[]} */
    const routes = await this.#bridge.request("router.routes");
    /** @type {Map<string, {tool: RouteTool, definition: object, text: string}>} */
    const wanted = new Map();
    for (const tool of RouteTool.all(routes)) {
      if (this.#options.filter?.(tool.route) === false) continue;
      // Unlike an attempt to call it, this question leaves no trace if the policy denies the route.
      const { canOpen } = await this.#bridge.request("router.canOpen", { uri: tool.example });
      if (!canOpen) continue;
      const definition = tool.definition(this.#options.untrusted ?? false);
      wanted.set(tool.name, { tool, definition, text: JSON.stringify([definition, tool.route]) });
    }
    if (isStopped()) return;
    // A changed tool is removed first, because its name has to be free.
    for (const [name, { text }] of this.#offered) if (wanted.get(name)?.text !== text) this.#remove(name);
    /** @type {unknown[]} */
    const errors = [];
    for (const [name, { tool, definition, text }] of wanted) {
      if (this.#offered.has(name)) continue;
      await this.#add(tool, definition, text).catch((error) => errors.push(error));
      if (isStopped()) return;
    }
    if (errors.length > 0) throw errors[0];
  }

  /**
   * @param {RouteTool} tool
   * @param {object} definition
   * @param {string} text
   */
  async #add(tool, definition, text) {
    const { exposedTo, timeout } = this.#options;
    const registration = new AbortController();
    /** @type {ModelContextTool["execute"]} */
    const execute = (input, { signal } = {}) => tool.call(this.#bridge, input, { signal, timeout });
    this.#offered.set(tool.name, { text, registration });
    try {
      await this.#context?.registerTool(/** @type {any} */ ({ ...definition, execute }), { signal: registration.signal, ...(exposedTo && { exposedTo }) });
    } catch (cause) {
      if (registration.signal.aborted) return;
      this.#offered.delete(tool.name);
      throw failure("internal", `The browser rejects the tool "${tool.name}": ${textOf(cause)}`, { cause });
    }
  }

  /** @param {string} name */
  #remove(name) {
    this.#offered.get(name)?.registration.abort();
    this.#offered.delete(name);
  }
}
