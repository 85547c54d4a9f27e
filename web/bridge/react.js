// @ts-check
import { createContext, createElement, useCallback, useContext, useEffect, useInsertionEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Calls } from "./react/calls.js";
import { latestEventOf, NO_SESSION, PAGE_PENDING, pageOf, sessionOf } from "./react/state.js";
import { afterCommit, Registration, shared, Store } from "./react/store.js";

/** @typedef {import("./bridge.js").Bridge} Bridge */
/** @typedef {import("./types/api.js").Page} Page */
/** @typedef {import("./types/hooks.js").SessionState} SessionState */
/**
 * @template [Result=any]
 * @typedef {import("./types/hooks.js").CallStatus<Result>} CallStatus
 */
/**
 * @template [Result=any]
 * @template {unknown[]} [Given=any[]]
 * @typedef {import("./types/hooks.js").CallState<Result, Given>} CallState
 */
/**
 * @template [Params=import("./types/api.js").Params]
 * @template [Result=any]
 * @typedef {import("./types/hooks.js").PageState<Params, Result>} PageState
 */
/** @typedef {import("./types/hooks.js").UnmountOptions} UnmountOptions */
/** @typedef {import("./types/hooks.js").ResultOptions} ResultOptions */
/** @typedef {import("./types/hooks.js").HostOptions} HostOptions */
/**
 * @template [Routes=any]
 * @typedef {import("./types/hooks.js").Hooks<Routes>} Hooks
 */

/** @type {import("react").Context<Bridge | undefined>} */
const Client = createContext(/** @type {Bridge | undefined} */ (undefined));
/** @type {Page[]} */
const NO_PAGES = [];

/**
 * Provides a client to the hooks of the components in it. Create the client outside of components, so that there is one for each load of the page.
 * @param {{client: import("./caller.js").Caller<any>, children?: import("react").ReactNode}} props `client`: a `Bridge`, or a `Caller` or `Host` with
 *   the parts that the hooks need: `events` for topics, a `Host` for `useHost`, `useTask` and `useMethod`
 */
export function BridgeProvider({ client, children }) {
  return createElement(Client.Provider, { value: /** @type {Bridge} */ (client) }, children);
}

/**
 * Returns the client of the nearest `BridgeProvider`.
 * @type {Hooks["useBridge"]}
 */
export const useBridge = () => {
  const client = useContext(Client);
  if (client === undefined) throw new Error("The hooks of waybridge/react need a client; render the component inside of <BridgeProvider client={bridge}>");
  return client;
};

/**
 * Returns the state of the connection and the session. The component is rendered again when it changes.
 * @type {Hooks["useSession"]}
 */
export const useSession = () => useStore(sessionOf(useBridge()), NO_SESSION);

/**
 * Opens a page when `run(params, options)` is called. `result` is the outcome of the page. Options of `run` override those of the hook.
 * @type {Hooks["useOpen"]}
 */
export const useOpen = (uri, options) => useCalls(options, (client, params, given) => client.open(uri, params, given));

/**
 * Runs a task or a service when `run(params, options)` is called. Options of `run` override those of the hook.
 * @type {Hooks["useInvoke"]}
 */
export const useInvoke = (uri, options) => useCalls(options, (client, params, given) => client.invoke(uri, params, given));

/**
 * Calls a method of a page when `run(params, options)` is called. Options of `run` override those of the hook.
 * @type {Hooks["useCall"]}
 */
export const useCall = (page, method, options) => useCalls(options, (client, params, given) => client.call(page, method, params, given));

/**
 * Runs a service, or a task without effects, when the component is mounted and when the URI or the parameters change. A change and an unmount cancel
 * the call. `run()` calls it again.
 * @type {Hooks["useResult"]}
 */
export const useResult = (uri, ...given) => {
  const client = useBridge();
  const [params, { enabled = true, ...options } = /** @type {ResultOptions} */ ({})] = /** @type {any[]} */ (given);
  const state = useCalls(options, (_, __, more) => client.invoke(uri, params, more), enabled);
  const { run, cancel, reset } = state;
  const made = JSON.stringify([uri, params]);
  useEffect(() => {
    if (!enabled) return reset();
    void run();
    return cancel;
  }, [client, made, enabled, run, cancel, reset]);
  return state;
};

/**
 * Calls a handler for each event of the topics while the component is mounted. The client has one subscription to a topic, however many components use
 * it. The handler may be another function in each render.
 * @type {Hooks["useEvent"]}
 */
export const useEvent = (topics, handler) => {
  const client = useBridge();
  const latest = useLatest(handler);
  const names = JSON.stringify(topics);
  useEffect(() => {
    let isMounted = true;
    const unsubscribe = client.subscribe(JSON.parse(names), (/** @type {any} */ event) => (isMounted ? latest.current(event) : undefined));
    return () => {
      isMounted = false;
      // Meanwhile the effect may begin again. Then the topic stays in use, and no request is sent.
      afterCommit(() => void unsubscribe().catch(() => {}));
    };
  }, [client, names, latest]);
};

/**
 * Returns the latest event of a topic since a component began to use it, also a retained one; `undefined` before the first event.
 * @type {Hooks["useLatestEvent"]}
 */
