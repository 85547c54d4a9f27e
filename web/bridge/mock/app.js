// @ts-check
import { platformClock } from "../connection/clock.js";
import { codeOf } from "../codes.js";
import { bridgeError, failure, textOf } from "../values/errors.js";
import { encode } from "../values/json-values.js";
import { Peer } from "../calls/peer.js";
import { IncomingRequests } from "../calls/incoming-requests.js";
import { declarationOf, URIMap } from "../uri/uri-map.js";
import { JOIN_TOKEN, MockSession } from "./session.js";
import { MockSocket } from "./socket.js";

/** @typedef {import("../types/api.js").Page} Page */
/** @typedef {import("../types/api.js").Params} Params */
/** @typedef {(params: any, call: import("../types/api.js").TaskRun) => unknown} MockTaskHandler */
/** @typedef {(params: any, shown: {page: Page, signal: AbortSignal}) => unknown} MockPageHandler `signal` is aborted when the page closes */

/**
 * The tasks and pages of a mocked app, by URI, pattern or scheme; with a `Routes` type argument, by its URIs.
 * @template [Routes=any]
 * @typedef {object} MockRoutes
 * @property {import("../types/routes.js").IfAny<Routes, Record<string, MockTaskHandler>, MockTasks<Routes>>} [tasks] return the value of the task, or a promise of it
 * @property {import("../types/routes.js").IfAny<Routes, Record<string, MockPageHandler>, MockPages<Routes>>} [pages] return the result of the
 *   page, or a promise of it. The page closes when it has its result; with a promise that never settles it waits for `back` or `finish`
 * @property {Record<string, MockGate>} [gates] by name, in the order in which a call passes them; closed at first
 * @property {Record<string, import("../types/api.js").InterceptorHandler>} [interceptors] those of the app, by URI, pattern or scheme, in the
 *   order in which they see a call
 */

/**
 * A condition that calls of some routes wait for, such as that the user has signed in.
 * @typedef {object} MockGate
 * @property {string} opens the URI of the page or task that opens the gate
 * @property {string[]} routes the URIs, patterns and schemes that need the gate
 * @property {import("../types/api.js").Params} [params] those of the page or task
 * @property {(result: any) => boolean} [passes] whether a result opens the gate; default: each does
 */

/**
 * @template Value
 * @typedef {Value | Promise<Value>} Given
 */

/**
 * @template Routes
 * @typedef {{[URI in import("../types/routes.js").TaskURI<Routes>]?: (params: import("../types/routes.js").TaskParams<Routes, URI>, call: import("../types/api.js").TaskRun) =>
 *   Given<import("../types/routes.js").TaskResult<Routes, URI>>}} MockTasks
 */

/**
 * @template Routes
 * @typedef {{[URI in import("../types/routes.js").PageURI<Routes>]?: (params: import("../types/routes.js").PageParams<Routes, URI>,
 *   shown: {page: Page, signal: AbortSignal}) => Given<import("../types/routes.js").PageResult<Routes, URI> | void>}} MockPages
 */

/**
 * The app and its server for the bridges of a test. The test inspects them and controls them.
 * @template [Routes=any]
 */
export class MockApp {
  /**
   * All calls of the bridge and its guests, in order.
   * @type {{method: string, params: any}[]}
   */
  calls = [];
  /** While this is true, connections fail. */
  isDown = false;
  /** @type {import("./types.js").Handlers} */ #routes;
  /** @type {Set<import("./types.js").Connection>} the bridge's own first */ #connections = new Set();
  #sessions = 0;

  /**
   * The WebSocket class of the mocked app: `globalThis.WebSocket = app.WebSocket` for pages that only call `new Bridge()`.
   * @type {any}
   */
  WebSocket;

  /** @param {MockRoutes<Routes>} routes */
  constructor({ tasks = {}, pages = {}, gates = {}, interceptors = {} }) {
    const app = this;
    this.#routes = { tasks: new URIMap(), pages: new URIMap(), gates: Object.entries(gates), interceptors: Object.entries(interceptors) };
    this.WebSocket = function () {
      return app.#connect();
    };
    for (const [key, handler] of Object.entries(tasks)) this.#routes.tasks.add({ ...declarationOf(key), kind: "task" }, handler);
    for (const [key, handler] of Object.entries(pages)) this.#routes.pages.add({ ...declarationOf(key), kind: "page" }, handler);
  }

  /**
   * Publishes an event. A bridge receives it if it is subscribed to the topic.
   * @template {import("../types/routes.js").Topic<Routes>} Name
   * @param {Name} topic
   * @param {import("../types/routes.js").TopicData<Routes, Name>} [data]
   */
  publish(topic, data) {
    for (const client of this.#connected.session.clients) {
      if (client.isSubscribed(topic)) client.peer.notify("event", { topic, data: data ?? null, at: Date.now() });
    }
  }

  /**
   * Calls a method of the bridge, like the app's server.
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<any>}
   */
  async call(method, params) {
    return this.#connected.peer.request(method, params, { callers: [] });
  }

  /**
   * Opens a page like another client: a page of the app, or one that the bridge hosts.
   * @param {string} uri
   * @param {Params} [params]
   * @param {{exts?: Params, style?: import("../types/api.js").Style}} [options]
   * @returns {Promise<import("../types/api.js").Outcome>}
   */
  async open(uri, params, options) {
    return this.#connected.session.open({ uri, params, ...options }, detachedContext());
  }

