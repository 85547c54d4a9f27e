// @ts-check
import { Subscriptions } from "./events/subscriptions.js";

/**
 * The part of a client that receives published events, replaces a token before it expires, and reports when the server has another route
 * table.
 * @type {import("./types/api.js").EventsPart}
 */
export const events = (client, options) => new Subscriptions(client, options);
