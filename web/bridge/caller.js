// @ts-check
import { Client } from "./session/client.js";
import { expandTemplate } from "./uri/uri-template.js";
import { failure } from "./values/errors.js";
import { isPlain } from "./values/json-values.js";

export {
  BridgeAbsentError, BridgeError, CancelledError, ConnectionClosedError, DeadlineExceededError, ForbiddenError, HostAbsentError, InvalidParametersError, OutcomeUnknownError, RouteNotFoundError,
} from "./values/errors.js";

/** @typedef {import("./types/api.js").BridgeOptions} BridgeOptions */
/** @typedef {import("./types/api.js").SessionInfo} SessionInfo */
/** @typedef {import("./types/api.js").State} State */
/** @typedef {import("./types/api.js").Params} Params */
/** @typedef {import("./types/api.js").CallOptions} CallOptions */

/**
 * A client of one session that opens pages and invokes tasks, and hosts none itself. It connects when it is created, and reconnects when the
 * connection is lost. With the part `resume` its session then continues, with its calls and pages; with the part `reload` also after a reload
 * of the page. If the session itself is lost:
 *
 * - Calls that were sent reject with 2599, because it is not known whether they took effect.
 * - Calls with a `key` are sent again in the new session.
 * - Subscriptions are registered again in the new session.
 *
 * Each event is a `CustomEvent`:
 *
 * - `statechange`: its `detail` is a `StateChange`, and its `lost` lists the calls and pages of a lost session.
 * - `close` with `{code, reason}`: dispatched once, when the client will not reconnect.
 * - `error` with a `BridgeError`: an error that does not belong to a call.
 * - `expiring` with `{expiresAt}` in milliseconds since 1970: the client's token expires soon. Needs the part `events`.
 * - `tablechange` with `{version, hash, isCurrent}`: the server has another route table. Needs the part `events` and the option `table`.
 * - A name with a dot is a topic. Its events have a `BridgeEvent` as `detail`, and need the part `events`.
 *
 * @template [Routes=any] the `Routes` type of the file that was generated from the route table
 */
export class Caller extends EventTarget {
  /** @type {Client} */ #client;
  #fallback;

  /**
   * @param {BridgeOptions} [options]
   * @param {import("./types/api.js").Parts} [parts]
   */
  constructor(options = {}, parts = {}) {
    super();
    this.#fallback = parts.fallback;
    this.#client = new Client(options, parts, this);
  }

  /** @returns {State} */
  get state() {
    return this.#client.connection.state;
  }

  /** @returns {SessionInfo | undefined} the session, or `undefined` if none is open */
  get session() {
    return this.#client.session;
  }

  /**
   * Resolves when the session is open. Rejects with the error that `close` also reports if no session will open. The promise stays the
   * same while the session continues; after a lost session this is a new promise for the next session.
   * @returns {Promise<SessionInfo>}
   */
  get ready() {
    return this.#client.ready;
  }

  /**
   * Opens a page and waits until it closes. A dismissed page is an outcome, not an error. Rejects with a `BridgeError` if the page was not
   * opened. Aborting `signal` rejects the call before the page is shown; later it closes the page.
   *
   * A parameter replaces its name in the URI: `open("native://address/:id", { id: "a2" })`. Without a bridge, the result is the value of
   * the part `fallback`.
   * @template {import("./types/routes.js").PageURI<Routes>} URI
   * @param {URI} uri
   * @param {import("./types/routes.js").Given<import("./types/routes.js").PageParams<Routes, URI>, import("./types/api.js").OpenOptions>} given the parameters,
   *   and options
   * @returns {Promise<import("./types/api.js").Outcome<import("./types/routes.js").PageResult<Routes, URI>>>}
   */
  open(uri, ...given) {
    return this.#request("open", uri, /** @type {any[]} */ (given));
  }

  /**
   * Runs a task or a service and waits for its value. Without a bridge, the value comes from the part `fallback`.
   * @template {import("./types/routes.js").TaskURI<Routes>} URI
   * @param {URI} uri
   * @param {import("./types/routes.js").Given<import("./types/routes.js").TaskParams<Routes, URI>, import("./types/api.js").InvokeOptions>} given the parameters,
   *   and options
   * @returns {Promise<import("./types/routes.js").TaskResult<Routes, URI>>}
   */
  invoke(uri, ...given) {
    return this.#request("invoke", uri, /** @type {any[]} */ (given));
  }

