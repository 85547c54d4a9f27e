// @ts-check
import { Bridge } from "./bridge.js";
import { invitationIn } from "./session/invitation.js";
import { MockApp } from "./mock/app.js";

/** @typedef {import("./types/api.js").BridgeOptions} BridgeOptions */

export * from "./bridge.js";

/**
 * A `Bridge` to a mocked app.
 * @template [Routes=any]
 * @extends {Bridge<Routes>}
 */
export class MockBridge extends Bridge {
  /** The mocked app, as the test sees and controls it. */
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
   * Creates the bridge of a page that this one has invited.
   * @param {string} address the URL that `invite` returned
   * @param {Partial<BridgeOptions>} [options]
   */
  guest(address, options = {}) {
    const { url, ...join } = invitationIn(address);
    return new Bridge({ keep: "connection", ping: false, ...options, url, join, WebSocket: this.app.WebSocket });
  }
}

/**
 * A bridge for tests without a server. It has the interface of `Bridge`, sends the same messages in the same order as on a connection, and gets
 * the app's behaviour as functions. The app has one stack without modal pages and tabs, and no policy or route table. Its session
 * ends with this bridge. Pages that were invited to it are its `guest`s.
 *
 * With the `Routes` of a generated file as its type argument, `mockBridge<Routes>(…)`, it is a `Bridge<Routes>`, and the functions of the app are checked against them.
 * @type {{
 *   (routes?: import("./mock/app.js").MockRoutes, options?: Partial<BridgeOptions>): MockBridge,
 *   <Routes>(routes?: import("./mock/app.js").MockRoutes<Routes>, options?: Partial<BridgeOptions>): MockBridge<Routes>,
 * }} `routes`: the tasks and pages of the app; `options`: those of the bridge, for example its own hosts
 */
export const mockBridge = (/** @type {any} */ routes = {}, /** @type {Partial<BridgeOptions>} */ options = {}) => new MockBridge(new MockApp(routes), options);
