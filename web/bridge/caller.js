// @ts-check
import { Client } from "./client.js";
import { fill } from "./fill.js";
import { failure } from "./errors.js";
import { isPlain } from "./plain.js";
import { wireResult } from "./result.js";

export {
  BridgeAbsent, BridgeError, Cancelled, ConnectionClosed, DeadlineExceeded, Forbidden, HostAbsent, InvalidParameters, OutcomeUnknown, RouteNotFound,
} from "./errors.js";

/** @typedef {import("./types.js").BridgeOptions} BridgeOptions */
/** @typedef {import("./types.js").SessionInfo} SessionInfo */
/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Params} Params */
/** @typedef {import("./types.js").CallOptions} CallOptions */

/**
 * A client of one session that opens pages and invokes tasks wherever they are, and hosts none. It connects when it is
 * made, and again when the connection is lost: then its session goes on, calls and pages and all, and with the part `reload` after a reload of
 * the page too. Where the session itself is lost, calls that were sent reject, since nobody knows whether they were carried out (2599), but
 * those with a `key`, which are asked again, and subscriptions are announced to the new session.
 *
 * Events, each a `CustomEvent`: `statechange` with a `StateChange` as `detail`, which has as `lost` what a new session has cost; `close` with
 * `{code, reason}`, once, when it will not connect again; `error` with a `BridgeError`, for what no caller waits for; and with the part
 * `events` also `expiring` with `{expiresAt}`, milliseconds since 1970, before the client's token does; `tablechange` with `{version, hash,
 * isCurrent}`, with the option `table`, when the server has another route table; and with a dot in the name what is published to the topic of
 * that name, a `BridgeEvent`.
 * @template [Routes=any] what is known of the routes: the `Routes` of the file that was generated from the table
 */
export class Caller extends EventTarget {
  #client;
  #fallback;

  /**
   * @param {BridgeOptions} [options]
   * @param {import("./types.js").Parts} [parts]
   */
  constructor(options = {}, parts = {}) {
    super();
    this.#fallback = parts.fallback;
    this.#client = new Client(options, parts, (type, detail) => this.dispatchEvent(new CustomEvent(type, { detail })));
  }

  /** @returns {State} */
  get state() {
    return this.#client.state;
  }

  /** @returns {SessionInfo | undefined} the session, while there is one */
  get session() {
    return this.#client.session;
  }

  /**
   * Resolves when the session is open; rejects, with what `close` also tells, when none will open. A session that goes on after a
   * lost connection keeps its promise; after a lost session this is another, for the next.
   * @returns {Promise<SessionInfo>}
   */
  get ready() {
    return this.#client.ready;
  }

  /**
   * Opens a page, and waits for it to go away; that it was dismissed is an outcome, not an error. Rejects with a
   * `BridgeError` when the page did not open. Aborting `signal` before it is shown rejects; afterwards it closes the page.
   * Parameters take the places of their names in the URI: `open("native://address/:id", { id: "a2" })`.
   * Without a bridge, the value of the part `fallback` is the result.
   * @template {import("./routes.js").PageURI<Routes>} URI
   * @param {URI} uri
   * @param {import("./routes.js").Given<import("./routes.js").PageParams<Routes, URI>, import("./types.js").OpenOptions>} given the parameters,
   *   and options
   * @returns {Promise<import("./types.js").Outcome<import("./routes.js").PageResult<Routes, URI>>>}
   */
  open(uri, ...given) {
    return this.#ask("open", uri, /** @type {any[]} */ (given));
  }

  /**
   * Runs a task or a service, and waits for its value; without a bridge, for the fallback's.
   * @template {import("./routes.js").TaskURI<Routes>} URI
   * @param {URI} uri
   * @param {import("./routes.js").Given<import("./routes.js").TaskParams<Routes, URI>, import("./types.js").InvokeOptions>} given the parameters,
   *   and options
   * @returns {Promise<import("./routes.js").TaskResult<Routes, URI>>}
   */
  invoke(uri, ...given) {
    return this.#ask("invoke", uri, /** @type {any[]} */ (given));
  }

  /**
   * Whether something would open it or run it; nothing of that happens.
   * @template {import("./routes.js").AnyURI<Routes>} URI
   * @param {URI} uri
   * @param {import("./routes.js").Place<Routes, URI>} [params] that stand in the URI
   * @param {CallOptions} [options]
   * @returns {Promise<import("./types.js").Destination>}
   */
  canOpen(uri, params, options) {
    return this.#ask("canOpen", uri, [params, options]);
  }

  /**
   * Goes back one page, `count` pages, or as the options say. `result` (with `code` and `message`) is what the opener of the
   * lowest page that closes gets, `exts` what the hosts of the pages that close get.
   * @param {number | import("./types.js").BackOptions} [target]
   * @returns {Promise<import("./types.js").NavigationChange>}
   */
  back(target = {}) {
    const { result, code, message, ...rest } = typeof target === "number" ? /** @type {import("./types.js").BackOptions} */ ({ count: target }) : target;
    return this.request("navigation.back", { ...rest, result: wireResult(result, code, message) });
  }