  /**
   * Runs a task like another client.
   * @param {string} uri
   * @param {Params} [params]
   * @param {{key?: string}} [options] `key`: the idempotency key of the call
   * @returns {Promise<any>}
   */
  async invoke(uri, params, options) {
    return this.#connected.session.invoke({ uri, params, ...options }, detachedContext());
  }

  /**
   * Closes the connection of the bridge, like a failed network or a server.
   * @param {number} [code]
   * @param {string} [reason]
   */
  drop(code = 1006, reason = "") {
    this.#own?.socket.end(code, reason);
  }

  /**
   * Closes the connections of its guests, like a reload of their pages.
   * @param {number} [code]
   * @param {string} [reason]
   */
  dropGuests(code = 1006, reason = "") {
    for (const { socket, client } of [...this.#connections]) if (client?.isGuest) socket.end(code, reason);
  }

  /** The connection of the bridge itself. */
  get #own() {
    const [own] = this.#connections;
    return own;
  }

  get #connected() {
    const { peer, session } = this.#own ?? {};
    if (peer !== undefined && session !== undefined) return { peer, session };
    throw failure("hostAbsent", "The bridge has no session with the mocked app; await its ready first");
  }

  #connect() {
    /** @type {import("./types.js").Connection} */
    const connection = {
      socket: new MockSocket({
        accepts: () => this.#accepts(connection),
        received: (text) => this.#received(connection, text),
        ended: (code) => this.#ended(connection, code),
      }),
      peer: new Peer({
        connection: { send: (text) => connection.socket.deliver(text) },
        report: () => {},
        clock: platformClock,
      }, { count: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }),
    };
    connection.peer.incoming = new IncomingRequests(connection.peer, (method) => this.#recordedHandler(method, connection));
    return connection.socket;
  }

  /**
   * Receives a message. One that is not JSON as the protocol defines it gets an error, as from a server.
   * @param {import("./types.js").Connection} connection
   * @param {string} text
   */
  #received({ peer, socket }, text) {
    /** @type {any} */
    let message;
    try {
      message = JSON.parse(text);
      encode(message);
    } catch (cause) {
      const { id = null, method } = Object(message);
      const { code, data } = failure("parseError", "");
      const isRequest = typeof method === "string";
      const error = { code, message: `not JSON: ${textOf(cause)}`, data };
      socket.deliver(JSON.stringify({ jsonrpc: "2.0", id: isRequest ? id : null, error }));
      if (!isRequest && id !== null) peer.settle({ id, error: bridgeError(codeOf.hostFailed, "The response cannot be read", { data: { kind: "unreadable", retryable: false } }) });
      return;
    }
    peer.receive(text);
  }

  /** @param {import("./types.js").Connection} connection */
  #accepts(connection) {
    if (this.isDown) return false;
    connection.peer.start();
    this.#connections.add(connection);
    return true;
  }

  /**
   * @param {import("./types.js").Connection} connection
   * @param {number} code
   */
  #ended(connection, code) {
    const { peer, session, client } = connection;
    this.#connections.delete(connection);
    peer.close({ code: 1006, reason: "The bridge has left the mocked app" });
    if (session === undefined || client === undefined) return;
    const [first] = session.clients;
    session.removeClient(client, code !== 1000);
    if (client !== first) return;
    // A mocked session ends when its first client leaves.
    session.end();
    const others = [...this.#connections].filter((other) => other.session === session);
    for (const { socket } of others) socket.end(4103, "The session has ended");
  }

  /**
   * @param {string} method
   * @param {import("./types.js").Connection} connection
   * @returns {import("../calls/incoming-requests.js").RequestHandler}
   */
  #recordedHandler(method, connection) {
    return (params, context) => {
      this.calls.push({ method, params });
      if (method === "session.open") return this.#openSession(params, connection);
      const handler = connection.client?.methods.get(method);
      if (handler === undefined) throw failure("methodNotFound", `The mocked app has no method "${method}"`);
      return handler(params, context);
    };
  }

  /**
   * @param {any} params
   * @param {import("./types.js").Connection} connection
   */
  #openSession(params, connection) {
    const session = this.#sessionFor(params);
    const client = session.addClient(connection.peer, params);
    Object.assign(connection, { session, client });
    const { page, isGuest } = client;
    return {
      session: session.id, client: "mock", token: "mock", epoch: "mock", protocol: "1.0",
      ...(isGuest ? { guest: true } : { joinToken: JOIN_TOKEN }), page,
      server: { name: "mock", version: "0" }, limits: {}, table: { version: "0" }, capabilities: [],
    };
  }

  /** @param {any} params */
  #sessionFor({ join }) {
    if (join === undefined) return new MockSession(`mock-${(this.#sessions += 1)}`, this.#routes);
    const session = this.#own?.session;
    if (session?.id === join.session && session?.isValidToken(join.token)) return session;
    throw failure("notAuthenticated", "The mocked app has no such session, or the token does not belong to it");
  }
}

/** The context of a call by a test. It cannot cancel and receives no progress. */
function detachedContext() {
  return { signal: new AbortController().signal, progress: () => {} };
}
