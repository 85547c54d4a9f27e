// @ts-check
import { Bridge } from "../../bridge/bridge.min.js";
import { explain } from "../shared/result.js";
import { sample } from "../shared/sample.js";
import { observedSocket } from "../shared/observed-socket.js";
import { nativePage } from "../native/pages.js";
import { BackHistory } from "./back-history.js";
import { deepLink } from "./deep-link.js";
import { FlutterEngine } from "./flutter-engine.js";
import { Frames } from "./frames.js";
import { Screen } from "./screen.js";
import { layers } from "./stack.js";
import { surface } from "./surface.js";
import { Tabs } from "./tabs.js";
import { handOff } from "./third-party.js";
import { addressOf, sitePatterns } from "./web-pages.js";

/** @typedef {import("../../bridge/bridge.js").Page} Page */
/** @typedef {import("../native/pages.js").Drawn} Drawn */
/** @typedef {import("../shared/sample.js").Route} Route */
/** @typedef {import("../../bridge/types/api.js").Stack} Stack */
/** @typedef {import("./stack.js").Layer} Layer */

/**
 * Receives the changes of the shell for the panels beside the phone.
 * @typedef {object} Listener
 * @property {(stack: Stack) => void} stack
 * @property {(who: "shell" | "web" | "flutter", direction: "in" | "out", text: string, more: {site?: import("../shared/observed-socket.js").Site, page?: string}) => void} message
 *   with the line that sent it, and the page that its client runs in
 * @property {(state: import("./flutter-engine.js").EngineState) => void} flutter
 * @property {(text: string) => void} toast
 * @property {(change: import("../../bridge/bridge.js").StateChange) => void} connection
 * @property {() => void} started the first tab is shown
 */

/**
 * The app's native shell: hosts `native`, `http`, `https` and `mini` pages, tasks of the phone and the apps of others (`tp`), and
 * draws what is on the stack.
 */