  /**
   * Closes the page in which this client runs, or another, and gives its opener the result. The
   * host of the page, and of those above it, gets `exts`.
   * @param {unknown} [result]
   * @param {import("./types.js").FinishOptions} options
   * @returns {Promise<import("./types.js").NavigationChange>}
   */
  finish(result, { page, code, message, exts } = {}) {
    return this.request("navigation.finish", { page, result: wireResult(result, code, message), exts });
  }

  /**
   * Calls a method of a page, which the client that runs in it answers, or the one that shows it.
   * @template {import("./routes.js").MethodName<Routes>} Name
   * @param {string} page its id
   * @param {Name} method
   * @param {import("./routes.js").Given<import("./routes.js").MethodParams<Routes, Name>, import("./types.js").KeyedOptions>} given the
   *   parameters, and options
   * @returns {Promise<import("./routes.js").MethodResult<Routes, Name>>}
   */
  async call(page, method, ...given) {
    const [params, { key, ...call } = /** @type {import("./types.js").KeyedOptions} */ ({})] = given;
    const name = "page.call";
    // What is no object the server would refuse, and what JSON would make an empty one of, such as a Map, would get lost.
    if (params !== undefined && !isPlain(params)) {
      const what = globalThis.__waybridgeBrief ? "no plain object"
        : `${params === null ? "null" : `of the class ${/** @type {any} */ (params).constructor.name}`}; give an object, each value by its name, or nothing`;
      throw failure("invalidParams", `the params of ${name} are ${what}`, { method: name });
    }
    return this.#client.peer.request(name, { page, method, params, key, deadlineMs: call.timeout }, call);
  }

  /**
   * Hears of the events of some topics: `cart.changed`, or `cart.*` for all that begin so. The server first repeats those
   * that it keeps, to the first subscription to a topic, and again after each new connection. Needs the part `events`.
   * @template {import("./routes.js").Topic<Routes>} Name
   * @param {Name | Name[]} topics
   * @param {(event: import("./routes.js").TopicEvent<Routes, Name>) => unknown} handler
   * @returns {import("./types.js").Unregister}
   */
  subscribe(topics, handler) {
    return this.#events.subscribe(topics, /** @type {any} */ (handler));
  }

  /**
   * Listens to an event of the client's own, or, with a dot in its name, to a topic: that is subscribed to as long as anybody listens, and needs the part `events`.
   * @override
   * @template {import("./routes.js").EventName<Routes>} Name
   * @param {Name} type
   * @param {import("./routes.js").Listener<Routes, Name>} listener
   * @param {boolean | AddEventListenerOptions} [options]
   */
  addEventListener(type, listener, options) {
    if (type.includes(".")) this.#events.listen(this, type, listener, options);
    else super.addEventListener(type, /** @type {any} */ (listener), options);
  }

  /**
   * @override
   * @param {string} type
   * @param {any} listener
   * @param {boolean | EventListenerOptions} [options]
   */
  removeEventListener(type, listener, options) {
    super.removeEventListener(type, listener, options);
    this.#client.events?.unlisten(type, listener);
  }

  /**
   * Calls any method of the protocol.
   * @param {string} method
   * @param {Params | unknown[]} [params]
   * @param {CallOptions} options here `timeout` is this side's alone
   * @returns {Promise<any>}
   */
  request(method, params, { signal, timeout, onProgress } = {}) {
    return this.#client.peer.request(method, params, { signal, timeout, onProgress });
  }

  /**
   * The calls of `open`, `invoke` and `call` that the page had made before it was loaded again, and that were not answered by then:
   * known once `ready` is. Without the part `reload` there are none.
   * @returns {import("./types.js").PendingCall[]}
   */
  get pending() {
    return [...this.#client.store?.pending ?? []];
  }

  /**
   * The result of such a call, by its key. Where nothing is known of it any more this rejects with `OutcomeUnknown`: then the same
   * call with the same key gives the result that the session has, or is made.
   * @param {string} key
   * @returns {Promise<any>}
   */
  async recover(key) {
    await this.ready;
    const found = this.pending.find((call) => call.key === key);
    if (found !== undefined) return found.result;
    throw failure("outcomeUnknown", `nothing is known of a call with the key "${key}"${globalThis.__waybridgeBrief ? "" : ": make the same call with this key"}`);
  }

  /** Connects now, where it waits to connect again. */
  reconnect() {
    this.#client.link.hasten();
  }

  /** Ends the connection, and every call with it, for good. Resolves when the socket is gone. */
  close() {
    return this.#client.close();
  }

  get #events() {
    const { events } = this.#client;
    if (events !== undefined) return events;
    throw failure("invalidParams", `topics need the part events${globalThis.__waybridgeBrief ? "" : ": new Caller(options, { events })"}`);
  }

  /**
   * @param {import("./fallback.js").Asking} what
   * @param {string} address
   * @param {any[]} given parameters and options
   * @returns {Promise<any>}
   */
  async #ask(what, address, [given, { exts, style, from, key, ...call } = /** @type {import("./types.js").OpenOptions} */ ({})]) {
    const { uri, params } = fill(address, given);
    const more = what === "canOpen" ? {} : { params, exts, key, deadlineMs: call.timeout };
    const sent = this.#client.peer.request(`router.${what}`, { uri, ...more, ...(what === "open" && { style, from }) }, call);
    return this.#fallback?.orElse(sent, /** @type {any} */ (this), what, uri, params, { exts, ...call }) ?? sent;
  }
}
