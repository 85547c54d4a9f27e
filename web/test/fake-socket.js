// @ts-check
import { Bridge } from "../bridge/bridge.js";
import { schemeOf } from "../bridge/uri/uri.js";
import { ManualClock } from "./manual-clock.js";

/** The result of `session.open`. */
export const INFO = {
  session: "s1",
  client: "c1",
  token: "t1",
  joinToken: "j1",
  epoch: "e1",
  protocol: "1.0",
  server: { name: "waybridge", version: "0.1.0" },
  limits: { maxMessage: 2000 },
};

/** A WebSocket with the test as its peer. */
export class FakeSocket extends EventTarget {
  /** @type {FakeSocket[]} */
  static made = [];

  protocol = "";
  readyState = 0;
  /**
   * The messages that the client has sent, parsed.
   * @type {any[]}
   */
  sent = [];
  /** @type {unknown[]} */
  closes = [];
  /**
   * The number of the last message of the server, if it numbers messages.
   * @type {number | undefined}
   */
  seq;

  /**
   * @param {string} url
   * @param {string[]} protocols
   */
  constructor(url, protocols) {
    super();
    this.url = url;
    this.protocols = protocols;
    FakeSocket.made.push(this);
  }

  /** @param {string} text */
  send(text) {
    if (this.readyState !== 1) throw new Error("The socket is not open");
    try {
      this.sent.push(JSON.parse(text));
    } catch {
      this.sent.push({ notJSON: text });
    }
  }

  /** @param {unknown[]} how */
  close(...how) {
    this.closes.push(how);
    this.readyState = 2;
  }

  /** Opens the connection. */
  accept(protocol = "waybridge.v1") {
    this.protocol = protocol;
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
  }

  /** @param {unknown} data */
  receiveRaw(data) {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }

  /**
   * Delivers a message of the server. A request to a host that does not name the chosen host means the host of the page's whole scheme, or of
   * exactly the task's URI.
   * @param {any} message
   */
  receive({ method, params, ...message }) {
    if (method === "page.open" && params?.page) params = { host: { scheme: schemeOf(params.page.uri), kind: "page" }, ...params };
    if (method === "task.run" && params?.uri) params = { host: { pattern: params.uri, kind: "task" }, ...params };
    const seq = this.seq === undefined || isBare(method) ? undefined : (this.seq += 1);
    this.receiveRaw(JSON.stringify({ jsonrpc: "2.0", seq, method, params, ...message }));
  }

  /**
   * Closes the connection.
   * @param {number} code
   */
  end(code, reason = "") {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event("close"), { code, reason }));
  }

  /**
   * Returns the newest message of the client, which must have this method.
   * @param {string} method
   */
  last(method) {
    const message = this.sent.at(-1);
    if (message?.method !== method) throw new Error(`Expected ${method}, but the last message is ${JSON.stringify(message)}`);
    return message;
  }

  /**
   * Responds to the newest call.
   * @param {string} method
   * @param {unknown} result
   */
  respond(method, result) {
    this.receive({ id: this.last(method).id, result });
  }

  /**
   * Responds to the newest call with an error.
   * @param {string} method
   * @param {object} error
   */
  respondError(method, error) {
    this.receive({ id: this.last(method).id, error });
  }
}

/** @param {string | undefined} method */
function isBare(method) {
  return method === "$/ack" || method === "$/ping";
}

/**
 * A bridge whose socket is not open yet. It connects only once and sends no pings; its clock stands still.
 * @param {Partial<import("../bridge/bridge.js").BridgeOptions>} [options]
 */
export function connecting(options) {
  const WebSocket = /** @type {any} */ (FakeSocket);
  const clock = new ManualClock();
  const bridge = new Bridge({ url: "ws://test/bridge", WebSocket, clock, reconnect: false, ping: false, ...options });
  const socket = /** @type {FakeSocket} */ (FakeSocket.made.at(-1));
  return { bridge, clock, socket, events: recorded(bridge) };
}

/** The most recently created socket. */
export function newest() {
  const socket = FakeSocket.made.at(-1);
  if (socket === undefined) throw new Error("No socket was created");
  return socket;
}

/**
 * Opens a session on the most recently created socket; `sent` begins after `session.open`.
 * @param {Bridge} bridge
 * @param {object} [info] properties of the result that differ from the default
 */
export async function accept(bridge, info) {
  const socket = newest();
  socket.accept();
  await turn();
  socket.respond("session.open", { ...INFO, ...info });
  await bridge.ready;
  socket.sent = socket.sent.filter((message) => message.method !== "session.open");
  return socket;
}

/**
 * A bridge with an open session; `sent` begins after `session.open`.
 * @param {Partial<import("../bridge/bridge.js").BridgeOptions>} [options]
 */
export async function connected(options) {
  const made = connecting(options);
  await accept(made.bridge);
  return made;
}

/**
 * Returns the responses of the client, in order.
 * @param {FakeSocket} socket
 */
export function responses(socket) {
  return socket.sent.filter((message) => !("method" in message)).map(({ jsonrpc, ...rest }) => rest);
}

/** Waits until everything that is ready to run has run. */
export function turn() {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)));
}

/** @param {Bridge} bridge */
function recorded(bridge) {
  /** @type {any[]} */
  const events = [];
  for (const type of /** @type {const} */ (["close", "error", "resume"])) {
    bridge.addEventListener(type, (event) => events.push({ type, detail: Reflect.get(event, "detail") }));
  }
  return events;
}
