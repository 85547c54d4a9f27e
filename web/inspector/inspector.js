// @ts-check
import { CallDetail } from "./call-detail.js";
import { CallsView } from "./calls-view.js";
import { ClientRemoval } from "./client-removal.js";
import { ClusterView } from "./cluster-view.js";
import { ConfirmDialog } from "./confirm-dialog.js";
import { byId, write } from "./dom.js";
import { ExplainView } from "./explain-view.js";
import { inWords } from "./format.js";
import { InspectorConnection } from "./connection.js";
import { Recorder } from "./recorder.js";
import { Records, waitingRecords } from "./records.js";
import { RejectionsView } from "./rejections-view.js";
import { RoutesView } from "./routes-view.js";
import { SessionsView } from "./sessions-view.js";
import { Tabs } from "./tabs.js";
import { TimelineView } from "./timeline-view.js";
import { VersionsView } from "./versions-view.js";

/** Milliseconds between two refreshes of what the server does not push. */
const refreshInterval = 3000;

/** The token and the session in the fragment of the address: `#token=…&session=…`, each of them optional. */
const fragment = new Map(location.hash.slice(1).split("&").map((part) => {
  const place = part.indexOf("=");
  return /** @type {[string, string]} */ ([part.slice(0, Math.max(0, place)), part.slice(place + 1)]);
}));
const browserSession = fragment.get("session");

const connection = new InspectorConnection();
const records = new Records();
const tabs = new Tabs();
const dialog = new ConfirmDialog();
const sessions = new SessionsView(connection, new ClientRemoval(connection, dialog, notify), browserSession);
const calls = new CallsView(records);
const detail = new CallDetail(() => {
  calls.choose(undefined);
  calls.focus();
});
const timeline = new TimelineView(records);
const routes = new RoutesView(connection);
const explain = new ExplainView(connection);
const versions = new VersionsView(connection, dialog, notify);
const rejections = new RejectionsView(connection);
const cluster = new ClusterView(connection);
new Recorder(connection, sessions, notify);

const state = byId("state", HTMLElement);
const door = byId("door", HTMLElement);

/** @param {string} text */
function notify(text) {
  const notice = byId("notice", HTMLElement);
  notice.textContent = text;
  setTimeout(() => {
    if (notice.textContent === text) notice.textContent = "";
  }, 6000);
}

/**
 * Shows the form for a token.
 * @param {string} reason
 */
function showTokenForm(reason) {
  byId("door-reason", HTMLElement).textContent = reason;
  door.hidden = false;
  byId("main", HTMLElement).hidden = true;
  byId("door-token", HTMLInputElement).focus();
}

/** Refreshes the tab that is shown. */
function refresh() {
  if (!connection.isWatching || document.hidden) return;
  if (tabs.shown === "sessions" || tabs.shown === "explain") sessions.refresh();
  if (tabs.shown === "sessions") sessions.refreshChosen();
  if (tabs.shown === "routes") routes.refresh();
  if (tabs.shown === "versions") versions.refresh();
  if (tabs.shown === "refusals") rejections.refresh();
  // The inspector asks the server once whether there is a cluster.
  if (tabs.shown === "cluster" || cluster.isThere === undefined) cluster.refresh();
}

/** Shows which other server has the chosen session: its calls are not shown here. */
function showOtherServer() {
  const { otherServer } = sessions;
  write(byId("calls-elsewhere", HTMLElement), otherServer ? `This session is on the server ${otherServer}. Its calls are shown in the inspector of that server.` : "");
}

connection.addEventListener("state", (/** @type {any} */ { detail: { state: now, text } }) => {
  state.dataset.state = now;
  state.textContent = text;
});
connection.addEventListener("watching", () => {
  door.hidden = true;
  byId("main", HTMLElement).hidden = false;
  refresh();
});
connection.addEventListener("refused", (/** @type {any} */ { detail: error }) => showTokenForm(inWords(error)));
connection.addEventListener("records", (/** @type {any} */ { detail: { records: received, dropped } }) => {
  // The calls of this inspector are not those of an app.
  records.add(received.filter((/** @type {any} */ { session }) => session !== connection.session), dropped);
});
connection.addEventListener("gap", () => {
  records.interrupt();
  sessions.restoreHistory();
  notify("The connection was lost. Calls of that time are missing.");
});
records.addEventListener("change", (/** @type {any} */ { detail: { sessions: changed } }) => {
  detail.update();
  if (changed.size > 0 && tabs.shown === "sessions") sessions.refresh();
  if (sessions.chosen && changed.has(sessions.chosen)) sessions.refreshChosen();
});

byId("door-form", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  const field = byId("door-token", HTMLInputElement);
  connection.connect(field.value.trim());
  field.value = "";
});

tabs.addEventListener("show", refresh);
sessions.addEventListener("choose", (/** @type {any} */ { detail: session }) => {
  calls.showSession(session);
  timeline.showSession(session);
  showOtherServer();
});
sessions.addEventListener("inspect", (/** @type {any} */ { detail }) => {
  const { session, at, requestedAt, records: restored } = detail;
  timeline.setClock(at, requestedAt);
  if (!restored || session === connection.session) return;
  records.restore(session, [...restored, ...waitingRecords(detail)]);
});
sessions.addEventListener("list", () => {
  explain.offer(sessions.sessions);
  showOtherServer();
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

setInterval(refresh, refreshInterval);
document.addEventListener("visibilitychange", refresh);

const inFragment = fragment.get("token");
// The token must not stay visible, nor in the history. The session stays for a reload.
if (inFragment) history.replaceState(null, "", location.pathname + location.search + (browserSession ? `#session=${browserSession}` : ""));
try {
  connection.connect(inFragment ? decodeURIComponent(inFragment) : undefined);
} catch (error) {
  if (!(error instanceof URIError)) throw error;
  state.dataset.state = "closed";
  state.textContent = "Not connected";
  showTokenForm("The token in the address cannot be read: in an address, % is written as %25. Enter the token here.");
}
