// @ts-check
import { sendFirst } from "../session/registrations.js";

/** @typedef {import("./host-registry.js").Declaration} Declaration */

/**
 * Replaces the hosts of an earlier load of the page in a resumed session, and compares the pages if they can differ.
 * @param {import("../session/client.js").Client} client
 * @param {Declaration[]} earlier the declarations of the earlier load
 */
export function replaceHosts(client, earlier) {
  const declarations = client.hosts?.declarations ?? [];
  const own = new Set(declarations.map((each) => JSON.stringify(each)));
  sendFirst(client, "host.unregister", { hosts: earlier.filter((each) => !own.has(JSON.stringify(each))) });
  sendFirst(client, "host.register", { hosts: declarations });
  if ([...earlier, ...declarations].some(isOfPages)) void client.hosts?.pages.sync();
}

/**
 * Compares the pages after a restart of the server, if the client has any or can have them.
 * @param {Pick<import("../session/client.js").Client, "hosts">} client
 */
export function syncAfterRestart({ hosts }) {
  if (hosts?.declarations.some(isOfPages) || hosts?.pages.isEmpty === false) void hosts.pages.sync();
}

/** @param {Declaration} declaration */
function isOfPages({ kind }) {
  return kind === "page";
}
