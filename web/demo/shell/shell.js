// @ts-check
import { Bridge } from "../../bridge/bridge.js";
import { explain } from "../shared/result.js";
import { tapped } from "../shared/tap.js";
import { draws, nativePage } from "../native/pages.js";
import { BackHistory } from "./back-history.js";
import { FlutterEngine } from "./flutter-engine.js";
import { Frames } from "./frames.js";
import { Screen } from "./screen.js";
import { layers } from "./stack.js";
import { surface } from "./surface.js";
import { Tabs } from "./tabs.js";
import { handOff } from "./third-party.js";

/** @typedef {import("../../bridge/bridge.js").Page} Page */
/** @typedef {import("../../bridge/types.js").Stack} Stack */
/** @typedef {import("./stack.js").Layer} Layer */

/**
 * What the shell tells the panels beside the phone.
 * @typedef {object} Listener
 * @property {(stack: Stack) => void} stack
 * @property {(who: "shell" | "web" | "flutter", direction: "in" | "out", text: string) => void} message
 * @property {(state: import("./flutter-engine.js").EngineState) => void} flutter
 * @property {(text: string) => void} toast
 * @property {(change: import("../../bridge/bridge.js").StateChange) => void} connection
 */

/**
 * The app's native shell: hosts `native` and `http` pages, the task `action://toast` and the apps of others (`tp`), and draws
 * what is on the stack.
 */
export class Shell {
  #frames;
  #tabs = new Tabs((tab) => this.#press(tab));
  /** @type {Layer[]} */
  #layers = [];
  /** @type {number | null | undefined} the tab that is shown */
  #tab;
  /** @type {Record<string, any>[]} what the table declares */
  #routes = [];
  /** @type {import("../../bridge/bridge.js").Unregister | undefined} */
  #native;
  /** @type {string | undefined} the session that was begun last */
  #begun;
  #refreshing = false;

