// @ts-check
import { CallsView } from "./panel/calls-view.js";
import { CodeView } from "./panel/code-view.js";
import { ConnectionView } from "./panel/connection-view.js";
import { Exchanges } from "./panel/exchanges.js";
import { ExplainView } from "./panel/explain-view.js";
import { inWords, keptInWords } from "./panel/loss.js";
import { MessageLog } from "./panel/message-log.js";
import { RepairView } from "./panel/repair-view.js";
import { StackView } from "./panel/stack-view.js";
import { StepsView } from "./panel/steps-view.js";
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
const callsView = new CallsView(byId("calls", HTMLOListElement));
const exchanges = new Exchanges();
const code = new CodeView(() => shell.routes);
const log = new MessageLog({
  list: byId("messages", HTMLOListElement), pause: byId("pause", HTMLButtonElement), clear: byId("clear", HTMLButtonElement),
  all: byId("with-all", HTMLInputElement),
}, code.behind);
const steps = new StepsView({
  reload: (page) => shell.reload(page),
  kill: () => shell.attempt(kill()),
});
const toasts = new Toasts(byId("toasts", HTMLElement));
const connectionView = new ConnectionView(
  { again: () => shell.bridge.reconnect(), restart: () => location.reload() });
let isStarted = false;
const engine = byId("engine", HTMLElement);
const cut = byId("cut", HTMLButtonElement);
const restart = byId("restart", HTMLButtonElement);

export const shell = new Shell(byId("screen", HTMLElement), {
  stack: (stack) => stackView.show(stack),
  message(who, direction, text, more) {
    for (const change of exchanges.take(who, direction, text, more)) log.show(change);
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
    const news = change.lost ? inWords(change.lost) : change.restarted && keptInWords(stackView.count, exchanges.running.filter(({ hasKey, opened }) => hasKey || opened).length);
    if (news) {
      log.note(news);
      toasts.show(news);
    }
    const isOpen = change.state === "open";
    if (isOpen) void opened(change.restarted === true);
    else steps.allowKill(false);
    byId("screen", HTMLElement).inert = !isOpen;
    cut.disabled = !isOpen || shell.engine.state !== "connected";
    restart.disabled = !isOpen;
  },
});

/** What is there before anything is pressed is the start-up: the first tab, and the Flutter view. */
function startUpEnds() {
  if (isStarted && shell.engine.state === "connected") log.started();
}

/**
 * Asks the server, now that there is one, what it can do for the panels.
 * @param {boolean} restarted
 */
async function opened(restarted) {
  const { bridge } = shell;
  const before = repairView.place;
  await repairView.show();
  if (restarted && before !== undefined && before !== repairView.place) {
    log.note(`Lost: the repair that made addresses ${before}. The server has read its table from the file again.`);
  }
  // Another server than the demo's own has no such scheme.
  const { restart, inspector } = await bridge.invoke("demo://features").catch(() => ({ restart: false, inspector: false }));
  byId("inspector", HTMLElement).hidden = !inspector;
  byId("kill", HTMLElement).hidden = !restart;
  steps.allowKill(restart && bridge.state === "open");
}

/** Has the server's process ended as by a crash; it starts again by itself, at the same port. */
async function kill() {
  steps.allowKill(false);
  const { process } = await shell.bridge.invoke("demo://restart");
  log.note(`Killing the server, process ${process}: it says nothing to anybody, and what was only in its memory is gone.`);
}

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
