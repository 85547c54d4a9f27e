// @ts-check
import { MessageLog } from "./panel/message-log.js";
import { StackView } from "./panel/stack-view.js";
import { byId } from "./shared/dom.js";
import { Toasts } from "./shared/toasts.js";
import { Shell } from "./shell/shell.js";

const engineTexts = {
  off: "Flutter: off",
  starting: "Flutter: starting",
  connected: "Flutter: connected",
  cut: "Flutter: cut",
};

const stackView = new StackView(byId("stack", HTMLOListElement));
const log = new MessageLog(
  byId("messages", HTMLOListElement), byId("pause", HTMLButtonElement), byId("clear", HTMLButtonElement),
  byId("with-stack", HTMLInputElement));
const toasts = new Toasts(byId("toasts", HTMLElement));
const connection = byId("connection", HTMLElement);
const engine = byId("engine", HTMLElement);
const cut = byId("cut", HTMLButtonElement);
const restart = byId("restart", HTMLButtonElement);

const shell = new Shell(byId("screen", HTMLElement), {
  stack: (pages) => stackView.show(pages),
  message: (who, direction, text) => log.add(who, direction, text),
  toast: (text) => toasts.show(text),
  flutter(state) {
    engine.dataset.state = state;
    engine.textContent = engineTexts[state];
    const [shown, other] = state === "cut" ? [restart, cut] : [cut, restart];
    const hadFocus = document.activeElement === other;
    cut.disabled = state !== "connected";
    shown.hidden = false;
    other.hidden = true;
    if (hadFocus) shown.focus();
  },
  closed(reason) {
    connection.dataset.state = "closed";
    connection.textContent = "Connection closed";
    byId("lost-reason", HTMLElement).textContent = `The connection to the server has ended (${reason}).`;
    byId("lost", HTMLElement).hidden = false;
    byId("screen", HTMLElement).inert = true;
    cut.disabled = true;
    restart.disabled = true;
  },
});

cut.addEventListener("click", () => shell.engine.cut());
restart.addEventListener("click", () => shell.startFlutter());
byId("reload", HTMLButtonElement).addEventListener("click", () => location.reload());
byId("phone", HTMLElement).addEventListener("keydown", (event) => {
  if (event.key === "Escape" && shell.showsSheet) shell.back();
});

const views = byId("views", HTMLElement);
views.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  if (!button) return;
  document.body.dataset.view = button.value;
  for (const other of views.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
});

shell.start().then(
  () => {
    connection.dataset.state = "connected";
    connection.textContent = `Session ${shell.bridge.session?.session ?? ""}`;
  },
  // Why the session did not open is told by `closed`.
  () => undefined);
