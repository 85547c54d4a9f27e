import { isUtf8 } from "node:buffer";
import { connect } from "node:net";
import { CLOSE, PING, PONG, TEXT, closeFrame, frame } from "./frames.mjs";
import { CLOSES, faultOf, keyOf, owedFor } from "./expectations.mjs";

/** The close codes that a message before the violation of the protocol can cause. */
const EARLIER = [1000, 4006, 4009, 4029, 4101, 4201, 4204];

/** A WebSocket client that can send any bytes, parses every frame of the server strictly, and knows the expected responses. */
export class Peer {
  /** The number of responses that the server owes, by the key of the id. */
  #owed = new Map();
  /** The number of further responses with any id. */
  #spare = 0;
  /** The received numbered messages by number. A resumed connection can deliver them once more, unchanged. */
  #numbered = new Map();
  #makeAnswer = undefined;
  #buffer = Buffer.alloc(0);
  #fragments = [];
  #waiting = new Set();
  /** The frames that were sent last, for the report of a fault. */
  #sent = "";
  #hasClosed = false;
  /** Requests of the server that have no response yet. */
  requests = new Map();
  /** Messages that were not processed yet. */
  inbox = [];
  /** The codes with which the server must close; undefined if it need not close. */
  mustClose = undefined;
  /** Set if the bytes are such that any behaviour is possible. */
  isWild = false;
  /** How the connection ended: a code, or "none" without a close frame. */
  code = undefined;
  isLeaving = false;

