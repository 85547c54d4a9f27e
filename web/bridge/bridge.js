// @ts-check
import { CallBuilder } from "./builder.js";
import { checkParams } from "./call.js";
import { Capabilities } from "./capabilities.js";
import { Client } from "./client.js";
import { deputy } from "./deputy.js";
import { Fallback, finished } from "./fallback.js";
import { Member } from "./member.js";
import { wireResult } from "./result.js";

export * from "./errors.js";
export { closeCodes, codes } from "./codes.js";

/** @typedef {import("./types.js").BridgeOptions} BridgeOptions */
/** @typedef {import("./types.js").SessionInfo} SessionInfo */
/** @typedef {import("./types.js").Outcome} Outcome */
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
 * A client of one session: it opens pages and invokes tasks wherever they are, and hosts its own. It connects when it is
 * made, and again when the connection is lost: then its session goes on, calls and pages and all, and after a reload of the page
 * too. Where the session itself is lost, calls that were sent reject, since nobody knows whether they were carried out (2599), but
 * those with a `key`, which are asked again. Hosts, tasks and subscriptions are announced to the new session, while its pages are
 * those that are opened in it.
 */
export class Bridge extends Member {
  #client;
  #fallback;
  #capabilities;

  /** @param {BridgeOptions} [options] */
  constructor(options = {}) {
    const acting = (/** @type {import("./serving.js").Served | undefined} */ request) => deputy(this, request);
    const fallback = options.fallback && new Fallback(options.fallback, acting);
    const client = new Client(options, (type, detail) => this.dispatchEvent(new CustomEvent(type, { detail })), acting);
    super(client);
    this.#client = client;
    this.#fallback = fallback;
    this.#capabilities = new Capabilities(this.#client);
    try {
      // The session will open later, and then knows of all of these.
      for (const [scheme, host] of Object.entries(options.hosts ?? {})) this.host(scheme, host);
      for (const [uri, handler] of Object.entries(options.tasks ?? {})) this.task(uri, handler);
      for (const [name, handler] of Object.entries(options.methods ?? {})) this.method(name, handler);
    } catch (error) {
      // Nobody gets this bridge, so nobody could close it.
      void this.close();
      throw error;
    }
  }

  /**
   * Opens a page, and waits for it to go away; that it was dismissed is an outcome, not an error. Rejects with a
   * `BridgeError` when the page did not open. Aborting `signal` before it is shown rejects; afterwards it closes the page.
   * Without a bridge, the fallback's value is the result.
   * @param {string} uri
   * @param {Params} [params]
   * @param {OpenOptions} options
   * @returns {Promise<Outcome>}
   */
  open(uri, params, { exts, style, from, key, ...call } = {}) {
    const sent = this.#client.request("router.open", { uri, params, exts, style, from, key, deadlineMs: call.timeout }, call);
    return this.#client.orElse(sent, () => this.#fallback?.run(uri, params, { exts, ...call })?.value.then(finished));
  }

  /**
   * Runs a task or a service, and waits for its value; without a bridge, for the fallback's.
   * @param {string} uri
   * @param {Params} [params]
   * @param {InvokeOptions} options
   * @returns {Promise<any>}
   */
  invoke(uri, params, { exts, key, ...call } = {}) {
    const sent = this.#client.request("router.invoke", { uri, params, exts, key, deadlineMs: call.timeout }, call);
    return this.#client.orElse(sent, () => this.#fallback?.run(uri, params, { exts, ...call })?.value);
  }

  /**
   * Begins a call that is put together step by step: `bridge.build(uri).with("id", 2).open()`.
   * @param {string} uri
   */
  build(uri) {
    return new CallBuilder(this, uri);
  }

  /**
   * Goes back one page, `count` pages, or as the options say. `result` (with `code` and `message`) is what the opener of the
   * lowest page that closes gets, `exts` what the hosts of the pages that close get.
   * @param {number | BackOptions} [target]
   * @returns {Promise<NavigationChange>}
   */
  back(target = {}) {
    /** @type {BackOptions} */
    const options = typeof target === "number" ? { count: target } : target;
    const { result, code, message, ...rest } = options;
    return this.#client.request("navigation.back", { ...rest, result: wireResult(result, code, message) });
  }

  /**
   * Closes the page in which this client runs, or another, and gives its opener the result. The
   * host of the page, and of those above it, gets `exts`.
   * @param {unknown} [result]
   * @param {FinishOptions} options
   * @returns {Promise<NavigationChange>}
   */
  finish(result, { page, code, message, exts } = {}) {
    return this.#client.request("navigation.finish", { page, result: wireResult(result, code, message), exts });
  }

