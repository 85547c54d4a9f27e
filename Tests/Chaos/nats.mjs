import { connect } from "node:net";

/** Milliseconds within which a response has to arrive. */
const TIMEOUT = 2000;

/**
 * A connection to an engine. The protocol: https://docs.nats.io/reference/reference-protocols/nats-protocol. It does not receive its
 * own messages.
 */
export class EngineConnection {
  #socket;
  #received = Buffer.alloc(0);
  #closed;

  /**
   * `received` is called with the subject and the content of each message, undefined if it has no content but a status; `closed`
   * with the reason when the connection has ended.
   */
  constructor({ host, port }, received, closed = () => {}) {
    this.#closed = closed;
    this.#socket = connect({ host, port });
    this.#socket.on("error", (error) => this.#close(error));
    this.#socket.on("close", () => this.#close(new Error(`${host}:${port} has closed the connection`)));
    this.#socket.on("data", (chunk) => this.#receive(chunk, received));
    const options = { verbose: false, pedantic: false, lang: "chaos", version: "1", protocol: 1, echo: false, headers: true, no_responders: true };
    this.#socket.write(`CONNECT ${JSON.stringify(options)}\r\n`);
  }

  subscribe(subject) {
    this.#socket.write(`SUB ${subject} 1\r\n`);
  }

  /** Publishes a buffer or text; `inbox`: the subject for a response. */
  publish(subject, content, inbox = "") {
    this.#socket.write(`PUB ${subject} ${inbox} ${Buffer.byteLength(content)}\r\n`);
    this.#socket.write(content);
    this.#socket.write("\r\n");
  }

  close() {
    this.#close();
  }

  #close(reason) {
    const closed = this.#closed;
    this.#closed = () => {};
    this.#socket.destroy();
    closed(reason);
  }

  #receive(chunk, received) {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (let at; (at = this.#received.indexOf("\r\n")) >= 0; ) {
      const [operation, ...words] = this.#received.toString("latin1", 0, at).split(" ");
      const size = operation === "MSG" || operation === "HMSG" ? Number(words.at(-1)) : -2;
      if (this.#received.length < at + 4 + size) return;
      const content = this.#received.subarray(at + 2, at + 2 + size);
      this.#received = this.#received.subarray(at + 4 + size);
      if (operation === "PING") this.#socket.write("PONG\r\n");
      else if (operation === "-ERR") return this.#close(new Error(words.join(" ")));
      else if (size >= 0) received(words[0], operation === "MSG" ? content : undefined);
    }
  }
}

/**
 * Sends a request to JetStream's API over a connection of its own, and returns the response, even if it is an error. Throws without
 * a response.
 */
export function requestEngine({ host, port }, subject, body = {}) {
  const inbox = `_INBOX.chaos.${process.pid}`;
  return new Promise((resolve, reject) => {
    const respond = (_subject, content) => {
      if (content === undefined) reject(new Error(`${host}:${port} has no JetStream just now`));
      else resolve(JSON.parse(content.toString()));
      connection.close();
    };
    const connection = new EngineConnection({ host, port }, respond, (error) => (clearTimeout(clock), reject(error)));
    const clock = setTimeout(() => (reject(new Error(`${host}:${port} does not answer ${subject}`)), connection.close()), TIMEOUT);
    connection.subscribe(inbox);
    connection.publish(subject, JSON.stringify(body), inbox);
  });
}

/** Describes why not all replicas of all streams are present and up to date, as one engine sees it; empty if they are. */
export async function replicaBehind(place) {
  const { streams, error } = await requestEngine(place, "$JS.API.STREAM.NAMES");
  if (error) return `the engine says ${error.description}`;
  for (const name of streams ?? []) {
    const { cluster, error } = await requestEngine(place, `$JS.API.STREAM.INFO.${name}`);
    if (error) return `${name}: the engine says ${error.description}`;
    if (cluster?.replicas === undefined) continue;
    if (!cluster.leader) return `${name} has no leader`;
    const late = cluster.replicas.find(({ current, offline }) => !current || offline);
    if (late) return `${name}: ${late.name} is behind`;
  }
  return "";
}

/** Describes the content of the stream of sessions; empty if it has none. */
export async function leftInStream(place) {
  const { state, error } = await requestEngine(place, "$JS.API.STREAM.INFO.waybridge-sessions", { subjects_filter: ">" });
  if (error) return `the engine says ${error.description}`;
  if (state.messages === 0) return "";
  return `${state.messages} messages of ${state.num_subjects} sessions: ${Object.keys(state.subjects ?? {}).slice(0, 5).join(", ")}`;
}
