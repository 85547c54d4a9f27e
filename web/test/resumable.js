// @ts-check
import { connecting, INFO, newest, turn } from "./fake-socket.js";

/** @typedef {import("../bridge/bridge.js").Bridge} Bridge */
/** @typedef {Partial<import("../bridge/bridge.js").BridgeOptions>} BridgeOptions */

export const RECONNECT = { minDelay: 100, maxDelay: 1000 };

/** What a server answers that can resume. */
export const RESUMABLE = { ...INFO, capabilities: ["resume"] };

/**
 * Answers the greeting of the socket that was made last: with a new session.
 * @param {Bridge} bridge
 * @param {object} [info] what the server says otherwise
 */
export async function begun(bridge, info) {
  const socket = newest();
  socket.accept();
  await turn();
  const { id } = greetingOf(socket);
  socket.receive({ id, result: { ...RESUMABLE, ...info } });
  socket.seq = 0;
  await bridge.ready;
  await turn();
  socket.sent = [];
  return socket;
}

/**
 * Answers it with the session that there was.
 * @param {Bridge} bridge
 * @param {{received: number, sent?: number, pending?: object[], token?: string, restarted?: true}} info `sent`: what the server had sent
 */
export async function goesOn(bridge, { received, sent = 0, pending = [], token = "t2", restarted }) {
  const socket = newest();
  socket.accept();
  await turn();
  const greeting = greetingOf(socket);
  const result = { ...RESUMABLE, resumed: true, restarted, received, sent, pending, token };
  socket.sent = [];
  socket.seq = undefined;
  socket.receive({ id: greeting.id, result });
  socket.seq = sent;
  await turn();
  // First of all the server is told that the new token has come.
  const isAcknowledged = socket.sent[0]?.method === "$/ack";
  if (isAcknowledged) socket.sent.shift();
  return { socket, greeting, isAcknowledged };
}

/**
 * A bridge with a session that can be resumed; `sent` begins after `session.open`.
 * @param {BridgeOptions} [options]
 */
export async function resumable(options) {
  const made = connecting({ reconnect: RECONNECT, ...options });
  await begun(made.bridge);
  return made;
}

/**
 * What was sent that has a number, without what all messages have.
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
export function changes(bridge) {
  /** @type {any[]} */
  const seen = [];
  bridge.addEventListener("statechange", (event) => seen.push(Reflect.get(event, "detail")));
  return seen;
}

/**
 * The connection is lost, and another has come.
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
function greetingOf(socket) {
  const greeting = [...socket.sent].reverse().find(({ method }) => method === "session.open" || method === "session.resume");
  if (greeting === undefined) throw new Error(`no greeting in ${JSON.stringify(socket.sent)}`);
  return greeting;
}
