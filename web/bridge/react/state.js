// @ts-check
import { shared, Store } from "./store.js";
import { attempt } from "../values/errors.js";

/** @typedef {import("../bridge.js").Bridge} Bridge */
/** @typedef {import("../types/api.js").BridgeEvent} BridgeEvent */
/** @typedef {import("../types/hooks.js").SessionState} SessionState */
/** @typedef {Pick<import("../types/hooks.js").PageState, "status" | "page" | "visibility" | "error">} OwnPage */

/** @type {SessionState} the state on a server that renders the page */
export const NO_SESSION = { state: "connecting", attempt: 0, session: undefined };
/** @type {OwnPage} */
export const PAGE_PENDING = { status: "pending", page: undefined, visibility: undefined, error: undefined };
/** @type {OwnPage} */
const PAGE_ABSENT = { ...PAGE_PENDING, status: "absent" };

/**
 * The state of a client.
 * @param {Bridge} client
 * @returns {Store<SessionState>}
 */
export const sessionOf = (client) => shared(client, "session", () => {
  const { state, session } = client;
  /** @type {Store<SessionState>} */
  const store = new Store({ state, attempt: 0, session });
  client.addEventListener("statechange", ({ detail }) => store.set({ ...detail, session: client.session }));
  // Its change of state was before this.
  if (state === "closed") client.ready.catch((error) => store.set({ ...store.get(), error }));
  return store;
});

/**
 * The latest event of a topic.
 * @param {Bridge} client
 * @param {string} topic
 * @returns {Store<BridgeEvent | undefined>}
 */
export const latestEventOf = (client, topic) => shared(client, `topic ${topic}`, (forget) => {
  const none = /** @type {BridgeEvent | undefined} */ (undefined);
  return new Store(none, (store) => {
    const unsubscribe = client.subscribe(topic, (event) => store.set(event));
    return () => {
      forget();
      unsubscribe().catch(() => {});
    };
  });
});

/**
 * The page in which a client runs.
 * @param {Bridge} client
 * @returns {{state: Store<OwnPage>, refresh: () => Promise<void>}} `refresh` reads the page again
 */
export const pageOf = (client) => shared(client, "page", () => {
  /** @type {import("../types/api.js").SessionInfo | undefined} the session in which the page was read */
  let known;
  let isWaiting = false;
  let last = 0;
  const refresh = async () => {
    last += 1;
    const current = last;
    try {
      isWaiting = true;
      // Known before the client reports the new session.
      const { page: id } = await client.ready.then((session) => (known = session)).finally(() => (isWaiting = false));
      const page = id === undefined ? null : await client.request("navigation.contains", { uri: id });
      if (current === last) state.set(page === null ? PAGE_ABSENT : { ...state.get(), error: undefined, status: "open", page });
    } catch (/** @type {any} */ error) {
      // A page that was read stays as it was until the next session is open.
      if (current === last && (state.get().page === undefined || client.state === "closed")) state.set({ ...state.get(), status: "error", error });
    }
  };
  /** @type {Store<OwnPage>} */
  const state = new Store(PAGE_PENDING, () => {
    const ending = new AbortController();
    const { signal } = ending;
    const isOwn = (/** @type {string} */ id) => client.session !== undefined && id === client.session.page;
    client.addEventListener("statechange", ({ detail }) => {
      if (isWaiting) return;
      if (detail.state === "closed" || (detail.state === "open" && (client.session !== known || detail.restarted))) void refresh();
    }, { signal });
    client.addEventListener("resume", ({ detail: { page: id, ...changes } }) => {
      const { page } = state.get();
      if (isOwn(id) && page !== undefined && Object.keys(changes).length > 0) state.set({ ...state.get(), page: { ...page, ...changes } });
    }, { signal });
    const receive = (/** @type {BridgeEvent} */ { topic, data }) => {
      if (!isOwn(data.page)) return;
      const { visibility } = state.get();
      if (topic === "page.visibility") state.set({ ...state.get(), visibility: data.visibility });
      // The first event repeats the present visibility. A page that is shown again may have new parameters.
      if (topic !== "page.visibility" || (visibility !== undefined && data.visibility === "shown")) void refresh();
    };
    // A client without the part `events` reads its page only once.
    const unsubscribe = attempt(() => client.subscribe(["page.closed", "page.resumed", "page.visibility"], receive));
    void refresh();
    return () => {
      ending.abort();
      unsubscribe?.().catch(() => {});
    };
  });
  return { state, refresh };
});
