// @ts-check
import { News } from "./news.js";

/**
 * The part of a client that hears what is published, that its token is about to expire, in place of which it shows a new one, and that the
 * server has another route table.
 * @type {import("./types.js").EventsPart}
 */
export const events = (client, options) => new News(client, options);
