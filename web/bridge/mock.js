// @ts-check
import { Bridge } from "./bridge.js";
import { invitationIn } from "./invitation.js";
import { MockApp } from "./mock/app.js";

/** @typedef {import("./types.js").BridgeOptions} BridgeOptions */

export * from "./bridge.js";

/**
 * A `Bridge` to an app that is mocked.
 * @template [Routes=any]
 * @extends {Bridge<Routes>}
 */
export class MockBridge extends Bridge {
  /** What the test sees of the app, and does in its place. */
  app;

  /**
   * @param {MockApp<Routes>} app
   * @param {Partial<BridgeOptions>} options
   */
  constructor(app, options) {
    super({ keep: "connection", ping: false, ...options, url: "ws://mock.invalid/bridge", WebSocket: app.WebSocket });
    this.app = app;
  }

  /**
   * The bridge of a page that this one has invited.
   * @param {string} address as `invite` gave it
   * @param {Partial<BridgeOptions>} [options]
   */
  guest(address, options = {}) {
    const { url, ...join } = invitationIn(address);
    return new Bridge({ keep: "connection", ping: false, ...options, url, join, WebSocket: this.app.WebSocket });
  }
}

/**
 * A bridge for tests, without a server: the interface is that of `Bridge`, the messages and their order are those of a
 * connection, and what the app does is given as functions. The app has one stack without modal pages and tabs, and neither
 * policy, interceptors nor a route table. Its session ends with this bridge; pages that were invited to it are `guest`s.
 *
 * With the `Routes` of a generated file as its type argument, `mockBridge<Routes>(…)`, it is a `Bridge<Routes>`, and the app's functions are held to them.
 * @type {{
 *   (routes?: import("./mock/app.js").MockRoutes, options?: Partial<BridgeOptions>): MockBridge,
 *   <Routes>(routes?: import("./mock/app.js").MockRoutes<Routes>, options?: Partial<BridgeOptions>): MockBridge<Routes>,
 * }} `routes`: what the app does and shows; `options`: of the bridge, such as what it hosts itself
 */
export const mockBridge = (/** @type {any} */ routes = {}, /** @type {Partial<BridgeOptions>} */ options = {}) => new MockBridge(new MockApp(routes), options);
