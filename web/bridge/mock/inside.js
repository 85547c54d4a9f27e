// @ts-check
// The shapes of what a mocked app is made of: this file has no code.

/**
 * @typedef {object} Handlers what it does and shows
 * @property {import("../uri-map.js").URIMap<import("./app.js").MockTaskHandler>} tasks
 * @property {import("../uri-map.js").URIMap<import("./app.js").MockPageHandler>} pages
 *
 * @typedef {object} Connection
 * @property {import("./socket.js").MockSocket} socket
 * @property {import("../peer.js").Peer} peer
 * @property {import("./session.js").MockSession} [session]
 * @property {import("./member.js").MockMember} [member] once it has its session
 */

export {};
