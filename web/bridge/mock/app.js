// @ts-check
import { platformClock } from "../clock.js";
import { failure } from "../errors.js";
import { Peer } from "../peer.js";
import { Serving } from "../serving.js";
import { placeOf, URIMap } from "../uri-map.js";
import { JOIN_TOKEN, MockSession } from "./session.js";
import { MockSocket } from "./socket.js";

/** @typedef {import("../types.js").Page} Page */
/** @typedef {import("../types.js").Params} Params */
/** @typedef {(params: any, call: import("../types.js").TaskRun) => unknown} MockTaskHandler */
/** @typedef {(params: any, shown: {page: Page, signal: AbortSignal}) => unknown} MockPageHandler `signal` is aborted when the page closes */

/**
 * What a mocked app does and shows, by URI, pattern or scheme; where routes are given as a type, by the URIs of that.
 * @template [Routes=any]
 * @typedef {object} MockRoutes
 * @property {import("../routes.js").IfAny<Routes, Record<string, MockTaskHandler>, MockTasks<Routes>>} [tasks] their (awaited) value is the task's
 * @property {import("../routes.js").IfAny<Routes, Record<string, MockPageHandler>, MockPages<Routes>>} [pages] their (awaited) value is the page's
 *   result, and ends it: one that gives a promise that never settles waits for `back` or `finish`
 */

/**
 * @template Value
 * @typedef {Value | Promise<Value>} Given
 */

/**
 * @template Routes
 * @typedef {{[URI in import("../routes.js").TaskURI<Routes>]?: (params: import("../routes.js").TaskParams<Routes, URI>, call: import("../types.js").TaskRun) =>
 *   Given<import("../routes.js").TaskResult<Routes, URI>>}} MockTasks
 */

/**
 * @template Routes
 * @typedef {{[URI in import("../routes.js").PageURI<Routes>]?: (params: import("../routes.js").PageParams<Routes, URI>,
 *   shown: {page: Page, signal: AbortSignal}) => Given<import("../routes.js").PageResult<Routes, URI> | void>}} MockPages
 */

/**
 * The app and its server for the bridges of a test: what the test sees of them, and what it does in their place.
 * @template [Routes=any]
 */
export class MockApp {
  /**
   * All that the bridge and its guests asked, in order.
   * @type {{method: string, params: any}[]}
   */
  calls = [];
  /** While this is true, no connection comes about. */
  isDown = false;
  /** @type {import("./inside.js").Handlers} */ #routes = { tasks: new URIMap(), pages: new URIMap() };
  /** @type {Set<import("./inside.js").Connection>} the bridge's own first */ #connections = new Set();
  #sessions = 0;

  /**
   * What a bridge connects with: `globalThis.WebSocket = app.WebSocket` for pages that say no more than `new Bridge()`.
   * @type {any}
   */
  WebSocket;

  /** @param {MockRoutes<Routes>} routes */
  constructor({ tasks = {}, pages = {} }) {
    const app = this;
    this.WebSocket = function () {
      return app.#connect();
    };
    for (const [key, handler] of Object.entries(tasks)) this.#routes.tasks.add({ ...placeOf(key), kind: "task" }, handler);
    for (const [key, handler] of Object.entries(pages)) this.#routes.pages.add({ ...placeOf(key), kind: "page" }, handler);
  }

  /**
   * Publishes an event; a bridge hears it if it has subscribed to the topic.
   * @template {import("../routes.js").Topic<Routes>} Name
   * @param {Name} topic
   * @param {import("../routes.js").TopicData<Routes, Name>} [data]
   */
  publish(topic, data) {
    for (const member of this.#connected.session.members) {
      if (member.wants(topic)) member.peer.notify("event", { topic, data: data ?? null, at: Date.now() });
    }
  }

  /**
   * Calls a method of the bridge, as the app's server does.
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<any>}
   */
  async call(method, params) {
    return this.#connected.peer.request(method, params, { asker: [] });
  }

