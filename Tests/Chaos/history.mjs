import { closeSync, openSync, writeSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";

/** How many numbered messages are told of in one line. */
const RUN = 64;
/** How many bytes are written at once. */
const PAGE = 1 << 16;

/** Nanoseconds of the machine's monotonic clock, which is the servers' too. */
export const now = () => Number(process.hrtime.bigint());

/** What one member of a session saw, a line for each event, as `Tests/Chaos/histories --help` has them. */
export class History {
  #file;
  #text = "";
  #asks = 0;
  #connections = 0;

  constructor(folder, name) {
    this.#file = openSync(join(folder, `${name}.jsonl`), "w");
  }

  tell(event, members) {
    this.#text += `${JSON.stringify({ event, ...members })}\n`;
    if (this.#text.length >= PAGE) this.flush();
  }

  /** A call is asked for; gives the number of that. */
  ask(members) {
    this.#asks += 1;
    this.tell("ask", { ask: this.#asks, ...members, at: now() });
    return this.#asks;
  }

  /** What hears the messages of one connection. */
  connection() {
    this.#connections += 1;
    return new Heard(this, this.#connections);
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

/** The numbered messages that come over one connection. */
class Heard {
  #history;
  #number;
  #whose;
  #first = 0;
  #digests = "";

  constructor(history, number) {
    this.#history = history;
    this.#number = number;
    this.tell("connect");
  }

  /** What has become of the connection; `members`: more of it. */
  tell(what, members) {
    this.#history.tell("told", { what, connection: this.#number, at: now(), ...members });
  }

  message(text) {
    const { seq, result } = JSON.parse(text);
    if (this.#whose === undefined && typeof result?.epoch === "string") return this.#greeted(result);
    if (this.#whose === undefined || !Number.isInteger(seq)) return;
    if (seq !== this.#first + this.#digests.length / 4) this.flush();
    if (this.#digests === "") this.#first = seq;
    this.#digests += createHash("sha1").update(text).digest("hex").slice(0, 4);
    if (this.#digests.length >= RUN * 4) this.flush();
  }

  /** To be called when the connection is closed. */
  flush() {
    if (this.#digests !== "") this.#history.tell("heard", { ...this.#whose, first: this.#first, digests: this.#digests });
    this.#digests = "";
  }

  #greeted({ client, epoch, session, server, resumed, restarted, sent }) {
    this.#whose = { client, epoch };
    this.tell("open", { session, client, server: server?.id, resumed, restarted });
    if (resumed) this.#history.tell("resumed", { ...this.#whose, sent });
  }
}

/** A kind of WebSocket whose messages a history has, as far as they come while it is open. */
export function heardSocket(WebSocket, history) {
  return class extends WebSocket {
    constructor(...how) {
      super(...how);
      const heard = history.connection();
      // What comes after it was closed from here is not taken any more.
      this.on("message", (text) => this.readyState === WebSocket.OPEN && heard.message(text));
      // The port by which the proxy knows it.
      this.on("upgrade", ({ socket }) => heard.tell("connected", { port: socket.localPort }));
      this.on("close", (code, reason) => {
        heard.flush();
        heard.tell("close", { code, reason: String(reason) });
      });
    }
  };
}

/** Asks who owns the session of a member, whichever that is by then, and writes down what it is told. */
export async function askOwner(bridge, history) {
  const { session } = await bridge.ready;
  const asked = now();
  const { server, term, at } = await bridge.request("conformance.owner");
  const came = now();
  if ((await bridge.ready).session === session) history.tell("owner", { session, asked, came, server, term, at });
}