  /**
   * Whether something would open it or run it; nothing of that happens.
   * @param {string} uri
   * @param {CallOptions} [options]
   * @returns {Promise<import("./types.js").Destination>}
   */
  canOpen(uri, options) {
    const none = { canOpen: false };
    const own = () => Promise.resolve(this.#fallback?.has(uri) ? { canOpen: true, kind: "task" } : none);
    return this.#client.orElse(this.#client.request("router.canOpen", { uri }, options), own);
  }

  /**
   * Which routes fit a URI, in what order, with which parameters, and why; nothing is opened.
   * @param {string} uri
   * @param {Params} [params]
   * @returns {Promise<Record<string, any>>}
   */
  explain(uri, params) {
    return this.#client.request("router.explain", { uri, params });
  }

  /**
   * The pages of the session, bottom first.
   * @returns {Promise<import("./types.js").Stack>}
   */
  stack() {
    return this.#client.request("navigation.stack");
  }

  /**
   * The page on the stack with that id, URI or name of its route, nearest to the top.
   * @param {string} uri
   * @returns {Promise<Page | null>}
   */
  contains(uri) {
    return this.#client.request("navigation.contains", { uri });
  }

  /**
   * Shows a tab: by its number in the table, from 0, or by a reference to its first page.
   * @param {number | string} tab
   * @returns {Promise<NavigationChange>}
   */
  selectTab(tab) {
    return this.#client.request("navigation.selectTab", typeof tab === "number" ? { index: tab } : { uri: tab });
  }

  /**
   * Puts a page that this client opened by other means on top of the stack, as its host. `host` is told when it closes; without,
   * the last host of the URI's scheme is.
   * @param {string} uri
   * @param {Params} [params]
   * @param {{style?: "push" | "present", host?: PageHost}} options
   * @returns {Promise<Page>}
   */
  async adopt(uri, params, { style, host } = {}) {
    const page = await this.#client.request("navigation.adopt", { uri, params, style });
    this.#client.hosting.pages.adopt(page, host);
    return page;
  }

  /**
   * Hands over a link from outside of the app: of a push message, a shortcut, a universal link. Resolves when the server has it,
   * which follows it as soon as somebody can open it; what becomes of it is told by events.
   * @param {string | import("./types.js").ActionLink} link a URI, or a link in the shape of older servers
   * @param {Params} [params] with a URI
   * @returns {Promise<null>}
   */
  deliver(link, params) {
    return this.#client.request("router.deliver", typeof link === "string" ? { uri: link, params } : link);
  }

  /**
   * The declared routes.
   * @returns {Promise<Record<string, any>[]>}
   */
  routes() {
    return this.#client.request("router.routes");
  }

  /**
   * Calls a method of a page, which the client that runs in it answers, or the one that shows it.
   * @param {string} page its id
   * @param {string} method
   * @param {Params} [params]
   * @param {KeyedOptions} options
   * @returns {Promise<any>}
   */
  async call(page, method, params, { key, ...call } = {}) {
    checkParams(params, "page.call");
    return this.#client.request("page.call", { page, method, params, key, deadlineMs: call.timeout }, call);
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
    if (what.includes(":")) return (await this.canOpen(what, options)).canOpen;
    const own = async () => this.#fallback !== undefined && ["router.open", "router.invoke", "router.canOpen"].includes(what);
    return this.#client.orElse(this.#capabilities.has(what, options), own);
  }

  /**
   * Hears of the events of some topics: `cart.changed`, or `cart.*` for all that begin so. The server first repeats those
   * that it keeps, to the first subscription to a topic, and again after each new connection.
   * @param {string | string[]} topics
   * @param {EventHandler} handler
   * @returns {Unregister}
   */
  subscribe(topics, handler) {
    return this.#client.announcements.subscribe(topics, handler);
  }

  /**
   * Shows the pages of a scheme, or those that fit `host.patterns`.
   * @param {string} scheme such as `native`
   * @param {PageHost} host
   * @returns {Unregister}
   */
  host(scheme, host) {
    return this.#client.announcements.host(this.#client.hosting.addPages(scheme, host));
  }

  /**
   * Runs the tasks of a URI or pattern, such as `action://share`. What the handler throws reaches the caller: with its `code`
   * when that is the application's (1…1999, from 3000), else as 2502. `Declined` leaves the call to who comes next.
   * @param {string} uri
   * @param {TaskHandler} handler
   * @returns {Unregister}
   */
  task(uri, handler) {
    return this.#client.announcements.host(this.#client.hosting.addTask(uri, handler));
  }

  /**
   * Answers the server when it calls this client, and others when they call the page in which this client runs. What the
   * handler throws is treated as of a task.
   * @param {string} name
   * @param {MethodHandler} handler
   * @returns {() => void} takes it back
   */
  method(name, handler) {
    return this.#client.methods.add(name, handler);
  }
}