export const useLatestEvent = (topic) => useStore(latestEventOf(useBridge(), topic), /** @type {any} */ (undefined));

/**
 * Returns the page of the app in which this web page runs. The component is rendered again when the page gets new parameters.
 * @type {Hooks["usePage"]}
 */
export const usePage = () => {
  const client = useBridge();
  const { state: own, refresh } = pageOf(client);
  const state = useStore(own, PAGE_PENDING);
  const finish = useCallback((/** @type {any} */ result, /** @type {import("./types/api.js").FinishOptions | undefined} */ options) => client.finish(result, options), [client]);
  return useMemo(() => ({ ...state, params: /** @type {any} */ (state.page?.params ?? {}), refresh, finish }), [state, refresh, finish]);
};

/**
 * Hosts the pages of a scheme while the component is mounted, and returns those that are open, lowest first, for the component to show.
 * @type {Hooks["useHost"]}
 */
export const useHost = (scheme, options = {}) => {
  const client = useBridge();
  const latest = useLatest(options);
  const declared = JSON.stringify([scheme, options.patterns]);
  const { registration, pages } = shared(client, `host ${declared}`, () => ({ registration: new Registration(), pages: new Store(NO_PAGES) }));
  useEffect(() => registration.keep(latest, () => {
    const others = (/** @type {Page} */ { id }) => pages.get().filter((each) => each.id !== id);
    const [, patterns] = JSON.parse(declared);
    return client.host(scheme, {
      ...(patterns && { patterns }),
      open: async (page, call) => {
        await registration.handler.open?.(page, call);
        pages.set([...others(page), { ...page }]);
      },
      close: (page, reason, exts) => {
        pages.set(others(page));
        return registration.handler.close?.(page, reason, exts);
      },
      resume: (page) => pages.set(pages.get().map((each) => (each.id === page.id ? { ...page } : each))),
      get methods() {
        return registration.handler.methods ?? {};
      },
    });
  }), [client, scheme, declared, registration, pages, latest]);
  return useStore(pages, NO_PAGES);
};

/**
 * Registers a handler for the tasks of a URI or pattern while the component is mounted. The handler may be another function in each render.
 * @type {Hooks["useTask"]}
 */
export const useTask = (pattern, handler) => useHandler("task", pattern, handler);

/**
 * Registers a method for the app and, if this web page runs in a page, for callers of the page, while the component is mounted.
 * @type {Hooks["useMethod"]}
 */
export const useMethod = (name, handler) => useHandler("method", name, handler);

/**
 * Returns the hooks with the types of the file that `waybridge routes generate --language typescript` creates:
 * `export const { useOpen, useInvoke } = createHooks<Routes>()`.
 * @template [Routes=any]
 * @returns {Hooks<Routes>}
 */
export function createHooks() {
  return /** @type {any} */ ({ useBridge, useSession, useOpen, useInvoke, useCall, useResult, useEvent, useLatestEvent, usePage, useHost, useTask, useMethod });
}

/**
 * @template Value
 * @param {Store<Value>} store
 * @param {Value} initial the value on a server that renders the page
 * @returns {Value}
 */
function useStore(store, initial) {
  return useSyncExternalStore(store.subscribe, store.get, () => initial);
}

/**
 * Returns the value of the last render for handlers that are called later.
 * @template Value
 * @param {Value} value
 * @returns {{current: Value}}
 */
function useLatest(value) {
  const latest = useRef(value);
  // Before any other effect, so that they see it.
  useInsertionEffect(() => {
    latest.current = value;
  });
  return latest;
}

/**
 * @param {(UnmountOptions & import("./types/api.js").CallOptions) | undefined} options
 * @param {(client: Bridge, params: any, options: any) => Promise<any>} send
 * @param {boolean} [isPending] whether the component makes its first call when it is mounted
 * @returns {any}
 */
function useCalls({ cancelOnUnmount = false, ...options } = {}, send, isPending = false) {
  const client = useBridge();
  const [calls] = useState(() => new Calls(isPending));
  const latest = useLatest({ client, send, options, cancelOnUnmount });
  useEffect(() => calls.mounted(() => latest.current.cancelOnUnmount), [calls, latest]);
  const { cancel, reset } = calls;
  const state = useStore(calls.state, calls.initial);
  const [run] = useState(() => (/** @type {any} */ params, /** @type {any} */ given) => {
    const { current } = latest;
    return calls.run((sent) => current.send(current.client, params, sent), { ...current.options, ...given });
  });
  return useMemo(() => ({ ...state, run, cancel, reset }), [state, run, cancel, reset]);
}

/**
 * @param {"task" | "method"} kind
 * @param {string} name
 * @param {(params: any, call: any) => unknown} handler
 */
function useHandler(kind, name, handler) {
  const client = useBridge();
  const latest = useLatest(handler);
  const registration = shared(client, `${kind} ${name}`, () => new Registration());
  useEffect(
    () => registration.keep(latest, () => client[kind](name, (/** @type {any} */ params, /** @type {any} */ call) => registration.handler(params, call))),
    [client, kind, name, registration, latest],
  );
}
