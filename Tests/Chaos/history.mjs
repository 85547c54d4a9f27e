import { closeSync, openSync, writeSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";

/** Number of numbered messages that are recorded in one line. */
const RUN = 64;
/** Number of bytes that are written at once. */
const PAGE = 1 << 16;

/** Nanoseconds of the machine's monotonic clock, which the servers use too. */
export const now = () => Number(process.hrtime.bigint());

/** Records what one client of a session observed, one line per event, as `Tests/Chaos/histories --help` describes them. */
export class History {
  #file;
  #text = "";
  #calls = 0;
  #connections = 0;

  constructor(folder, name) {
    this.#file = openSync(join(folder, `${name}.jsonl`), "w");
  }

  record(event, members) {
    this.#text += `${JSON.stringify({ event, ...members })}\n`;
    if (this.#text.length >= PAGE) this.flush();
  }

  /** Records a call; returns its number. */
  recordCall(members) {
    this.#calls += 1;
    this.record("ask", { ask: this.#calls, ...members, at: now() });
    return this.#calls;
  }

  /** Returns the recorder of one connection. */
  connection() {
    this.#connections += 1;
    return new SocketRecorder(this, this.#connections);
  }

  flush() {
    writeSync(this.#file, this.#text);
    this.#text = "";
  }

  close() {
    this.flush();
    closeSync(this.#file);
  }
}

/** Records the numbered messages of one connection. */
class SocketRecorder {
  #history;
  #number;
  #client;
  #first = 0;
  #digests = "";

  constructor(history, number) {
    this.#history = history;
    this.#number = number;
    this.record("connect");
  }

  /** Records an event of the connection; `members`: its further properties. */
  record(what, members) {
    this.#history.record("told", { what, connection: this.#number, at: now(), ...members });
  }

  receive(text) {
    const { seq, result } = JSON.parse(text);
    if (this.#client === undefined && typeof result?.epoch === "string") return this.#sessionOpened(result);
    if (this.#client === undefined || !Number.isInteger(seq)) return;
    if (seq !== this.#first + this.#digests.length / 4) this.flush();
    if (this.#digests === "") this.#first = seq;
    this.#digests += createHash("sha1").update(text).digest("hex").slice(0, 4);
    if (this.#digests.length >= RUN * 4) this.flush();
  }

  /** To be called when the connection is closed. */
  flush() {
    if (this.#digests !== "") this.#history.record("heard", { ...this.#client, first: this.#first, digests: this.#digests });
    this.#digests = "";
  }

  #sessionOpened({ client, epoch, session, server, resumed, restarted, sent }) {
    this.#client = { client, epoch };
    this.record("open", { session, client, server: server?.id, resumed, restarted });
    if (resumed) this.#history.record("resumed", { ...this.#client, sent });
  }
}

/** Returns a WebSocket class whose messages are recorded, as long as it is open. */
export function recordedSocket(WebSocket, history) {
  return class extends WebSocket {
    constructor(...how) {
      super(...how);
      const recorder = history.connection();
      // Messages that arrive after the client closed it are ignored.
      this.on("message", (text) => this.readyState === WebSocket.OPEN && recorder.receive(text));
      // The port by which the proxy identifies it.
      this.on("upgrade", ({ socket }) => recorder.record("connected", { port: socket.localPort }));
      this.on("close", (code, reason) => {
        recorder.flush();
        recorder.record("close", { code, reason: String(reason) });
      });
    }
  };
}

/** Requests the owner of a client's session, whichever server that is by then, and records the response. */
export async function recordOwner(bridge, history) {
  const { session } = await bridge.ready;
  const requestedAt = now();
  const { server, term, at } = await bridge.request("conformance.owner");
  const receivedAt = now();
  if ((await bridge.ready).session === session) history.record("owner", { session, asked: requestedAt, came: receivedAt, server, term, at });
}
