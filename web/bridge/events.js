// @ts-check
import { News } from "./news.js";

/**
 * The part of a client that hears what is published, that its token is about to expire, in place of which it shows a new one, and that the
 * server has another route table.
 * @param {any} client
 * @param {import("./types.js").BridgeOptions} options
 */
export function events(client, options) {
  return new News(client, options);
}
