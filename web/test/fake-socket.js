// @ts-check
import { Bridge } from "../bridge/bridge.js";
import { schemeOf } from "../bridge/uri.js";
import { ManualClock } from "./manual-clock.js";

/** What a server answers to `session.open`. */
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

/** A WebSocket whose other end is the test. */
export class FakeSocket extends EventTarget {
  /** @type {FakeSocket[]} */
  static made = [];

  protocol = "";
  readyState = 0;
  /**
   * What the client sent, parsed.
   * @type {any[]}
   */
  sent = [];
  /** @type {unknown[]} */
  closes = [];
  /**
   * Of the last message that the server numbered, where it numbers.
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
    if (this.readyState !== 1) throw new Error("sent on a socket that is not open");
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

  /** The connection comes about. */
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
   * A message of the server. One that asks a host and does not say which means that of the page's whole scheme, or of just the
   * task's URI.
   * @param {any} message
   */
  receive({ method, params, ...message }) {
    if (method === "page.open" && params?.page) params = { host: { scheme: schemeOf(params.page.uri), kind: "page" }, ...params };
    if (method === "task.run" && params?.uri) params = { host: { pattern: params.uri, kind: "task" }, ...params };
    const seq = this.seq === undefined || isBare(method) ? undefined : (this.seq += 1);
    this.receiveRaw(JSON.stringify({ jsonrpc: "2.0", seq, method, params, ...message }));
  }

  /**
   * The connection ends.
   * @param {number} code
   */
  end(code, reason = "") {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event("close"), { code, reason }));
  }

  /**
   * The newest message that the client sent, which must have that method.
   * @param {string} method
   */
  last(method) {
    const message = this.sent.at(-1);
    if (message?.method !== method) throw new Error(`expected ${method}, the last was ${JSON.stringify(message)}`);
    return message;
  }

  /**
   * Answers the newest call.
   * @param {string} method
   * @param {unknown} result
   */
  answer(method, result) {
    this.receive({ id: this.last(method).id, result });
  }

  /**
   * Answers the newest call with an error.
   * @param {string} method
   * @param {object} error
   */
  refuse(method, error) {
    this.receive({ id: this.last(method).id, error });
  }
}

/** @param {string | undefined} method */
function isBare(method) {
  return method === "$/ack" || method === "$/ping";
}

/**
 * A bridge whose socket is not open yet, and that connects only once and sends no pings, on a clock that stands still.
 * @param {Partial<import("../bridge/bridge.js").BridgeOptions>} [options]
 */
export function connecting(options) {
  const WebSocket = /** @type {any} */ (FakeSocket);
  const clock = new ManualClock();
  const bridge = new Bridge({ url: "ws://test/bridge", WebSocket, clock, reconnect: false, ping: false, ...options });
  const socket = /** @type {FakeSocket} */ (FakeSocket.made.at(-1));
  return { bridge, clock, socket, events: recorded(bridge) };
}

/** The socket that was made last. */
export function newest() {
  const socket = FakeSocket.made.at(-1);
  if (socket === undefined) throw new Error("no socket was made");
  return socket;
}

/**
 * Opens a session on the socket that was made last; `sent` begins after `session.open`.
 * @param {Bridge} bridge
 * @param {object} [info] what the server says otherwise
 */
export async function accept(bridge, info) {
  const socket = newest();
  socket.accept();
  await turn();
  socket.answer("session.open", { ...INFO, ...info });
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
 * The answers that the client gave, in their order.
 * @param {FakeSocket} socket
 */
export function answers(socket) {
  return socket.sent.filter((message) => !("method" in message)).map(({ jsonrpc, ...rest }) => rest);
}

/** Until everything that is ready to run has run. */
export function turn() {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)));
}

/** @param {Bridge} bridge */
function recorded(bridge) {
  /** @type {any[]} */
  const events = [];
  for (const type of ["close", "error", "resume"]) {
    bridge.addEventListener(type, (event) => events.push({ type, detail: Reflect.get(event, "detail") }));
  }
  return events;
}
