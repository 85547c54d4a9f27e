// @ts-check
import { delegation } from "../calls/delegation.js";
import { codeOf } from "../codes.js";
import { sendFirst } from "../session/registrations.js";

/** Milliseconds after a reconnect within which the hosts of a reloaded page must be registered. */
const HOST_TIMEOUT = 10000;

/** @typedef {import("./host-registry.js").Declaration} Declaration */
/** @typedef {import("../session/client.js").Client} Client */

/**
 * Replaces the hosts of an earlier load of the page in a resumed session, and compares the pages if they can differ.
 * @param {Client} client
 * @param {Declaration[]} earlier the declarations of the earlier load
 */
export function replaceHosts(client, earlier) {
  const declarations = client.hosts?.declarations ?? [];
  const own = new Set(declarations.map((each) => JSON.stringify(each)));
  sendFirst(client, "host.unregister", { hosts: earlier.filter((each) => !own.has(JSON.stringify(each))) });
  sendFirst(client, "host.register", { hosts: declarations });
  if ([...earlier, ...declarations].some(isOfPages)) syncPages(client);
}

/**
 * Compares the pages after a restart of the server, if the client has any or can have them.
 * @param {Client} client
 */
export function syncAfterRestart(client) {
  const { hosts } = client;
  if (hosts?.declarations.some(isOfPages) || hosts?.pages.isEmpty === false) syncPages(client);
}

/**
 * Compares the shown pages with the server's state.
 * @param {Client} client
 */
function syncPages({ bridge, peer, clock, report, hosts }) {
  if (hosts === undefined) return;
  const request = (/** @type {object} */ params) => peer.request("page.sync", params, { first: true });
  /** @type {unknown} */
  let timer;
  const timeout = new Promise((resolve) => (timer = clock.setTimeout(() => resolve(undefined), HOST_TIMEOUT)));
  const options = { onFailure: (/** @type {unknown} */ cause) => hosts.reportFailure("open", cause), timeout, delegation: delegation(bridge) };
  const synced = hosts.pages.sync(request, options).catch((error) => {
    if (error.kind !== "closed" && error.code !== codeOf.outcomeUnknown) report(error);
  });
  void synced.then(() => clock.clearTimeout(timer));
}

/** @param {Declaration} declaration */
function isOfPages({ kind }) {
  return kind === "page";
}
