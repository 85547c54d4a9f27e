// @ts-check
import { connecting, INFO, newest, turn } from "./fake-socket.js";

/** @typedef {import("../bridge/bridge.js").Bridge} Bridge */
/** @typedef {Partial<import("../bridge/bridge.js").BridgeOptions>} BridgeOptions */

export const RECONNECT = { minDelay: 100, maxDelay: 1000 };

/** The result of a server that can resume. */
export const RESUMABLE = { ...INFO, capabilities: ["resume"] };

/**
 * Responds to the opening request of the most recently created socket with a new session.
 * @param {Bridge} bridge
 * @param {object} [info] properties of the result that differ from the default
 */
export async function openSession(bridge, info) {
  const socket = newest();
  socket.accept();
  await turn();
  const { id } = openingRequestOf(socket);
  socket.receive({ id, result: { ...RESUMABLE, ...info } });
  socket.seq = 0;
  await bridge.ready;
  await turn();
  socket.sent = [];
  return socket;
}

/**
 * Responds to it with the previous session.
 * @param {Bridge} bridge
 * @param {{received: number, sent?: number, pending?: object[], token?: string, restarted?: true}} info `sent`: the number of the server's last sent message
 */
export async function resumeSession(bridge, { received, sent = 0, pending = [], token = "t2", restarted }) {
  const socket = newest();
  socket.accept();
  await turn();
  const openingRequest = openingRequestOf(socket);
  const result = { ...RESUMABLE, resumed: true, restarted, received, sent, pending, token };
  socket.sent = [];
  socket.seq = undefined;
  socket.receive({ id: openingRequest.id, result });
  socket.seq = sent;
  await turn();
  // The client first sends an acknowledgement, which confirms the new token to the server.
  const isAcknowledged = socket.sent[0]?.method === "$/ack";
  if (isAcknowledged) socket.sent.shift();
  return { socket, openingRequest, isAcknowledged };
}

/**
 * A bridge with a session that can be resumed; `sent` begins after `session.open`.
 * @param {BridgeOptions} [options]
 */
export async function resumableBridge(options) {
  const made = connecting({ reconnect: RECONNECT, ...options });
  await openSession(made.bridge);
  return made;
}

/**
 * Returns the sent messages that have a number, without the properties that all messages have.
 * @param {import("./fake-socket.js").FakeSocket} socket
 */
export function numbered(socket) {
  return socket.sent.filter(({ seq }) => seq !== undefined).map(({ jsonrpc, id, ...rest }) => rest);
}

/** @param {import("./fake-socket.js").FakeSocket} socket */
export function acks(socket) {
  return socket.sent.filter(({ method }) => method === "$/ack").map(({ params }) => params.seq);
}

/** @param {Bridge} bridge */
export function stateChanges(bridge) {
  /** @type {any[]} */
  const seen = [];
  bridge.addEventListener("statechange", (event) => seen.push(Reflect.get(event, "detail")));
  return seen;
}

/**
 * Closes the connection and opens another.
 * @param {import("./fake-socket.js").FakeSocket} socket
 * @param {import("./manual-clock.js").ManualClock} clock
 */
export async function cut(socket, clock) {
  socket.end(1006);
  clock.advance(RECONNECT.minDelay);
  const next = newest();
  next.accept();
  await turn();
  return next;
}

/** @param {import("./fake-socket.js").FakeSocket} socket */
function openingRequestOf(socket) {
  const openingRequest = [...socket.sent].reverse().find(({ method }) => method === "session.open" || method === "session.resume");
  if (openingRequest === undefined) throw new Error(`no opening request in ${JSON.stringify(socket.sent)}`);
  return openingRequest;
}
