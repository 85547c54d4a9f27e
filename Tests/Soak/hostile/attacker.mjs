import { nodeWebSockets } from "../../../web/test/node-ws.js";
import { headers } from "../credentials.mjs";

const { WebSocket } = nodeWebSockets();
/** Error codes that a client with excessive requests can get; an attack can allow others. */
const REFUSALS = [-32800, -32802, 2413, 2429, 2503, 2504];
/** Close codes that it can get; an attack can allow others. */
const CLOSES = [1000, 1005, 1009, 4029, 4100, 4101, 4102, 4201];
/** Methods whose requests have no number. */
const UNNUMBERED = ["session.open", "session.resume", "$/ack", "$/ping"];

/** A hostile client. It accepts every rejection that the protocol defines for it, and reports any other. */
export class Attacker {
  #context;
  #lastID = 0;
  #calls = new Map();
  #isLeaving = false;
  /** Its response to a request of the server; null by default. */
  answers = (_request) => ({ result: null });
  /** Is called with each notification. */
  notified = (_notification) => {};
  /** Is called with the text of each message. */
  heard = (_text) => {};
  /** Whether it numbers its messages, so that it can resume. */
  isNumbered = false;
  /** The number of its last message. */
  sent = 0;
  /** The number of the last message of the server. */
  received = 0;
  /** The response to `session.open` or `session.resume` that succeeded. */
  opening = undefined;
  /** The close code; undefined while the connection is open. */
  code = undefined;

  /** `user` is null for a client without a token; `claims`: those of its token. `origin` is that of a page. */
  constructor(context, protocols = ["waybridge.v1"], user = "attacker", { origin, ...claims } = {}) {
    this.#context = context;
    this.socket = new WebSocket(context.url, protocols, {
      perMessageDeflate: false, origin, headers: user === null ? {} : headers(user, claims),
    });
    context.attackers.add(this);
    this.opened = new Promise((resolve) => {
      this.socket.once("open", () => resolve(true));
      this.socket.on("error", () => resolve(false));
    });
    this.closed = new Promise((resolve) => this.socket.once("close", (code) => resolve(this.#end(code))));
    this.socket.on("message", (data) => this.#receive(data));
    // An attack that was ended continues until it notices.
    if (context.isOver) void this.leave();
  }

  /** Connects, and opens a session or joins that of another client. */
  static async enter(context, { hosts, join, user, page, ...more } = {}) {
    const attacker = new Attacker(context, undefined, user, more);
    await attacker.opened;
    const client = { name: "attacker", version: "1" };
    const params = { protocol: ["1.0"], client, hosts, join: join?.invitation, page };
    attacker.opening = (await attacker.request("session.open", params))?.result;
    if (attacker.opening) attacker.invitation = { session: attacker.opening.session, token: attacker.opening.joinToken };
    return attacker;
  }

  /** The status of a handshake; 101 if the server accepts it, 0 if it does not respond. */
  static handshake(context, { user, protocols = ["waybridge.v1"], origin }) {
    const socket = new WebSocket(context.url, protocols, { perMessageDeflate: false, origin, headers: user ? headers(user) : {} });
    socket.on("error", () => {});
    return new Promise((resolve) => {
      socket.once("unexpected-response", (_request, response) => resolve(response.statusCode));
      socket.once("open", () => resolve(101));
      socket.once("close", () => resolve(0));
      void context.over.then(() => resolve(0));
    }).finally(() => socket.terminate());
  }

  get isOpen() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  sendText(text) {
    if (this.isOpen) this.socket.send(text);
  }

  send(message) {
    const seq = this.isNumbered && !UNNUMBERED.includes(message.method) ? (this.sent += 1) : undefined;
    this.sendText(JSON.stringify({ jsonrpc: "2.0", seq, ...message }));
  }

  /** The response to a call: `{result}`, `{error}`, or null if the connection closed first. */
  request(method, params, id = this.nextID()) {
    const answer = this.expect(id);
    this.send({ id, method, params });
    return answer;
  }

  nextID() {
    return (this.#lastID += 1);
  }

  /** The response to a request that is sent by other means. */
  expect(id) {
    if (!this.isOpen) return Promise.resolve(null);
    return new Promise((resolve) => this.#calls.set(id, resolve));
  }

  /** Sends calls in one batch, or one after another in one write; returns their responses. */
  requestAll(calls, { isBatch = false } = {}) {
    const messages = calls.map(([method, params]) => ({ jsonrpc: "2.0", id: this.nextID(), method, params }));
    const answers = messages.map(({ id }) => this.expect(id));
    if (isBatch) {
      this.sendText(JSON.stringify(messages));
    } else {
      this.socket._socket?.cork();
      for (const message of messages) this.sendText(JSON.stringify(message));
      this.socket._socket?.uncork();
    }
    return Promise.all(answers);
  }

  cancel(id) {
    this.send({ method: "$/cancelRequest", params: { id } });
  }

  leave() {
    this.#isLeaving = true;
    this.socket.terminate();
    return this.closed;
  }

  #end(code) {
    this.code = code;
    this.#context.attackers.delete(this);
    if (!this.#isLeaving) {
      this.#context.count(`closed ${code}`);
      if (![...CLOSES, ...this.#context.allowed].includes(code)) this.#context.fault(`an attacker was closed with ${code}`);
    }
    for (const resolve of this.#calls.values()) resolve(null);
    this.#calls.clear();
    return code;
  }

  #receive(data) {
    // The server has to write messages of megabytes, but this thread does not have to parse them.
    if (data.length > 1_000_000) return this.#settleLarge(data.toString());
    const text = data.toString();
    this.heard(text);
    const whole = JSON.parse(text);
    for (const message of Array.isArray(whole) ? whole : [whole]) {
      this.received = message.seq ?? this.received;
      if (message.method === undefined) this.#settle(message.id, message);
      else if (message.id !== undefined) this.#receiveRequest(message);
      else this.notified(message);
    }
  }

  #settleLarge(text) {
    const ids = [...text.matchAll(/"jsonrpc":"2\.0","id":(\d+),/g)].map(([, id]) => Number(id));
    for (const id of ids) this.#settle(id, { result: "large" });
  }

  #receiveRequest(request) {
    const answer = this.answers(request);
    if (answer) this.send({ id: request.id, ...answer });
  }

  #settle(id, { result, error }) {
    this.#context.count(error ? `${error.code} ${error.data?.kind ?? ""}` : "answered");
    if (error && ![...REFUSALS, ...this.#context.allowed].includes(error.code)) {
      this.#context.fault(`an attacker was answered ${error.code}: ${error.message}`);
    }
    if (id === null) {
      // One error for a whole batch.
      const [first] = this.#calls.keys();
      id = first;
    }
    this.#calls.get(id)?.(error ? { error } : { result });
    this.#calls.delete(id);
  }
}
