// @ts-check

/** @typedef {import("./frames.js").Frames} Frames */
/** @typedef {"off" | "starting" | "connected" | "lost" | "cut"} EngineState */

/** The Flutter view of the phone: a frame of its own with a connection of its own. */
export class FlutterEngine {
  /** @type {HTMLIFrameElement | null} */
  frame = null;
  /** @type {EngineState} */
  state = "off";

  /**
   * @param {Frames} frames
   * @param {{changed: () => void, moved: () => void, message: import("../shared/observed-socket.js").Observer}} listener
   *   `changed`: its state; `moved`: its pages
   */
  constructor(frames, listener) {
    this.frames = frames;
    this.listener = listener;
  }

  async start() {
    this.frame = await this.frames.make("flutter.html", "Flutter view", { hosts: ["flutter"], frame: "flutter" }, (message) => this.#receive(message));
    this.#become("starting");
  }

  /** Closes its connection, as if the engine had crashed. */
  cut() {
    this.frame?.contentWindow?.postMessage({ demo: "cut" }, location.origin);
  }

  /** @param {import("../shared/frame.js").FrameReport} message */
  #receive(message) {
    switch (message.demo) {
      case "message": return this.listener.message(message.direction, message.text, message.site);
      case "connected": return this.#become("connected");
      case "lost": return this.#become("lost");
      case "closed": this.#become("cut");
    }
    this.listener.moved();
  }

  /** @param {EngineState} state */
  #become(state) {
    this.state = state;
    this.listener.changed();
  }
}
