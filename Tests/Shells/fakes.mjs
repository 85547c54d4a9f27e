// Fakes of what the recipes import from Capacitor, from Tauri and from the app.

/** The calls, in order. */
export const log = [];
/** The listeners, by name of the event. */
export const listeners = new Map();

export const Capacitor = { getPlatform: () => "ios" };
export const App = { addListener: (name, listener) => listeners.set(name, listener) };
export const Share = { share: async (given) => (log.push(["share", given]), { activityType: "mail" }) };
export const router = {
  push: (...all) => void log.push(["push", ...all]),
  remove: (...all) => void log.push(["remove", ...all]),
};

export const invoke = async (name, given) => (log.push(["invoke", name, given]), 3);
export class WebviewWindow {
  constructor(label, { url }) {
    log.push(["window", label, url]);
    this.label = label;
  }
  once(name, listener) {
    listeners.set(`${this.label} ${name}`, listener);
  }
  async close() {
    log.push(["close", this.label]);
    listeners.get(`${this.label} tauri://destroyed`)();
  }
}
