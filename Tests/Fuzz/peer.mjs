import { isUtf8 } from "node:buffer";
import { connect } from "node:net";
import { CLOSE, PING, PONG, TEXT, closeFrame, frame } from "./frames.mjs";
import { CLOSES, faultOf, keyOf, owedFor } from "./expectations.mjs";

/** What a message may have been closed with that came before what breaks the protocol. */
const EARLIER = [1000, 4006, 4009, 4029, 4101, 4201, 4204];

/** A WebSocket client that can send any bytes, reads every frame of the server strictly, and knows which answers it is owed. */
export class Peer {
  /** How many answers the server owes, by the id's key. */
  #owed = new Map();
  /** How many more may come under any id. */
  #spare = 0;
  /** The numbered messages that have come, by their number: a connection that resumes may bring them once more, as they were. */
  #numbered = new Map();
  #makeAnswer = undefined;
  #buffer = Buffer.alloc(0);
  #fragments = [];
  #waiting = new Set();
  /** What the frames were that were sent last, for a fault. */
  #sent = "";
  #hasClosed = false;
  /** What the server has asked and is not answered yet. */
  requests = new Map();
  /** Messages that nobody has looked at. */
  inbox = [];
  /** The codes that the server must close with; undefined where it need not. */
  mustClose = undefined;
  /** Set when the bytes are such that anything may follow. */
  isWild = false;
  /** How the connection ended: a code; "none" where it did without a close frame. */
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
    this.socket.on("data", (bytes) => this.#take(bytes));
  }

  #opened = (_isOpen) => {};
  #isOpen = false;

  get isOpen() {
    return this.#isOpen && !this.#hasClosed && this.code === undefined;
  }

  /** Whether something is still due: an answer, or the end. */
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

  /** Whether more may be sent: nothing after what has to end the connection. */
  get isTalking() {
    return this.isOpen && this.mustClose === undefined;
  }

  /** Sends a whole message, which may be no UTF-8. */
  sendMessage(bytes) {
    if (!this.isTalking) return;
    this.#expect(bytes);
    this.visit.remember(this.name, bytes);
    this.socket.write(frame(TEXT, bytes));
  }

  /** Sends frames that `mutatedFrames` has made of a message. */
  sendFrames(bytes, { what, chunks, closes, isWild }) {
    if (!this.isTalking) return;
    this.#sent = ` after ${what}`;
    // What follows may be taken for the rest of a frame whose length was changed.
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

  /** Waits until `check` gives something, is told of each message, and gives it; undefined when time is over. */
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

  #take(bytes) {
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
      else if (message.id !== undefined) this.#asked(message);
    }
    this.visit.counts.received += 1;
    this.inbox.push(value);
  }

  /** Whether a message has come before, over this connection or one that it goes on from. */
  #isRepeated(message) {
    if (message.seq === undefined) return false;
    const text = JSON.stringify(message);
    const earlier = this.#numbered.get(message.seq);
    if (earlier !== undefined && earlier !== text) this.fault("another message under a number that came before", `${earlier} then ${text}`);
    this.#numbered.set(message.seq, text);
    return earlier !== undefined;
  }

  /** Goes on from where another connection of the same client ended: what that one was owed may come here. */
  #resume(earlier) {
    this.#spare += earlier.#spare + [...earlier.#owed.values()].reduce((sum, count) => sum + count, 0);
    this.#numbered = earlier.#numbered;
    // What the server has made of changed bytes is answered here.
    if (earlier.isWild) this.isWild = true;
    earlier.#owed.clear();
  }

  /** Looks for who this connection is, in the answer to `session.open` or `session.resume`. */
  #identify({ client, epoch, resumed }) {
    if (typeof client !== "string" || typeof epoch !== "string") return;
    const earlier = this.visit.clients.get(client);
    if (resumed && earlier && earlier !== this) this.#resume(earlier);
    this.visit.clients.set(client, this);
  }

  #asked(request) {
    if (this.#makeAnswer) this.send({ id: request.id, ...this.#makeAnswer() });
    else this.requests.set(keyOf(request.id), request);
  }

  /** Answers what the server has asked, and what it will ask. */
  answerAll(make) {
    this.#makeAnswer = make;
    for (const request of this.requests.values()) this.#asked(request);
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

  /** Goes away, in one of several ways. */
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
