// @ts-check
import { ConnectionView } from "./panel/connection-view.js";
import { ExplainView } from "./panel/explain-view.js";
import { inWords } from "./panel/loss.js";
import { MessageLog } from "./panel/message-log.js";
import { RepairView } from "./panel/repair-view.js";
import { StackView } from "./panel/stack-view.js";
import { byId } from "./shared/dom.js";
import { explain } from "./shared/result.js";
import { Toasts } from "./shared/toasts.js";
import { Shell } from "./shell/shell.js";

const engineTexts = {
  off: "Flutter: off",
  starting: "Flutter: starting",
  connected: "Flutter: connected",
  lost: "Flutter: connecting again",
  cut: "Flutter: cut",
};

const stackView = new StackView();
const log = new MessageLog(
  byId("messages", HTMLOListElement), byId("pause", HTMLButtonElement), byId("clear", HTMLButtonElement),
  byId("with-stack", HTMLInputElement));
const toasts = new Toasts(byId("toasts", HTMLElement));
const connectionView = new ConnectionView(
  { again: () => shell.bridge.reconnect(), restart: () => location.reload() });
const engine = byId("engine", HTMLElement);
const cut = byId("cut", HTMLButtonElement);
const restart = byId("restart", HTMLButtonElement);

export const shell = new Shell(byId("screen", HTMLElement), {
  stack: (stack) => stackView.show(stack),
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
  connection(change) {
    connectionView.show(change, shell.bridge.session?.session);
    const news = change.lost ? inWords(change.lost) : change.restarted && "The server was restarted; the session goes on.";
    if (news) {
      log.note(news);
      toasts.show(news);
    }
    const isOpen = change.state === "open";
    if (isOpen) void repairView.show();
    byId("screen", HTMLElement).inert = !isOpen;
    cut.disabled = !isOpen || shell.engine.state !== "connected";
    restart.disabled = !isOpen;
  },
});

const repairView = new RepairView((method, params) => shell.bridge.request(method, params));
shell.bridge.subscribe(["table.changed"], async ({ data }) => {
  log.note(`The table is ${data.version} now (${data.cause}).`);
  await Promise.all([repairView.show(), shell.learn()]).catch((error) => toasts.show(explain(error)));
});
new ExplainView((uri) => shell.bridge.explain(uri));
cut.addEventListener("click", () => shell.engine.cut());
restart.addEventListener("click", () => shell.attempt(shell.startFlutter()));
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