  /**
   * Opens a page, as another client does: one of the app's, or one that the bridge hosts.
   * @param {string} uri
   * @param {Params} [params]
   * @param {{exts?: Params, style?: import("../types.js").Style}} [options]
   * @returns {Promise<import("../types.js").Outcome>}
   */
  async open(uri, params, options) {
    return this.#connected.session.open({ uri, params, ...options }, unwatched());
  }

  /**
   * Runs a task, as another client does.
   * @param {string} uri
   * @param {Params} [params]
   * @returns {Promise<any>}
   */
  async invoke(uri, params) {
    return this.#connected.session.invoke({ uri, params }, unwatched());
  }

  /**
   * Ends the connection, as a network or a server does.
   * @param {number} [code]
   * @param {string} [reason]
   */
  drop(code = 1006, reason = "") {
    this.#own?.socket.end(code, reason);
  }

  /**
   * Ends the connections of its guests, as those of pages that are loaded anew.
   * @param {number} [code]
   * @param {string} [reason]
   */
  dropGuests(code = 1006, reason = "") {
    for (const { socket, member } of [...this.#connections]) if (member?.isGuest) socket.end(code, reason);
  }

  /** The connection of the bridge itself. */
  get #own() {
    const [own] = this.#connections;
    return own;
  }

  get #connected() {
    const { peer, session } = this.#own ?? {};
    if (peer !== undefined && session !== undefined) return { peer, session };
    throw failure("hostAbsent", "the bridge has no session with the mocked app: await its `ready` first");
  }

  #connect() {
    /** @type {import("./inside.js").Connection} */
    const connection = {
      socket: new MockSocket({
        accepts: () => this.#accepts(connection),
        received: (text) => connection.peer.receive(text),
        ended: (code) => this.#ended(connection, code),
      }),
      peer: new Peer({
        link: { send: (text) => connection.socket.deliver(text) },
        report: () => {},
        duties: { request: (method) => this.#recorded(method, connection), notification: () => undefined },
        clock: platformClock,
      }, { count: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }, Serving),
    };
    return connection.socket;
  }

  /** @param {import("./inside.js").Connection} connection */
  #accepts(connection) {
    if (this.isDown) return false;
    connection.peer.start();
    this.#connections.add(connection);
    return true;
  }

  /**
   * @param {import("./inside.js").Connection} connection
   * @param {number} code
   */
  #ended(connection, code) {
    const { peer, session, member } = connection;
    this.#connections.delete(connection);
    peer.close({ code: 1006, reason: "the bridge has left the mocked app" });
    if (session === undefined || member === undefined) return;
    const [first] = session.members;
    session.leave(member, code !== 1000);
    if (member !== first) return;
    // A mocked session ends with the client that began it.
    session.end();
    const others = [...this.#connections].filter((other) => other.session === session);
    for (const { socket } of others) socket.end(4103, "the session has ended");
  }

  /**
   * @param {string} method
   * @param {import("./inside.js").Connection} connection
   * @returns {import("../serving.js").RequestHandler}
   */
  #recorded(method, connection) {
    return (params, context) => {
      this.calls.push({ method, params });
      if (method === "session.open") return this.#welcome(params, connection);
      const handler = connection.member?.methods.get(method);
      if (handler === undefined) throw failure("methodNotFound", `a mocked app has no method ${method}`);
      return handler(params, context);
    };
  }

  /**
   * @param {any} params
   * @param {import("./inside.js").Connection} connection
   */
  #welcome(params, connection) {
    const session = this.#sessionFor(params);
    const member = session.enter(connection.peer, params);
    Object.assign(connection, { session, member });
    const { page, isGuest } = member;
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
    if (session?.id === join.session && session?.knows(join.token)) return session;
    throw failure("notAuthenticated", "the mocked app has no such session, or this is no token of it");
  }
}

/** The context of a call that a test makes: it neither cancels nor hears of progress. */
function unwatched() {
  return { signal: new AbortController().signal, progress: () => {} };
}