export class Shell {
  #frames;
  #tabs = new Tabs((tab) => this.#press(tab));
  /** @type {Layer[]} */
  #layers = [];
  /** @type {number | null | undefined} the selected tab */
  #tab;
  /** @type {Route[]} what the table declares */
  routes = [];
  /** @type {Map<string, Drawn>} the native pages that are open, by page id */
  #open = new Map();
  /** @type {Record<string, import("../../bridge/types/api.js").MethodHandler>} what may be called of pages, by all the names that the table has */
  #methods = {};
  #isHosting = false;
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
      // The policy of the demo allows only the workbench to update the table.
      token: "workbench",
      methods: { "admin.records": () => null },
      WebSocket: observedSocket((direction, text, site) => listener.message("shell", direction, text, { site })),
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
      message: (direction, text, site) => listener.message("flutter", direction, text, { site }),
    });
    this.bridge.addEventListener("statechange", (event) => {
      const change = /** @type {CustomEvent} */ (event).detail;
      listener.connection(change);
      if (change.state === "open") this.#begin();
    });
    addEventListener("hashchange", () => this.#follow());
    this.bridge.host("http", this.#host);
    this.bridge.task("action://toast", ({ text }) => listener.toast(String(text)));
    // A guest shows no tab: that is the shell's to do.
    this.bridge.task("action://tab/:index", ({ index }) => this.bridge.selectTab(Number(index)));
    this.bridge.task("tp://:app", (params, { signal }) => handOff(this.bridge, params, signal));
    this.bridge.task("tp://maps/directions", ({ i }, { signal }) => handOff(this.bridge, { app: "maps", i }, signal));
    this.bridge.task("action://location", () => ({ latitude: 60.39, longitude: 5.32 }));
    this.bridge.task("action://track", ({ event }) => listener.toast(`Counted: ${event}`));
  }

  get #host() {
    return {
      open: (/** @type {Page} */ page, /** @type {{restored?: true}} */ { restored }) => this.#show(page, restored === true),
      close: (/** @type {Page} */ page) => this.#close(page),
      resume: () => this.refresh(),
      methods: this.#methods,
    };
  }

  /**
   * Starts the app: the Flutter engine, the native pages and the first tab. In a session that continues after a reload the server has
   * the pages, and sends them again to their hosts. After a lost connection the shell still has them all.
   */
  async #begin() {
    const session = this.bridge.session?.session;
    if (session === this.#begun) return this.refresh();
    this.#begun = session;
    this.attempt(this.startFlutter());
    try {
      await this.learn();
      this.#hostPages();
      const { selected } = await this.bridge.stack();
      if (typeof selected !== "number") await this.bridge.selectTab(0);
      this.listener.started();
      this.#follow();
    } catch (error) {
      this.#reportError(error);
    }
    this.refresh();
  }

  /** Hosts what is drawn by what the table says, once that is known. The schemes are closed: what the table lacks is the router's to answer. */
  #hostPages() {
    if (this.#isHosting) return;
    this.#isHosting = true;
    this.bridge.host("native", this.#host);
    this.bridge.host("mini", this.#host);
    this.bridge.host("https", { ...this.#host, patterns: sitePatterns });
  }

  /** Delivers what the address of the document asks for, once. */
  #follow() {
    const link = deepLink(location.hash, this.routes);
    if (!link) return;
    history.replaceState(history.state, "", location.pathname + location.search);
    this.attempt(this.bridge.deliver(link.uri, link.params));
  }

  /** Asks what the table has, at first and when it has changed. */
  async learn() {
    this.routes = await this.bridge.routes();
    for (const name of this.routes.flatMap(({ methods = {} }) => Object.keys(methods))) {
      this.#methods[name] = (params, { page }) => this.#answer(name, params, /** @type {Page} */ (page));
    }
  }

  /**
   * Returns the declaration of a route.
   * @param {string | null} name
   * @returns {Route}
   */
  route(name) {
    return this.routes.find((route) => route.name === name) ?? {};
  }

  /**
   * Answers a call of a page: by the page itself, or with what the table says that it answers.
   * @param {string} method
   * @param {any} params
   * @param {Page} page
   */
  #answer(method, params, page) {
    const own = this.#open.get(page.id)?.methods?.[method];
    if (own) return own(params);
    const declared = this.route(page.route).methods?.[method];
    if (!declared) throw Object.assign(new Error(`${page.uri} has no method ${method}`), { code: 1405 });
    return declared.result ? sample(declared.result) : null;
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
   * Shows the first page of a tab.
   * @param {number} tab
   */
  async showTab(tab) {
    if (tab !== this.#tab) await this.bridge.selectTab(tab);
    await this.bridge.back({ root: true });
  }

  /**
   * Redraws the stack soon: once for several changes, and after our own response, since the server changes the stack when it
   * receives that response.
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
      this.#tabs.show(stack, this.routes, this.showsSheet);
      this.history.follow(this.#layers.length - 1);
      this.listener.stack(stack);
    } catch (error) {
      this.#reportError(error);
    }
  }

  /**
   * @param {any} error of a failed call; when the connection ends, all calls fail, and the connection state is shown instead. That a page
   *   stays open was the user's own decision
   */
  #reportError(error) {
    if (this.bridge.state === "open" && error.kind !== "leaveRefused") this.listener.toast(explain(error));
  }

  /**
   * @param {Page} page
   * @param {boolean} restored
   */
  async #show(page, restored) {
    if (/^https?:/.test(page.uri)) {
      this.screen.add(page.id, await this.#webPage(page));
    } else {
      const { surface, ...drawn } = nativePage(page, this, restored);
      this.#open.set(page.id, drawn);
      this.screen.add(page.id, surface);
    }
    this.refresh();
  }

  /** @param {Page} page */
  #close(page) {
    this.#open.get(page.id)?.closed?.();
    this.#open.delete(page.id);
    this.screen.remove(page.id);
    this.refresh();
  }

  /**
   * A web page in a frame. Only this app's own pages are invited.
   * @param {Page} page
   */
  async #webPage(page) {
    const title = typeof page.params.title === "string" ? page.params.title : (this.route(page.route).title ?? "Web page");
    const frame = await this.#frames.make(addressOf(page), title, { page: page.id }, (message) => {
      const { demo } = message;
      if (demo === "message") this.listener.message("web", message.direction, message.text, { site: message.site, page: page.id });
    });
    return surface(page, { title, back: () => this.back(page.id) }, frame);
  }

  /**
   * Loads the document of a web page again, as a browser's reload does.
   * @param {string} page its id
   */
  reload(page) {
    this.screen.surface(page)?.querySelector("iframe")?.contentWindow?.location.reload();
  }

  /** @param {Promise<unknown>} call a call without a use for its result: only its failure is shown */
  attempt(call) {
    call.catch((error) => this.#reportError(error)).finally(() => this.refresh());
  }
}