  /**
   * Returns whether a host or handler can open or run the URI now. It opens and runs nothing.
   * @template {import("./types/routes.js").AnyURI<Routes>} URI
   * @param {URI} uri
   * @param {import("./types/routes.js").Place<Routes, URI>} [params] parameters that are part of the URI
   * @param {CallOptions} [options]
   * @returns {Promise<import("./types/api.js").Destination>}
   */
  canOpen(uri, params, options) {
    return this.#request("canOpen", uri, [params, options]);
  }

  /**
   * Goes back one page, `count` pages, or as far as the options say. The opener of the lowest page that closes receives `result` with
   * `code` and `message`. The hosts of the pages that close receive `exts`.
   * @param {number | import("./types/api.js").BackOptions} [target]
   * @returns {Promise<import("./types/api.js").NavigationChange>}
   */
  back(target = {}) {
    return this.#close("back", typeof target === "number" ? { count: target } : target);
  }

  /**
   * Closes the page in which this client runs, or another page, and returns the result to its opener. The host of the page and the hosts
   * of the pages above it receive `exts`.
   * @param {unknown} [result]
   * @param {import("./types/api.js").FinishOptions} [options]
   * @returns {Promise<import("./types/api.js").NavigationChange>}
   */
  finish(result, options = {}) {
    return this.#close("finish", { ...options, result });
  }

  /**
   * Sets the result that a page returns if navigation closes it: a swipe, the back button of the system, or a page below that closes.
   * Without a result, an earlier one is removed.
   * @param {unknown} [result]
   * @param {Omit<import("./types/api.js").FinishOptions, "exts">} options
   * @returns {Promise<null>}
   */
  setResult(result, { page, code, message } = {}) {
    return this.request("page.setResult", { page, result: asResult(result, code, message) });
  }

  /**
   * Calls a method of a page. The client that runs in the page handles it, or else the client that shows the page.
   * @template {import("./types/routes.js").MethodName<Routes>} Name
   * @param {string} page its id
   * @param {Name} method
   * @param {import("./types/routes.js").Given<import("./types/routes.js").MethodParams<Routes, Name>, import("./types/api.js").KeyedOptions>} given the
   *   parameters, and options
   * @returns {Promise<import("./types/routes.js").MethodResult<Routes, Name>>}
   */
  async call(page, method, ...given) {
    const [params, { key, ...call } = /** @type {import("./types/api.js").KeyedOptions} */ ({})] = given;
    const name = "page.call";
    // The server rejects params that are not an object.
    if (params !== undefined && !isPlain(params)) {
      const got = globalThis.__waybridgeBrief ? "" : `, but got ${params === null ? "null" : /** @type {any} */ (params).constructor.name}`;
      throw failure("invalidParams", `${name} needs an object as params${got}`, { method: name });
    }
    return this.#client.peer.request(name, { page, method, params, key, deadlineMs: call.timeout }, call);
  }

  /**
   * Subscribes to topics: `cart.changed`, or `cart.*` for all topics with this prefix. The server first repeats its retained events to the
   * first subscription to a topic, and again after each new connection. Needs the part `events`.
   * @template {import("./types/routes.js").Topic<Routes>} Name
   * @param {Name | Name[]} topics
   * @param {(event: import("./types/routes.js").TopicEvent<Routes, Name>) => unknown} handler
   * @returns {import("./types/api.js").Unregister}
   */
  subscribe(topics, handler) {
    return this.#events.subscribe(topics, /** @type {any} */ (handler));
  }

  /**
   * Publishes an event in the session, of a topic that the route table declares. All clients of the session that subscribe to the topic
   * receive it, also this one.
   * @template {import("./types/routes.js").OwnTopic<Routes>} Name
   * @param {Name} topic
   * @param {import("./types/routes.js").GivenData<Routes, Name>} given the data, and options
   * @returns {Promise<import("./types/api.js").PublishReceipt>}
   */
  publish(topic, ...given) {
    const [data, { retain, ...call } = /** @type {import("./types/api.js").PublishOptions} */ ({})] = given;
    return this.request("events.publish", { topic, data, retain }, call);
  }

  /**
   * Removes the events of a topic that the server keeps for clients of the session that subscribe later, as `retain` of `publish` has requested.
   * No client gets an event.
   * @template {import("./types/routes.js").OwnTopic<Routes>} Name
   * @param {Name} topic
   * @param {CallOptions} [options]
   */
  async clearRetained(topic, options) {
    await this.request("events.publish", { topic, clear: true }, options);
  }

