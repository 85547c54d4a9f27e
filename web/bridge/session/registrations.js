// @ts-check
import { codeOf } from "../codes.js";
import { ConnectionClosedError } from "../values/errors.js";

/** How often a registration is sent in one session, if it stays unknown whether a restarted server has received it. */
const MAX_ATTEMPTS = 5;

/** @typedef {Pick<import("./client.js").Client, "peer" | "connection" | "ready" | "report">} RegisteringClient */

/**
 * Sends a registration of topics or hosts in a session that has just been opened, before any other message.
 * @param {RegisteringClient} client
 * @param {string} method
 * @param {Record<string, unknown[]>} params nothing is sent if the array is empty
 */
export function sendFirst(client, method, params) {
  if (Object.values(params)[0].length === 0) return;
  request(client, method, params, { first: true }).catch((error) => {
    if (!isLost(error)) reportRejection(client, error);
  });
}

/**
 * Changes the registrations on the server. If the connection closes meanwhile, the next session is opened with the change.
 * @param {RegisteringClient} client
 * @param {string} method
 * @param {object} params
 * @param {() => void} [settled] called before the next session opens
 */
export async function sendRegistration(client, method, params, settled) {
  try {
    await request(client, method, params);
    settled?.();
  } catch (error) {
    if (!isLost(error)) throw error;
    settled?.();
    await client.ready;
  }
}

/**
 * Returns the function that removes a registration, with the promise of its registration.
 * @param {RegisteringClient} client
 * @param {Promise<unknown> | undefined} sent the request; `undefined`: the registration is part of `session.open`
 * @param {() => void} remove removes the registration in this client
 * @param {() => Promise<void>} undo removes the registration in this client and on the server; called once
 * @returns {import("../types/api.js").Unregister}
 */
export function register(client, sent, remove, undo) {
  const registered = (sent ?? client.ready).then(() => {}, (error) => {
    remove();
    reportRejection(client, error);
    throw error;
  });
  // A caller that does not await it learns of the failure from the `error` event.
  registered.catch(() => {});
  /** @type {Promise<void> | undefined} */
  let undone;
  return Object.assign(() => (undone ??= registered.then(undo)), { registered });
}

/**
 * @param {RegisteringClient} client
 * @param {import("../values/errors.js").BridgeError} error an error that was not caused by a closed connection
 */
function reportRejection({ connection, report }, error) {
  if (connection.state !== "closed") report(error);
}

/**
 * Sends the request. If its outcome is unknown and the session continues, it is sent again, because registering twice has no further effect.
 * @param {RegisteringClient} client
 * @param {string} method
 * @param {object} params
 * @param {{first: boolean}} [options]
 */
async function request(client, method, params, options) {
  const { ready } = client;
  for (let left = MAX_ATTEMPTS; ; left -= 1) {
    try {
      return await client.peer.request(method, params, options);
    } catch (/** @type {any} */ error) {
      const isOpen = isLost(error) && !(error instanceof ConnectionClosedError);
      if (!isOpen || ready !== client.ready || left === 1) throw error;
    }
  }
}

/**
 * Whether the session failed, not the request.
 * @param {any} error
 */
function isLost(error) {
  return error instanceof ConnectionClosedError || error.code === codeOf.outcomeUnknown;
}
