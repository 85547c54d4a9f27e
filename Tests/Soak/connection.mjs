import { isDeepStrictEqual } from "node:util";
import { nodeWebSockets } from "../../web/test/node-ws.js";
import { headers } from "./credentials.mjs";

const { WebSocket } = nodeWebSockets();

/** One request, from its sending to its one response. */
export class Call {
  constructor(id, method, params, isAtOnce) {
    this.id = id;
    this.method = method;
    this.params = params;
    this.isAtOnce = isAtOnce;
    this.begun = performance.now();
    this.isCancelled = false;
    /** The page that this call has opened. */
    this.page = undefined;
    this.progress = [];
    this.duplicates = 0;
    this.isSettled = false;
    /** `{result}` or `{error}`; null if the connection closed first. */
    this.answer = new Promise((resolve) => (this.#resolve = resolve));
  }

  #resolve = (_answer) => {};
  #work = (_answer) => {};

  /** Calls `work` with the response before the connection's next message is processed, which a promise would not do. */
  whenAnswered(work) {
    this.#work = work;
    if (this.isSettled) work(null);
  }

  settle(answer) {
    this.isSettled = true;
    this.#work(answer);
    this.#resolve(answer);
  }
}

/**
 * One WebSocket of a client. It checks all received messages: each request has one response, immediate responses arrive in
 * order, and no unexpected message arrives.
 */
export class Connection {
  calls = new Map();
  /** Calls and invalid messages whose responses arrive in the order in which they were sent. */
  #inOrder = [];
  #ghosts = new Map();
  #lastID = 0;
  /** Whether this client has started to leave. */
  isLeaving = false;
  /** The close code that the server must send, if this client has provoked one. */
  expectedClose = undefined;
  #leaves = "";
  /** The topics that it has subscribed to last. */
  wanted = new Set();
  /** The topics whose events can arrive, with the number of changes that have no response yet. */
  topics = new Map();
  /** Messages that arrived before there was a handler. */
  #early = [];
  #handleOther = (message) => void this.#early.push(message);

  constructor(run, name, path, protocols) {
    this.run = run;
    this.name = name;
    this.socket = new WebSocket(run.server.url(path), protocols, { perMessageDeflate: false, headers: headers("good") });
    this.opened = new Promise((resolve) => {
      this.socket.once("open", () => resolve(true));
      this.socket.on("error", (error) => {
        if (!this.isLeaving && this.expectedClose === undefined) this.fault(`the socket failed: ${error.message}`);
        resolve(false);
      });
    });
    this.ended = new Promise((resolve) => this.socket.once("close", (code, reason) => resolve(this.#end(code, reason))));
    this.socket.on("message", (data) => this.#receive(data.toString()));
  }

  get isOpen() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  fault(text) {
    this.run.fault(`${this.name}: ${text}`);
  }

  nextID(random) {
    this.#lastID += 1;
    return random?.chance(0.5) ? `i${this.#lastID}` : this.#lastID;
  }

  sendText(text) {
    if (!this.isOpen) return;
    this.run.counts.sent += 1;
    this.socket.send(text);
  }

  send(message) {
    this.sendText(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  /** `isAtOnce`: the server responds before it processes the next message. */
  request(method, params, { id = this.nextID(), isAtOnce = false } = {}) {
    const call = this.expect(id, method, params, isAtOnce);
    this.send({ id, method, params });
    return call;
  }

  /** Stores a call whose request is sent by other means. */
  expect(id, method, params, isAtOnce) {
    const call = new Call(id, method, params, isAtOnce);
    if (this.isLeaving || !this.isOpen) {
      call.settle(null);
      return call;
    }
    this.calls.set(JSON.stringify(id), call);
    if (isAtOnce) this.#inOrder.push(call);
    return call;
  }

  /** Sends text whose response has this code and no id. */
  provoke(text, code) {
    this.#inOrder.push({ code });
    this.sendText(text);
  }

  /** Sends the entries of a batch. The ids of the responses are those of the requests. */
  batch(entries) {
    const requests = entries.filter((entry) => entry.id !== undefined);
    const whole = { ids: requests.map((entry) => entry.id), isAtOnce: true, isBatch: true };
    const calls = requests.map((entry) => {
      const call = this.expect(entry.id, entry.method, entry.params, false);
      call.batch = whole;
      return call;
    });
    if (calls.length > 0) this.#inOrder.push(whole);
    this.sendText(JSON.stringify(entries.map((entry) => ({ jsonrpc: "2.0", ...entry }))));
    return calls;
  }

  /** Uses the id of a running call again, for a ping. */
  duplicate(call) {
    const key = JSON.stringify(call.id);
    call.duplicates += 1;
    this.#ghosts.set(key, (this.#ghosts.get(key) ?? 0) + 1);
    this.send({ id: call.id, method: "$/ping" });
  }

  cancel(call) {
    if (call.isSettled) return;
    call.isCancelled = true;
    this.send({ method: "$/cancelRequest", params: { id: call.id } });
  }

  #end(code, reason) {
    if (this.expectedClose !== undefined && !this.isLeaving) {
      if (code !== this.expectedClose) this.fault(`closed with ${code} instead of ${this.expectedClose}`);
    } else if (this.#leaves === "session.close" && code !== 1000 && !this.run.isDraining) {
      this.fault(`session.close closed with ${code}`);
    } else if (!this.isLeaving && !this.run.isDraining) {
      this.fault(`the server closed the connection with ${code}: ${reason}`);
    }
    this.isLeaving = true;
    for (const call of this.calls.values()) call.settle(null);
    this.calls.clear();
    return code;
  }

  #receive(text) {
    if (this.isLeaving) return;
    this.run.counts.received += 1;
    const message = JSON.parse(text);
    if (Array.isArray(message)) {
      const first = message[0];
      const whole = this.calls.get(JSON.stringify(first.id))?.batch;
      const ids = message.map((answer) => answer.id);
      if (!whole || !isDeepStrictEqual(whole.ids, ids)) return this.fault(`an unexpected batch: ${text}`);
      this.#inTurn(whole, text);
      for (const answer of message) this.#settle(answer, text, whole);
    } else if (message.method !== undefined) {
      if (message.method === "$/progress") this.#progress(message.params, text);
      else this.#handleOther(message);
    } else if (message.id === null) {
      const expected = this.#inOrder.shift();
      if (expected?.code === undefined || expected.code !== message.error?.code) {
        this.fault(`${JSON.stringify(expected?.code ?? expected?.method)} was expected, came ${text}`);
      }
    } else {
      this.#settle(message, text);
    }
  }

  /**
   * A ping has no number, so its response can overtake a numbered error that waits for the store (PROTOCOL.md, "Numbers"):
   * the error for an invalid first message is numbered, because the client may still turn out to be resumable.
   */
  #inTurn(call, text) {
    const index = call.method === "$/ping" ? this.#inOrder.findIndex((each) => each.code === undefined) : 0;
    const [next] = this.#inOrder.splice(Math.max(0, index), 1);
    if (next !== call) this.fault(`out of order, before ${next?.method ?? next?.code ?? next?.ids}: ${text}`);
  }

  #settle(message, text, batch) {
    const key = JSON.stringify(message.id);
    const call = this.calls.get(key);
    const ghosts = this.#ghosts.get(key) ?? 0;
    if (ghosts > 0 && (call ? message.error?.data?.kind === "duplicateID" : message.result === null)) {
      // The ping with a used id: rejected while the call runs, afterwards a call of its own.
      if (ghosts > 1) this.#ghosts.set(key, ghosts - 1);
      else this.#ghosts.delete(key);
      if (call) call.duplicates -= 1;
      return;
    }
    if (!call) return this.fault(`an answer to nothing, or a second one: ${text}`);
    if ((call.batch === undefined) !== (batch === undefined)) this.fault(`not in its batch: ${text}`);
    this.calls.delete(key);
    if (call.isAtOnce) this.#inTurn(call, text);
    if ((message.result === undefined) === (message.error === undefined)) this.fault(`neither result nor error: ${text}`);
    call.settle(message.error === undefined ? { result: message.result } : { error: message.error });
  }

  #progress(params, text) {
    const call = this.calls.get(JSON.stringify(params.id));
    if (!call) return this.fault(`progress of a call that is answered: ${text}`);
    if (params.value?.opened) {
      if (call.page !== undefined) this.fault(`opened twice: ${text}`);
      call.page = params.value.opened.page;
      call.onShown?.(call.page);
    } else {
      call.progress.push(params.value);
    }
  }

  /** Passes requests and notifications of the server to `handler`, including those that arrived before. */
  handleOther(handler) {
    this.#handleOther = handler;
    for (const message of this.#early.splice(0)) handler(message);
  }

  /** Leaves, in one of several ways. Calls without a response by then never have one. */
  leave(how) {
    if (this.isLeaving) return;
    if (how === "session.close") this.send({ id: "bye", method: "session.close" });
    this.isLeaving = true;
    this.#leaves = how;
    for (const call of this.calls.values()) call.settle(null);
    this.calls.clear();
    if (how === "close") this.socket.close(1000);
    else if (how === "reset") this.socket._socket?.resetAndDestroy();
    else if (how !== "session.close") this.socket.terminate();
  }
}
