// @ts-check
import { CallDetail } from "./call-detail.js";
import { CallsView } from "./calls-view.js";
import { ClusterView } from "./cluster-view.js";
import { byId, write } from "./dom.js";
import { ExplainView } from "./explain-view.js";
import { inWords } from "./format.js";
import { Link } from "./link.js";
import { Recorder } from "./recorder.js";
import { Records } from "./records.js";
import { RefusalsView } from "./refusals-view.js";
import { RoutesView } from "./routes-view.js";
import { SessionsView } from "./sessions-view.js";
import { Tabs } from "./tabs.js";
import { TimelineView } from "./timeline-view.js";
import { VersionsView } from "./versions-view.js";

/** Milliseconds between two looks at what nobody tells by itself. */
const lookInterval = 3000;

const link = new Link();
const records = new Records();
const tabs = new Tabs();
const sessions = new SessionsView(link);
const calls = new CallsView(records);
const detail = new CallDetail(() => {
  calls.choose(undefined);
  calls.focus();
});
const timeline = new TimelineView(records);
const routes = new RoutesView(link);
const explain = new ExplainView(link);
const versions = new VersionsView(link, say);
const refusals = new RefusalsView(link);
const cluster = new ClusterView(link);
new Recorder(link, sessions, say);

const state = byId("state", HTMLElement);
const door = byId("door", HTMLElement);

/** @param {string} text */
function say(text) {
  const notice = byId("notice", HTMLElement);
  notice.textContent = text;
  setTimeout(() => {
    if (notice.textContent === text) notice.textContent = "";
  }, 6000);
}

/**
 * Asks who it is.
 * @param {string} reason
 */
function ask(reason) {
  byId("door-reason", HTMLElement).textContent = reason;
  door.hidden = false;
  byId("main", HTMLElement).hidden = true;
  byId("door-token", HTMLInputElement).focus();
}

/** Looks again at what is shown now. */
function look() {
  if (!link.isWatching || document.hidden) return;
  if (tabs.shown === "sessions" || tabs.shown === "explain") sessions.refresh();
  if (tabs.shown === "sessions") sessions.look();
  if (tabs.shown === "routes") routes.refresh();
  if (tabs.shown === "versions") versions.refresh();
  if (tabs.shown === "refusals") refusals.refresh();
  // Whether there is one is asked once.
  if (tabs.shown === "cluster" || cluster.isThere === undefined) cluster.refresh();
}

/** Of a session at another server nothing is told here but how it is. */
function tellElsewhere() {
  const { elsewhere } = sessions;
  write(byId("calls-elsewhere", HTMLElement), elsewhere ? `At the server ${elsewhere}, whose own inspector tells its calls.` : "");
}

link.addEventListener("state", (/** @type {any} */ { detail: { state: now, text } }) => {
  state.dataset.state = now;
  state.textContent = text;
});
link.addEventListener("watching", () => {
  door.hidden = true;
  byId("main", HTMLElement).hidden = false;
  look();
});
link.addEventListener("refused", (/** @type {any} */ { detail: error }) => ask(inWords(error)));
link.addEventListener("records", (/** @type {any} */ { detail: { records: told, dropped } }) => {
  records.take(told, dropped);
});
link.addEventListener("gap", () => {
  records.interrupt();
  sessions.recall();
  say("The connection was lost: what happened meanwhile is not told.");
});
records.addEventListener("change", (/** @type {any} */ { detail: { sessions: changed } }) => {
  detail.update();
  if (changed.size > 0 && tabs.shown === "sessions") sessions.refresh();
  if (sessions.chosen && changed.has(sessions.chosen)) sessions.look();
});

byId("door-form", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  const field = byId("door-token", HTMLInputElement);
  link.connect(field.value.trim());
  field.value = "";
});

tabs.addEventListener("show", look);
sessions.addEventListener("choose", (/** @type {any} */ { detail: session }) => {
  calls.only(session);
  timeline.only(session);
  tellElsewhere();
});
sessions.addEventListener("look", (/** @type {any} */ { detail: { session, at, asked, records: recalled } }) => {
  timeline.tell(at, asked);
  if (recalled) records.recall(session, recalled);
});
sessions.addEventListener("list", () => {
  explain.offer(sessions.sessions);
  tellElsewhere();
});
cluster.addEventListener("known", () => {
  tabs.offer("cluster", cluster.isThere === true);
  sessions.isOf(cluster.server);
});
calls.addEventListener("choose", (/** @type {any} */ { detail: call }) => detail.show(call));
timeline.addEventListener("choose", (/** @type {any} */ { detail: call }) => calls.reveal(call));
byId("clear", HTMLButtonElement).addEventListener("click", () => {
  detail.hide();
  calls.choose(undefined);
  records.clear();
});

setInterval(look, lookInterval);
document.addEventListener("visibilitychange", look);

const inAddress = /^#token=(.+)$/.exec(location.hash);
// Nobody is to see it there, and it is not to be in the history.
if (inAddress) history.replaceState(null, "", location.pathname + location.search);
try {
  link.connect(inAddress ? decodeURIComponent(inAddress[1]) : undefined);
} catch (error) {
  if (!(error instanceof URIError)) throw error;
  state.dataset.state = "closed";
  state.textContent = "Not connected";
  ask("The token of the address cannot be read: there, % is written as %25. Give the token here.");
}