  constructor(visit, name, subprotocol) {
    this.visit = visit;
    this.name = name;
    const { hostname, port, host } = new URL(visit.server.address);
    const fields = [
      "GET /bridge HTTP/1.1", `Host: ${host}`, "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
      ...(subprotocol ? [`Sec-WebSocket-Protocol: ${subprotocol}`] : []),
    ];
    this.socket = connect(Number(port), hostname, () => this.socket.write(`${fields.join("\r\n")}\r\n\r\n`));
    this.socket.setNoDelay(true);
    this.opened = new Promise((resolve) => (this.#opened = resolve));
    this.closed = new Promise((resolve) => this.socket.once("close", () => resolve(this.#end())));
    this.socket.on("error", () => {});
    this.socket.on("data", (bytes) => this.#receive(bytes));
  }

  #opened = (_isOpen) => {};
  #isOpen = false;

  get isOpen() {
    return this.#isOpen && !this.#hasClosed && this.code === undefined;
  }

  /** Whether a response or the close is still due. */
  get isOwed() {
    return this.code === undefined && (this.mustClose !== undefined || (!this.isWild && this.#owed.size > 0));
  }

  get owedKeys() {
    return [...this.#owed.keys()];
  }

  fault(kind, detail) {
    this.visit.fault(`${kind}${this.#sent}`, `${this.name} ${detail ?? ""}`);
  }

  // Sending

  /** Whether more can be sent: nothing after bytes that must close the connection. */
  get isTalking() {
    return this.isOpen && this.mustClose === undefined;
  }

  /** Sends a whole message, which need not be UTF-8. */
  sendMessage(bytes) {
    if (!this.isTalking) return;
    this.#expect(bytes);
    this.visit.remember(this.name, bytes);
    this.socket.write(frame(TEXT, bytes));
  }

  /** Sends frames that `mutatedFrames` has created from a message. */
  sendFrames(bytes, { what, chunks, closes, isWild }) {
    if (!this.isTalking) return;
    this.#sent = ` after ${what}`;
    // Later bytes can be parsed as the rest of a frame whose length was changed.
    if (isWild || this.isWild) this.isWild = true;
    else if (closes) this.mustClose ??= closes;
    else this.#expect(bytes);
    for (const chunk of chunks) {
      this.visit.remember(this.name, chunk);
      this.socket.write(chunk);
    }
  }

  #expect(bytes) {
    this.visit.counts.messages += 1;
    if (!isUtf8(bytes)) return void (this.mustClose ??= [1007]);
    if (bytes.length > 1_048_576) return void (this.mustClose ??= [1009]);
    const { must, may } = owedFor(bytes.toString());
    for (const key of must) this.#owed.set(key, (this.#owed.get(key) ?? 0) + 1);
    this.#spare += may;
  }

  send(message) {
    this.sendMessage(Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message })));
  }

  cancel(key) {
    const id = key[0] === "s" ? key.slice(1) : Number(key);
    const text = JSON.stringify({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id } });
    if (this.isTalking) this.socket.write(frame(TEXT, Buffer.from(text)));
  }

  // Receiving

  /** Waits until `check`, which is called with each message, returns a value, and returns it; undefined after the timeout. */
  async until(check, milliseconds) {
    const end = performance.now() + milliseconds;
    for (;;) {
      const found = check();
      const left = end - performance.now();
      if (found || left <= 0 || this.code !== undefined) return found;
      await new Promise((resolve) => {
        const timer = setTimeout(wake, left);
        const waiting = this.#waiting;
        function wake() {
          clearTimeout(timer);
          waiting.delete(wake);
          resolve();
        }
        waiting.add(wake);
      });
    }
  }

  #wake() {
    for (const wake of [...this.#waiting]) wake();
  }

  #receive(bytes) {
    this.#buffer = this.#buffer.length === 0 ? bytes : Buffer.concat([this.#buffer, bytes]);
    if (!this.#isOpen && !this.#readHead()) return;
    while (this.#readFrame());
    this.#wake();
  }

  #readHead() {
    const end = this.#buffer.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const status = this.#buffer.toString("latin1", 0, 12);
    this.#buffer = this.#buffer.subarray(end + 4);
    if (status !== "HTTP/1.1 101") {
      this.fault(`the handshake was answered ${status}`);
      this.socket.destroy();
      return false;
    }
    this.#isOpen = true;
    this.#opened(true);
    return true;
  }

  #readFrame() {
    if (this.#buffer.length < 2) return false;
    const [first, second] = this.#buffer;
    const form = second === 126 ? 2 : second === 127 ? 8 : 0;
    if (this.#buffer.length < 2 + form) return false;
    const length = form === 0 ? second : form === 2 ? this.#buffer.readUInt16BE(2) : Number(this.#buffer.readBigUInt64BE(2));
    if (second & 0x80 || first & 0x70 || (form === 2 && length < 126) || (form === 8 && length < 65_536)) {
      this.fault("a wrong frame came", this.#buffer.toString("hex", 0, 14));
      this.socket.destroy();
      return false;
    }
    if (this.#buffer.length < 2 + form + length) return false;
    const payload = this.#buffer.subarray(2 + form, 2 + form + length);
    this.#buffer = this.#buffer.subarray(2 + form + length);
    this.#frame(first & 0x0f, Boolean(first & 0x80), payload);
    return true;
  }

  #frame(opcode, isLast, payload) {
    if (this.code !== undefined) return void (opcode < CLOSE && this.fault(`a message after the close frame ${this.code}`));
    if (opcode === CLOSE) return this.#closing(payload.length < 2 ? 1005 : payload.readUInt16BE(0));
    if (opcode === PING) return void this.socket.write(frame(PONG, payload));
    if (opcode === PONG) return;
    if (opcode !== (this.#fragments.length === 0 ? TEXT : 0)) this.fault(`the opcode ${opcode}`);
    this.#fragments.push(payload);
    if (!isLast) return;
    const whole = Buffer.concat(this.#fragments);
    this.#fragments = [];
    this.#message(whole);
  }

  #message(bytes) {
    if (!isUtf8(bytes)) return this.fault("a text that is no UTF-8");
    let value;
    try {
      value = JSON.parse(bytes.toString());
    } catch {
      return this.fault("no JSON came", bytes.toString("latin1", 0, 500));
    }
    if (Array.isArray(value) && value.length === 0) return this.fault("an empty batch");
    for (const message of Array.isArray(value) ? value : [value]) {
      const fault = faultOf(message);
      if (fault) this.fault(`${fault} came`, JSON.stringify(message));
      else if (this.#isRepeated(message)) continue;
      else if (message.method === undefined) this.#answer(message);
      else if (message.id !== undefined) this.#receiveRequest(message);
    }
    this.visit.counts.received += 1;
    this.inbox.push(value);
  }

  /** Whether a message was received before, over this connection or the one that it resumes. */
  #isRepeated(message) {
    if (message.seq === undefined) return false;
    const text = JSON.stringify(message);
    const earlier = this.#numbered.get(message.seq);
    if (earlier !== undefined && earlier !== text) this.fault("another message under a number that came before", `${earlier} then ${text}`);
    this.#numbered.set(message.seq, text);
    return earlier !== undefined;
  }

  /** Resumes another connection of the same client: the responses that it owed can arrive here. */
  #resume(earlier) {
    this.#spare += earlier.#spare + [...earlier.#owed.values()].reduce((sum, count) => sum + count, 0);
    this.#numbered = earlier.#numbered;
    // The server's responses to changed bytes arrive here.
    if (earlier.isWild) this.isWild = true;
    earlier.#owed.clear();
  }

  /** Reads the identity of this connection from the response to `session.open` or `session.resume`. */
  #identify({ client, epoch, resumed }) {
    if (typeof client !== "string" || typeof epoch !== "string") return;
    const earlier = this.visit.clients.get(client);
    if (resumed && earlier && earlier !== this) this.#resume(earlier);
    this.visit.clients.set(client, this);
  }

  #receiveRequest(request) {
    if (this.#makeAnswer) this.send({ id: request.id, ...this.#makeAnswer() });
    else this.requests.set(keyOf(request.id), request);
  }

  /** Responds to the server's requests, and to future ones. */
  answerAll(make) {
    this.#makeAnswer = make;
    for (const request of this.requests.values()) this.#receiveRequest(request);
    this.requests.clear();
  }

  #answer(message) {
    if (message.error) this.visit.count("errors", message.error.code === -32603 ? `-32603 ${message.error.data?.kind}` : message.error.code);
    if (message.result) this.#identify(message.result);
    if (this.isWild || this.mustClose) return;
    const key = keyOf(message.id);
    const owed = this.#owed.get(key) ?? 0;
    if (owed > 1) this.#owed.set(key, owed - 1);
    else if (owed === 1) this.#owed.delete(key);
    else if (this.#spare > 0) this.#spare -= 1;
    else this.fault("an answer to nothing, or a second one", JSON.stringify(message));
  }

  #closing(code) {
    this.code = code;
    this.#hasClosed = true;
    if (!this.isWild && !CLOSES.has(code) && !this.mustClose?.includes(code)) this.fault(`closed with ${code}`);
    this.socket.end(frame(CLOSE, closeFrame(code === 1005 ? 1000 : code)));
    setTimeout(() => this.socket.destroy(), 5_000).unref();
  }

  #end() {
    this.#opened(false);
    if (this.code === undefined) {
      this.code = "none";
      if (!this.isLeaving && !this.isWild && !this.mustClose) this.fault("ended without a close frame");
    }
    if (!this.isLeaving) this.visit.count("closes", this.code);
    this.#wake();
    const codes = [...(this.mustClose ?? []), ...EARLIER];
    if (this.mustClose && !this.isLeaving && !this.isWild && !codes.includes(this.code)) {
      this.fault(`closed with ${this.code} instead of ${this.mustClose.join(" or ")}`);
    }
  }

  /** Leaves, in one of several ways. */
  leave(how) {
    this.isLeaving = true;
    if (this.code !== undefined || how === "destroy" || !this.#isOpen) this.socket.destroy();
    else if (how === "reset") this.socket.resetAndDestroy();
    else {
      this.socket.end(frame(CLOSE, closeFrame(1000)));
      setTimeout(() => this.socket.destroy(), 2_000).unref();
    }
    return this.closed;
  }
}
