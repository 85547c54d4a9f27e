// @ts-check
import { CallsView } from "./panel/calls-view.js";
import { CodeView } from "./panel/code-view.js";
import { ConnectionView } from "./panel/connection-view.js";
import { Exchanges } from "./panel/exchanges.js";
import { ExplainView } from "./panel/explain-view.js";
import { inWords, keptInWords } from "./panel/loss.js";
import { MessageLog } from "./panel/message-log.js";
import { NextView } from "./panel/next-view.js";
import { RepairView } from "./panel/repair-view.js";
import { StackView } from "./panel/stack-view.js";
import { StepsView } from "./panel/steps-view.js";
import { byId } from "./shared/dom.js";
import { explain } from "./shared/result.js";
import { Toasts } from "./shared/toasts.js";
import { keepFocusIn } from "./shell/focus-trap.js";
import { Shell } from "./shell/shell.js";

const engineTexts = {
  off: "Flutter: off",
  starting: "Flutter: starting",
  connected: "Flutter: connected",
  lost: "Flutter: reconnecting",
  cut: "Flutter: disconnected",
};

const stackView = new StackView();
const callsView = new CallsView(byId("calls", HTMLOListElement));
const exchanges = new Exchanges();
const code = new CodeView(() => shell.routes);
const log = new MessageLog({
  list: byId("messages", HTMLOListElement), pause: byId("pause", HTMLButtonElement), clear: byId("clear", HTMLButtonElement),
  all: byId("with-all", HTMLInputElement),
}, code.behind);
const next = new NextView({ showTab: (tab) => shell.attempt(shell.showTab(tab)), showView });
const steps = new StepsView({
  reload: (page) => shell.reload(page),
  kill: () => shell.attempt(kill()),
  done: (isDone) => next.show(isDone),
});
const toasts = new Toasts(byId("toasts", HTMLElement));
const connectionView = new ConnectionView(
  { again: () => shell.bridge.reconnect(), restart: () => location.reload() });
let isStarted = false;
const engine = byId("engine", HTMLElement);
const cut = byId("cut", HTMLButtonElement);
const restart = byId("restart", HTMLButtonElement);

export const shell = new Shell(byId("screen", HTMLElement), {
  stack(stack) {
    stackView.show(stack);
    next.refresh();
  },
  message(who, direction, text, more) {
    for (const change of exchanges.receive(who, direction, text, more)) log.show(change);
    const { running } = exchanges;
    callsView.show(running);
    steps.show(running);
    stackView.await(exchanges.awaited);
  },
  started() {
    isStarted = true;
    startUpEnds();
  },
  toast: (text) => toasts.show(text),
  flutter(state) {
    engine.dataset.state = state;
    engine.textContent = engineTexts[state];
    startUpEnds();
    const [shown, other] = state === "cut" ? [restart, cut] : [cut, restart];
    const hadFocus = document.activeElement === other;
    cut.disabled = state !== "connected";
    shown.hidden = false;
    other.hidden = true;
    if (hadFocus) shown.focus();
  },
  connection(change) {
    connectionView.show(change, shell.bridge.session?.session);
    const message = change.lost ? inWords(change.lost) : change.restarted && keptInWords(stackView.count, exchanges.running.filter(({ hasKey, opened }) => hasKey || opened).length);
    if (message) {
      log.note(message);
      toasts.show(message);
    }
    const isOpen = change.state === "open";
    if (isOpen) void opened(change.restarted === true);
    else steps.allowKill(false);
    byId("screen", HTMLElement).inert = !isOpen;
    cut.disabled = !isOpen || shell.engine.state !== "connected";
    restart.disabled = !isOpen;
  },
});

/** The start-up ends when the first tab is open and the Flutter view is connected. */
function startUpEnds() {
  if (isStarted && shell.engine.state === "connected") log.started();
}

/**
 * Asks the connected server which features it has for the panels.
 * @param {boolean} restarted
 */
async function opened(restarted) {
  const { bridge } = shell;
  const before = repairView.place;
  await repairView.show();
  if (restarted && before !== undefined && before !== repairView.place) {
    log.note(`The change of the address page to “${before}” is lost: the restarted server has read the route table from its file.`);
  }
  // Only the server of the demo has this scheme.
  const { restart, inspector } = await bridge.invoke("demo://features").catch(() => ({ restart: false, inspector: false }));
  const { session } = bridge.session ?? {};
  for (const link of [byId("inspector", HTMLAnchorElement), byId("next-inspector", HTMLAnchorElement)]) {
    link.hidden = !inspector;
    link.href = `../inspector/#token=workbench${session ? `&session=${encodeURIComponent(session)}` : ""}`;
  }
  // The server records calls only while a client watches: the inspector then shows the earlier calls of this session, too.
  if (inspector && session) void bridge.request("admin.watch", { session }).catch(() => {});
  byId("kill", HTMLElement).hidden = !restart;
  steps.allowKill(restart && bridge.state === "open");
}

/** Ends the process of the server as a crash does. It starts again by itself, on the same port. */
async function kill() {
  steps.allowKill(false);
  const { process } = await shell.bridge.invoke("demo://restart");
  log.note(`Killing the server, process ${process}: it sends no message before it ends, and loses everything that is only in its memory.`);
}

const repairView = new RepairView((method, params) => shell.bridge.request(method, params));
shell.bridge.subscribe(["table.changed"], async ({ data }) => {
  log.note(`The route table has version ${data.version} now (${data.cause}).`);
  await Promise.all([repairView.show(), shell.learn()]).catch((error) => toasts.show(explain(error)));
});
new ExplainView((uri) => shell.bridge.explain(uri));
cut.addEventListener("click", () => shell.engine.cut());
restart.addEventListener("click", () => shell.attempt(shell.startFlutter()));
byId("phone", HTMLElement).addEventListener("keydown", (event) => {
  if (!shell.showsSheet) return;
  if (event.key === "Escape") shell.back();
  const sheet = event.target instanceof Element ? event.target.closest("[role=dialog]") : null;
  if (sheet instanceof HTMLElement) keepFocusIn(sheet, event);
});

const views = byId("views", HTMLElement);
views.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  if (!button) return;
  showView(button.value);
});

/**
 * Shows one of the views of the small layout.
 * @param {string} view
 */
function showView(view) {
  document.body.dataset.view = view;
  for (const button of views.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.value === view));
}
