import { connect } from "node:net";

/** Milliseconds within which a response has to arrive. */
const TIMEOUT = 2000;

/**
 * Sends a request to JetStream's API over a connection of its own, and returns the response, even if it is an error. Throws without
 * a response. The protocol: https://docs.nats.io/reference/reference-protocols/nats-protocol.
 */
export function requestEngine({ host, port }, subject, body = {}) {
  const text = JSON.stringify(body);
  const inbox = `_INBOX.chaos.${process.pid}`;
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const end = (settle, value) => {
      socket.destroy();
      clearTimeout(clock);
      settle(value);
    };
    const clock = setTimeout(() => end(reject, new Error(`${host}:${port} does not answer ${subject}`)), TIMEOUT);
    let received = Buffer.alloc(0);
    socket.on("error", (error) => end(reject, error));
    socket.on("connect", () => {
      socket.write('CONNECT {"verbose":false,"pedantic":false,"lang":"chaos","version":"1","protocol":1,"headers":true,"no_responders":true}\r\n');
      socket.write(`SUB ${inbox} 1\r\nPUB ${subject} ${inbox} ${Buffer.byteLength(text)}\r\n${text}\r\n`);
    });
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (let at; (at = received.indexOf("\r\n")) >= 0; ) {
        const [operation, ...words] = received.toString("latin1", 0, at).split(" ");
        const size = operation === "MSG" || operation === "HMSG" ? Number(words.at(-1)) : -2;
        if (received.length < at + 4 + size) return;
        if (operation === "PING") socket.write("PONG\r\n");
        else if (operation === "-ERR") return end(reject, new Error(words.join(" ")));
        else if (operation === "HMSG") return end(reject, new Error(`${host}:${port} has no JetStream just now`));
        else if (operation === "MSG") return end(resolve, JSON.parse(received.toString("utf8", at + 2, at + 2 + size)));
        received = received.subarray(at + 4 + size);
      }
    });
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