  /**
   * @param {HTMLElement} screen
   * @param {Listener} listener
   */
  constructor(screen, listener) {
    this.listener = listener;
    this.screen = new Screen(screen, this.#tabs.bar);
    screen.append(this.#tabs.vacant);
    this.bridge = new Bridge({
      client: { name: "demo-shell", version: "1.0" },
      WebSocket: tapped((direction, text) => listener.message("shell", direction, text)),
    });
    this.#frames = new Frames(this.bridge);
    this.history = new BackHistory((count) => this.attempt(this.bridge.back({ count })));
    this.engine = new FlutterEngine(this.#frames, {
      changed: () => {
        listener.flutter(this.engine.state);
        // A tab that went with the engine comes back with it.
        if (this.engine.state === "connected" && !this.#tabs.vacant.hidden) this.#press(this.#tab ?? 0);
      },
      moved: () => this.refresh(),
      message: (direction, text) => listener.message("flutter", direction, text),
    });
    this.bridge.addEventListener("statechange", (event) => {
      const change = /** @type {CustomEvent} */ (event).detail;
      listener.connection(change);
      if (change.state === "open") this.#begin();
    });
    this.bridge.host("http", this.#host);
    this.bridge.task("action://toast", ({ text }) => listener.toast(String(text)));
    // A guest shows no tab: that is the shell's to do.
    this.bridge.task("action://tab/:index", ({ index }) => this.bridge.selectTab(Number(index)));
    this.bridge.task("tp://:app", (params, { signal }) => handOff(this.bridge, params, signal));
  }

  get #host() {
    return {
      open: (/** @type {Page} */ page, /** @type {{restored?: true}} */ { restored }) => this.#open(page, restored === true),
      close: (/** @type {Page} */ page) => this.#close(page),
      resume: () => this.refresh(),
    };
  }

  /**
   * Starts the app: the Flutter engine, the native pages and the first tab. In a session that goes on after a reload the pages are
   * there already, and come again as soon as somebody hosts them; one that goes on after a lost connection has them all.
   */
  async #begin() {
    const session = this.bridge.session?.session;
    if (session === this.#begun) return this.refresh();
    this.#begun = session;
    this.attempt(this.startFlutter());
    try {
      this.#routes = await this.bridge.routes();
      await this.#native?.();
      // Only the pages that this shell can draw: what else the scheme has, or will have, is the router's to answer.
      const patterns = this.#routes.filter(({ name }) => draws(name)).flatMap((route) => route.patterns);
      this.#native = this.bridge.host("native", { ...this.#host, patterns });
      const { selected } = await this.bridge.stack();
      if (typeof selected !== "number") await this.bridge.selectTab(0);
    } catch (error) {
      this.#tell(error);
    }
    this.refresh();
  }

  async startFlutter() {
    await this.engine.start();
    this.screen.flutter = this.engine.frame;
  }

  /** Whether the page on top is a sheet. */
  get showsSheet() {
    return (this.#layers[this.#layers.length - 1]?.level ?? 0) > 0;
  }

  /**
   * Goes back from a page. Naming the page makes a second press harmless.
   * @param {string} [page]
   */
  back(page = this.#layers[this.#layers.length - 1]?.page.id) {
    if (page && this.#layers.length > 1) this.attempt(this.bridge.back({ before: page }));
  }

  /**
   * Shows a tab; of the one that is shown already, its first page.
   * @param {number} tab
   */
  #press(tab) {
    const isShown = tab === this.#tab && this.#layers.length > 0;
    this.attempt(isShown ? this.bridge.back({ root: true }) : this.bridge.selectTab(tab));
  }

  /**
   * Draws the stack anew, soon: once for all that comes together, and after our own answer to what came, since the server
   * changes the stack when it has that answer.
   */
  refresh() {
    if (this.#refreshing) return;
    this.#refreshing = true;
    setTimeout(() => {
      this.#refreshing = false;
      this.#draw();
    }, 0);
  }

  /** The server's stack is the only truth: it alone knows the pages of every host. */
  async #draw() {
    if (this.bridge.state !== "open") return;
    try {
      const stack = await this.bridge.stack();
      this.#layers = layers(stack.pages);
      this.#tab = stack.selected;
      this.screen.show(this.#layers, this.#tab);
      this.#tabs.show(stack, this.#routes, this.showsSheet);
      this.history.follow(this.#layers.length - 1);
      this.listener.stack(stack);
    } catch (error) {
      this.#tell(error);
    }
  }

  /** @param {unknown} error of a call that failed; that all fail when the connection ends is told by the connection's state */
  #tell(error) {
    if (this.bridge.state === "open") this.listener.toast(explain(error));
  }

  /**
   * @param {Page} page
   * @param {boolean} restored
   */
  async #open(page, restored) {
    this.screen.add(page.id, /^https?:/.test(page.uri) ? await this.#webPage(page) : nativePage(page, this, restored));
    this.refresh();
  }

  /** @param {Page} page */
  #close(page) {
    this.screen.remove(page.id);
    this.refresh();
  }

  /**
   * A web page in a frame. Only this app's own pages are invited.
   * @param {Page} page
   */
  async #webPage(page) {
    const { origin } = new URL(page.uri);
    if (origin !== location.origin) {
      throw Object.assign(new Error(`This app shows no pages of ${origin}`), { code: 1403 });
    }
    const title = typeof page.params.title === "string" ? page.params.title : "Web page";
    const frame = await this.#frames.make(page.uri, title, { page: page.id }, (message) => {
      if (message.demo === "message") this.listener.message("web", message.direction, message.text);
    });
    return surface(page, { title, back: () => this.back(page.id) }, frame);
  }

  /** @param {Promise<unknown>} call a call that nobody waits for: only its failure is told */
  attempt(call) {
    call.catch((error) => this.#tell(error)).finally(() => this.refresh());
  }
}
