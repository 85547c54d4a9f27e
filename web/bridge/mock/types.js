// @ts-check
// The types of a mocked app. This file has no code.

/**
 * @typedef {object} Handlers the handlers of the app
 * @property {import("../uri/uri-map.js").URIMap<import("./app.js").MockTaskHandler>} tasks
 * @property {import("../uri/uri-map.js").URIMap<import("./app.js").MockPageHandler>} pages
 * @property {[string, import("./app.js").MockGate][]} gates
 * @property {[string, import("../types/api.js").InterceptorHandler][]} interceptors
 *
 * @typedef {object} Connection
 * @property {import("./socket.js").MockSocket} socket
 * @property {import("../calls/peer.js").Peer} peer
 * @property {import("./session.js").MockSession} [session]
 * @property {import("./client.js").MockClient} [client] set once the session is open
 */

export {};