  /**
   * Returns the clients of the session, in the order in which they joined; to a guest only the guest itself. The topics `session.joined`,
   * `session.disconnected`, `session.reconnected` and `session.left` report later changes.
   * @param {CallOptions} [options]
   * @returns {Promise<import("./types/api.js").PresentClient[]>}
   */
  async clients(options) {
    return (await this.request("session.clients", {}, options)).clients;
  }

  /**
   * Adds a listener for an event of the client, or, if the name contains a dot, for a topic. The client is subscribed to a topic as long as
   * it has a listener. Topics need the part `events`.
   * @override
   * @template {import("./types/routes.js").EventName<Routes>} Name
   * @param {Name} type
   * @param {import("./types/routes.js").Listener<Routes, Name>} listener
   * @param {boolean | AddEventListenerOptions} [options]
   */
  addEventListener(type, listener, options) {
    if (type.includes(".")) this.#events.addListener(this, type, listener, options);
    else super.addEventListener(type, /** @type {any} */ (listener), options);
  }

  /**
   * @override
   * @template {import("./types/routes.js").EventName<Routes>} Name
   * @param {Name} type
   * @param {any} listener
   * @param {boolean | EventListenerOptions} [options]
   */
  removeEventListener(type, listener, options) {
    super.removeEventListener(type, listener, options);
    this.#client.events?.removeListener(type, listener);
  }

  /**
   * Calls any method of the protocol.
   * @param {string} method
   * @param {Params | unknown[]} [params]
   * @param {CallOptions} [options] `timeout` applies only in this client; the server does not receive it
   * @returns {Promise<any>}
   */
  request(method, params, options) {
    return this.#client.peer.request(method, params, options);
  }

  /**
   * The calls of `open`, `invoke` and `call` that the page had made before it was reloaded and that had no response by then. Known once
   * `ready` has resolved. Empty without the part `reload`.
   * @returns {import("./types/api.js").PendingCall[]}
   */
  get pending() {
    return [...this.#client.store?.pending ?? []];
  }

  /**
   * Returns the result of a pending call by its key. Rejects with `OutcomeUnknownError` if the client no longer knows the call. Then make
   * the same call with the same key: the session returns the result that it has, or makes the call.
   * @param {string} key
   * @returns {Promise<any>}
   */
  async recover(key) {
    await this.ready;
    const found = this.pending.find((call) => call.key === key);
    if (found !== undefined) return found.result;
    throw failure("outcomeUnknown", globalThis.__waybridgeBrief ? `No call has the key "${key}"` : `There is no call with the key "${key}"; make the same call with this key`);
  }

  /** Reconnects now, if the client is waiting to reconnect. */
  reconnect() {
    this.#client.connection.reconnect();
  }

  /** Closes the connection and ends every call permanently. Resolves when the socket is closed. */
  close() {
    return this.#client.connection.close();
  }

  get #events() {
    const { events } = this.#client;
    if (events !== undefined) return events;
    throw failure("invalidParams", `Topics need the part events${globalThis.__waybridgeBrief ? "" : ": new Caller(options, { events })"}`);
  }

  /**
   * Closes pages. Without data, code and message there is no result.
   * @param {"back" | "finish"} how
   * @param {any} options
   */
  #close(how, { result: data, code, message, ...rest }) {
    return this.request(`navigation.${how}`, { ...rest, result: asResult(data, code, message) });
  }

  /**
   * @param {import("./fallback.js").FallbackMethod} what
   * @param {string} address
   * @param {any[]} given parameters and options
   * @returns {Promise<any>}
   */
  async #request(what, address, [given, { exts, style, from, key, ...call } = /** @type {import("./types/api.js").OpenOptions} */ ({})]) {
    const { uri, params } = expandTemplate(what, address, given);
    const more = what === "canOpen" ? {} : { params, exts, key, deadlineMs: call.timeout };
    const sent = this.#client.peer.request(`router.${what}`, { uri, ...more, ...(what === "open" && { style, from }) }, call);
    return this.#fallback?.orElse(sent, /** @type {any} */ (this), what, uri, params, { exts, key, ...call }) ?? sent;
  }
}

/**
 * Returns the result of a page, if it has any.
 * @param {unknown} data
 * @param {number} [code]
 * @param {string} [message]
 */
function asResult(data, code, message) {
  return data === undefined && code === undefined && message === undefined ? undefined : { data, code, message };
}
