// @ts-check
import { platformClock } from "../clock.js";
import { failure } from "../errors.js";
import { Peer } from "../peer.js";
import { placeOf, URIMap } from "../uri-map.js";
import { MockSession } from "./session.js";
import { MockSocket } from "./socket.js";

/** @typedef {import("../types.js").Page} Page */
/** @typedef {import("../types.js").Params} Params */
/** @typedef {import("../types.js").TaskHandler} TaskHandler */
/** @typedef {(params: any, shown: {page: Page, signal: AbortSignal}) => unknown} MockPageHandler `signal` is aborted when the page closes */
/** @typedef {{tasks: URIMap<TaskHandler>, pages: URIMap<MockPageHandler>}} Routes */

/**
 * What a mocked app does and shows, by URI, pattern or scheme.
 * @typedef {object} MockRoutes
 * @property {Record<string, TaskHandler>} [tasks] their (awaited) value is the task's
 * @property {Record<string, MockPageHandler>} [pages] their (awaited) value is the page's result, and ends it: one that gives a
 *   promise that never settles waits for `back` or `finish`
 */

/** The app and its server for one `Bridge` of a test: what the test sees of them, and what it does in their place. */
export class MockApp {
  /**
   * All that the bridge asked, in order.
   * @type {{method: string, params: any}[]}
   */
  calls = [];
  /** While this is true, no connection comes about. */
  isDown = false;
  /** @type {Routes} */ #routes = { tasks: new URIMap(), pages: new URIMap() };
  /** @type {{socket: MockSocket, peer: Peer, session: MockSession} | undefined} */ #connection;
  #sessions = 0;

  /** @param {MockRoutes} routes */
  constructor({ tasks = {}, pages = {} }) {
    for (const [key, handler] of Object.entries(tasks)) this.#routes.tasks.add({ ...placeOf(key), kind: "task" }, handler);
    for (const [key, handler] of Object.entries(pages)) this.#routes.pages.add({ ...placeOf(key), kind: "page" }, handler);
  }

  /** A connection for a bridge. */
  connect() {
    return new MockSocket({
      accepts: (socket) => this.#accepts(socket),
      received: (text) => this.#connection?.peer.receive(text),
      ended: () => this.#ended(),
    });
  }

  /**
   * Publishes an event; the bridge hears it if it has subscribed to the topic.
   * @param {string} topic
   * @param {unknown} [data]
   */
  publish(topic, data = null) {
    const { peer, session } = this.#connected;
    if (session.wants(topic)) peer.notify("event", { topic, data, at: Date.now() });
  }

  /**
   * Calls a method of the bridge, as the app's server does.
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<any>}
   */
  async call(method, params) {
    return this.#connected.peer.request(method, params);
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
    this.#connection?.socket.end(code, reason);
  }

  get #connected() {
    if (this.#connection !== undefined) return this.#connection;
    throw failure("hostAbsent", "the bridge has no session with the mocked app: await its `ready` first");
  }

  /** @param {MockSocket} socket */
  #accepts(socket) {
    if (this.isDown) return false;
    const peer = new Peer({
      send: (text) => socket.deliver(text),
      report: () => {},
      request: (method) => this.#recorded(method),
      notification: () => undefined,
      clock: platformClock,
    });
    peer.start();
    this.#connection = { socket, peer, session: new MockSession(this.#routes, peer) };
    return true;
  }

  #ended() {
    this.#connection?.peer.close({ code: 1006, reason: "the bridge has left the mocked app" });
    this.#connection?.session.end();
    this.#connection = undefined;
  }

  /**
   * @param {string} method
   * @returns {import("../serving.js").RequestHandler}
   */
  #recorded(method) {
    return (params, context) => {
      this.calls.push({ method, params });
      if (method === "session.open") return this.#welcome(params);
      const handler = this.#connected.session.methods.get(method);
      if (handler === undefined) throw failure("methodNotFound", `a mocked app has no method ${method}`);
      return handler(params, context);
    };
  }

  /** @param {any} params */
  #welcome({ hosts = [] }) {
    this.#connected.session.register(hosts);
    this.#sessions += 1;
    return {
      session: `mock-${this.#sessions}`, client: "mock", token: "mock", joinToken: "mock", epoch: "mock", protocol: "1.0",
      server: { name: "mock", version: "0" }, limits: {}, table: { version: "0" }, capabilities: [],
    };
  }
}

/** The context of a call that a test makes: it neither cancels nor hears of progress. */
function unwatched() {
  return { signal: new AbortController().signal, progress: () => {} };
}
