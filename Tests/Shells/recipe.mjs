import { createRequire } from "node:module";

const { WebSocket } = createRequire(import.meta.url)("/usr/share/nodejs/ws");
const { ADDRESS, RECIPE } = process.env;

/** Runs the recipe in a page of this origin. */
export async function start(origin) {
  globalThis.WebSocket = class extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols, { origin });
    }
  };
  globalThis.location = { href: `${origin}/index.html` };
  return import(RECIPE);
}

/** Waits until an array has this number of elements. */
export async function until(list, count) {
  while (list.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  return list[count - 1];
}

/** Another client of a bridge's session. */
export async function client(bridge) {
  const { Bridge } = await import("../../web/bridge/bridge.js");
  const { session, joinToken } = await bridge.ready;
  return new Bridge({ url: `ws://${ADDRESS}/bridge`, join: { session, token: joinToken } });
}

/** A client that joins with the invitation in a URL. */
export async function guest(address) {
  const { Bridge } = await import("../../web/bridge/bridge.js");
  const { invitationIn } = await import("../../web/bridge/session/invitation.js");
  const { url, session, token } = invitationIn(address);
  return new Bridge({ url, join: { session, token } });
}

export const own = `http://${ADDRESS}`;
