// @ts-check
// Types of the hooks of `waybridge/react`. This file has no code.

/** @typedef {import("../values/errors.js").BridgeError} BridgeError */
/** @typedef {import("./api.js").Page} Page */

/** @typedef {import("./api.js").StateChange & {session: import("./api.js").SessionInfo | undefined}} SessionState the last change of the client's
 *   state, and its session if one is open */

/**
 * @template [Result=any]
 * @typedef {{status: "idle", result: undefined, error: undefined, progress: undefined}
 *   | {status: "pending", result: undefined, error: undefined, progress: any}
 *   | {status: "success", result: Result, error: undefined, progress: any}
 *   | {status: "error", result: undefined, error: BridgeError, progress: any}
 *   | {status: "cancelled", result: undefined, error: BridgeError, progress: any}} CallStatus the state of the latest call. `progress`: its last
 *   progress value; for an opened page the first one is `{opened: {page}}`
 */

/**
 * @template [Result=any]
 * @template {unknown[]} [Given=any[]]
 * @typedef {object} CallActions functions that stay the same while the component is mounted
 * @property {(...given: Given) => Promise<Result>} run makes a call, and settles as the call does. A rejection need not be handled: the state has
 *   the error
 * @property {() => void} cancel cancels the calls that have not settled
 * @property {() => void} reset returns to `idle`; a call that has not settled continues, and no longer changes the state
 */

/**
 * @template [Result=any]
 * @template {unknown[]} [Given=any[]]
 * @typedef {CallStatus<Result> & CallActions<Result, Given>} CallState
 */

/** @typedef {{cancelOnUnmount?: boolean}} UnmountOptions `cancelOnUnmount`: whether calls are cancelled when the component is unmounted;
 *   default: false. In both cases their results no longer cause a render */

/** @typedef {{enabled?: boolean, timeout?: number}} ResultOptions `enabled`: whether the call is made; default: true. `timeout` as for `invoke` */

/**
 * @template [Params=import("./api.js").Params]
 * @template [Result=any]
 * @typedef {object} PageState the page of the app in which this web page runs
 * @property {"pending" | "open" | "absent" | "error"} status `absent`: the client runs in no page, or the page has closed
 * @property {Page | undefined} page the page, with its latest URI and parameters
 * @property {Partial<Params>} params the latest parameters of the page; `{}` while they are not known
 * @property {"shown" | "covered" | "hidden" | "background" | undefined} visibility how much the user sees of the page, if the server reports it
 * @property {BridgeError | undefined} error why the page could not be read
 * @property {() => Promise<void>} refresh reads the page again, for example when its host reports new parameters
 * @property {(result?: Result, options?: import("./api.js").FinishOptions) => Promise<import("./api.js").NavigationChange>} finish closes the page and
 *   returns the result to its opener
 */

/** @typedef {object} HostOptions
 * @property {string[]} [patterns] limits the host to URIs that match one of these patterns
 * @property {(page: Page, call: Parameters<import("./api.js").PageHost["open"]>[1]) => unknown} [open] called before a page is shown. If it throws or
 *   rejects, the page is not opened; `DeclinedError` leaves the call to the next host
 * @property {(page: Page, reason: import("./api.js").Outcome["outcome"], exts: import("./api.js").Params) => unknown} [close] called when a page has closed
 * @property {Record<string, import("./api.js").MethodHandler>} [methods] methods of the pages that other clients can call
 */

/**
 * The hooks, typed for the `Routes` of a generated file.
 * @template [Routes=any]
 * @typedef {object} Hooks
 * @property {() => import("../bridge.js").Bridge<Routes>} useBridge
 * @property {() => SessionState} useSession
 * @property {<URI extends import("./routes.js").PageURI<Routes>>(uri: URI, options?: import("./api.js").OpenOptions & UnmountOptions) =>
 *   CallState<import("./api.js").Outcome<import("./routes.js").PageResult<Routes, URI>>, import("./routes.js").Given<import("./routes.js").PageParams<Routes, URI>, import("./api.js").OpenOptions>>} useOpen
 * @property {<URI extends import("./routes.js").TaskURI<Routes>>(uri: URI, options?: import("./api.js").InvokeOptions & UnmountOptions) =>
 *   CallState<import("./routes.js").TaskResult<Routes, URI>, import("./routes.js").Given<import("./routes.js").TaskParams<Routes, URI>, import("./api.js").InvokeOptions>>} useInvoke
 * @property {<Name extends import("./routes.js").MethodName<Routes>>(page: string, method: Name, options?: import("./api.js").KeyedOptions & UnmountOptions) =>
 *   CallState<import("./routes.js").MethodResult<Routes, Name>, import("./routes.js").Given<import("./routes.js").MethodParams<Routes, Name>, import("./api.js").KeyedOptions>>} useCall
 * @property {<URI extends import("./routes.js").TaskURI<Routes>>(uri: URI, ...given: import("./routes.js").Given<import("./routes.js").TaskParams<Routes, URI>, ResultOptions>) =>
 *   CallState<import("./routes.js").TaskResult<Routes, URI>, []>} useResult
 * @property {<Name extends import("./routes.js").Topic<Routes>>(topics: Name | Name[], handler: (event: import("./routes.js").TopicEvent<Routes, Name>) => unknown) => void} useEvent
 * @property {<Name extends import("./routes.js").Topic<Routes>>(topic: Name) => import("./routes.js").TopicEvent<Routes, Name> | undefined} useLatestEvent
 * @property {<URI extends import("./routes.js").PageURI<Routes> = any>() => PageState<import("./routes.js").PageParams<Routes, URI>, import("./routes.js").PageResult<Routes, URI>>} usePage
 * @property {(scheme: string, options?: HostOptions) => Page[]} useHost
 * @property {(pattern: string, handler: import("./api.js").TaskHandler) => void} useTask
 * @property {(name: string, handler: import("./api.js").MethodHandler) => void} useMethod
 */

export {};
