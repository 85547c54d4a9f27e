// @ts-check
// Types of the client's API, for editors and type checkers. This file has no code.

/** @typedef {{version: string, hash?: string}} TableStamp identifies a route table; `hash` distinguishes tables with the same version */

/**
 * @template [Data=any]
 * @typedef {Finished<Data> | Unfinished} Outcome how a page ended; closing it without a result is an outcome too, never an exception. The
 *   type has `data` only after a check: `if (result.outcome === "finished") use(result.data)`
 */

/**
 * @template [Data=any]
 * @typedef {object} Finished the outcome of a page that returned a result
 * @property {"finished"} outcome
 * @property {number} code 0, or a code of the page
 * @property {string} message a message of the page; empty if it has none
 * @property {Data} data the result; `null` if the page finished without one
 */

/**
 * @typedef {object} Unfinished the outcome of a page that returned no result
 * @property {"dismissed" | "replaced" | "failed" | "cancelled"} outcome
 * @property {number} code 0, or an error code: 2504 if the host of the page left
 * @property {string} message describes the error; empty if there is none
 */

/**
 * @typedef {Record<string, unknown>} Params values by name; each must be representable in JSON
 *
 * @typedef {"push" | "present" | "replace" | "root" | "popTo" | "dismissThenPush" | "tab"} Style how a page enters the stack
 *
 * @typedef {object} Page a page that a host has to show, or a page on the stack
 * @property {string} id
 * @property {string} uri
 * @property {string | null} route the name of its route; `null` if it has none
 * @property {Params} params the parameters of path, query and call, merged
 * @property {Params} [exts] presentation data from the opener, such as `animated`; only the page's host receives it
 * @property {Style} style the style that took effect. It can differ from the requested one: a `popTo` that finds no page becomes a
 *   `push`
 * @property {string} [opener] the id of the page that opened it; only the page's host receives it
 * @property {string} [under] of `editStack`: the id of the page that will lie directly over it, if it does not come on top; only the page's host
 *   receives it
 * @property {"page"} [kind] only of a page on the stack
 * @property {string} [host] only of a page on the stack: the id of the client that shows it, or `server`
 * @property {Page[]} [pages] only of a page on the stack: the modal stack that it presents
 *
 * @typedef {{tabs?: {uri: string, pages?: Page[]}[], selected?: number | null, pages: Page[]}} Stack the open pages, bottom first.
 *   `pages` of a tab: the pages of a tab that is not selected
 *
 * @typedef {object} NavigationChange
 * @property {string | null} page the id of the page now on top; `null` if no page is open
 * @property {string[]} closed the ids of the pages that closed, topmost first
 * @property {string[]} [opened] of `editStack`: the ids of the pages that it has opened, lowest first
 *
 * @typedef {object} PageRange the pages to remove, among those that are shown: `page`, `from`, `above` or `all`. A page is named by its id, its
 *   URI or the name of its route
 * @property {string} [page] one page; those above it stay
 * @property {string} [from] the pages from this one to the top, or through another one
 * @property {string} [through] with `from`: the other end of the range
 * @property {string} [above] all pages above this one
 * @property {true} [all] all pages of the selected tab, or of no tab, with the modals over them
 *
 * @typedef {object} AddedPage a page to open
 * @property {string} uri
 * @property {Params} [params]
 * @property {Params} [exts]
 * @property {"push" | "present"} [style] default: that of the route if it is `present`, and `push` otherwise
 *
 * @typedef {object} StackEdit
 * @property {PageRange} [remove]
 * @property {AddedPage[]} [open] the pages that come in their place, or on top, lowest first; at most 32. No client waits for their outcomes
 * @property {Params} [exts] how to close the pages, such as `animated`; their hosts receive it
 * @property {string} [key] idempotency key: the edit is carried out once
 * @property {number} [timeout] milliseconds until the hosts have agreed
 * @property {AbortSignal} [signal] cancels the edit
 *
 * @typedef {{action: string, action_url?: string, params?: Params}} ActionLink a link that the table's `actions` translate to a URI
 *
 * @typedef {object} DeliverExtras
 * @property {string} [key] an idempotency key: the session follows one deep link for each key. Platforms can deliver a link twice
 * @property {Style} [style] default: the style of the route
 * @property {Params} [exts] presentation data for the page's host
 * @typedef {CallOptions & DeliverExtras} DeliverOptions
 *
 * @typedef {object} Destination the route that a URI resolves to
 * @property {boolean} canOpen whether a host or handler can open or run it now; if not, the other properties are absent
 * @property {"page" | "task" | "service"} [kind]
 * @property {string} [route] the name of the declared route
 * @property {true} [absent] its host has lost its connection; a call waits until the host is back or gone
 *
 * @typedef {object} SessionInfo the result of `session.open`
 * @property {string} session
 * @property {string} client
 * @property {string} token
 * @property {string} [joinToken] with this token and the session's id another client can join with all rights; a guest receives none
 * @property {true} [guest] whether the client joined by invitation
 * @property {string} [page] the id of the page in which the client runs
 * @property {number | null} [expiresAt] when the client's token expires, in milliseconds since 1970
 * @property {string} epoch
 * @property {string} protocol
 * @property {{name: string, version: string}} server
 * @property {Record<string, number>} limits the server's limits by name, such as `maxMessage`
 * @property {TableStamp} table
 * @property {string[]} capabilities
 *
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal] cancels the call when it is aborted
 * @property {number} [timeout] milliseconds within which the page must be shown or the task must return
 * @property {(value: any) => void} [onProgress] receives each progress value. For an opened page the first one is `{opened: {page}}`
 * @property {import("../calls/incoming-requests.js").RequestReference} [onBehalfOf] the request whose caller the call is made for; the functions of a `Delegation` set it
 *
 * @typedef {CallOptions & {key?: string}} KeyedOptions `key`: an idempotency key of 1 to 128 bytes. The session makes one call for each
 *   key; repeated calls with the key return its result. If the session is lost, the client sends a call with a key again
 *
 * @typedef {KeyedOptions & {exts?: Params}} InvokeOptions
 *
 * @typedef {object} OpenExtras
 * @property {Style} [style] default: the style of the route, usually `push`
 * @property {string} [from] the id of the page that opens this page
 * @typedef {InvokeOptions & OpenExtras} OpenOptions
 *
 * @typedef {object} BackOptions how far to go back: at most one of `count`, `to`, `before` and `root`. Default: one page
 * @property {number} [count] number of pages to close
 * @property {string} [to] the page that becomes the top page: its id, its URI or the name of its route
 * @property {string} [before] the lowest page to close: its id, its URI or the name of its route
 * @property {true} [root] goes back to the root page
 * @property {unknown} [result] the result for the opener of the lowest page that closes
 * @property {number} [code] goes with the result
 * @property {string} [message] goes with the result
 * @property {Params} [exts] how to close the pages, such as `animated`; their hosts receive it
 *
 * @typedef {object} FinishOptions
 * @property {string} [page] the id of the page to close; default: the page in which this client runs
 * @property {number} [code] goes with the result
 * @property {string} [message] goes with the result
 * @property {Params} [exts] how to close the page and those above it, such as `animated`; their hosts receive it
 *
 * @typedef {object} Leave an operation that would close a page
 * @property {string} page the id of the page
 * @property {"dismissed" | "replaced"} reason the outcome that the page would have
 * @property {{page: string, uri?: string, route?: string}} [to] the page that would be on top, if there would be one; without `uri` and `route`
 *   if this client may not see it
 * @property {object} caller the caller of the operation
 * @property {AbortSignal} signal aborted when no operation waits for the response any more
 *
 * @typedef {(leave: Leave) => boolean | string | void | PromiseLike<boolean | string | void>} LeaveGuard decides whether a page may close. `false`, or a
 *   string as the reason, keeps it open
 *
 * @typedef {object} GuardOptions
 * @property {string} [page] the id of the page; default: the page in which this client runs
 * @property {number} [timeout] milliseconds within which the guard must decide, otherwise the page stays open; at most 60000, default: 30000
 *
 * @typedef {object} InterceptorScope the calls that an interceptor sees; at least one of `scheme`, `patterns` and `groups`
 * @property {string} [scheme] those of URIs with this scheme
 * @property {string[]} [patterns] limits them to URIs that match one of these patterns
 * @property {string[]} [groups] also those of the routes in these groups of the table
 * @property {number} [priority] among all interceptors; the highest one sees a call first. Default: 0
 * @property {number} [timeout] milliseconds within which the handler must decide, otherwise the call is refused; at most 300000, default: 60000
 *
 * @typedef {object} InterceptedCall a call that an interceptor decides about
 * @property {string} uri its URI after redirects
 * @property {Params} params the parameters of URI and caller, merged
 * @property {Params} exts
 * @property {string | null} route the name of the declared route
 * @property {object} caller
 * @property {AbortSignal} signal aborted when the call does not wait any more
 *
 * @typedef {void | null | {params: Params} | {redirect: string, params?: Params} | {refuse: string}} Interception what becomes of a call: it
 *   continues, it continues with these parameters instead of all that it has, it continues with another URI, or it fails with 2423 and this reason
 *
 * @typedef {(call: InterceptedCall) => Interception | PromiseLike<Interception>} InterceptorHandler decides about a call
 *
 * @typedef {{name: string, open: boolean}} Gate a condition that calls wait for, and whether it is met in the session
 *
 * @typedef {object} PageHost the functions that show the pages of a scheme
 * @property {(page: Page, call: {signal: AbortSignal, restored?: true} & Delegation) => unknown} open shows the page; may return a promise.
 *   If it throws or rejects, the page is not opened; `DeclinedError` leaves the call to the next host. `restored`: the page was shown before
 *   this client's own page was reloaded or the server was restarted. The functions of the `Delegation` then call as this client itself,
 *   because the original caller is not known
 * @property {(page: Page, reason: Outcome["outcome"], exts: Params) => unknown} close removes the page from the screen. `exts` are those
 *   of the back, finish or open call that closed it; `{}` if it has none
 * @property {(page: Page, changes: PageChanges) => unknown} [resume] called when the page is on top again, and when a call that found it open has
 *   changed its URI, parameters or `exts`. `page` has these changes already
 * @property {string[]} [patterns] limits the host to URIs that match one of these patterns
 * @property {Record<string, MethodHandler>} [methods] methods of its pages that other clients can call
 *
 * @typedef {Partial<Pick<Page, "uri" | "params" | "exts">>} PageChanges what a call has changed of a page that was open already. Empty if the page
 *   is only on top again
 *
 * @typedef {object} Delegation calls that a handler makes for its caller: the `Bridge` functions of these names, with only those rights that
 *   both the caller and this client have. The caller of one of the app's own methods is the app, which has all rights. These functions
 *   reject with -32602 once the handler has returned, or its `signal` was aborted by a restart of the server or a lost session
 * @property {import("../caller.js").Caller["open"]} open
 * @property {import("../caller.js").Caller["invoke"]} invoke
 * @property {import("../caller.js").Caller["canOpen"]} canOpen
 * @property {import("../caller.js").Caller["call"]} call
 *
 * @typedef {object} KeyedRun
 * @property {string} [key] the idempotency key of the call, if it has one
 * @property {<Value>(work: () => Value | Promise<Value>) => Promise<Value>} once runs `work` at most once for the key, and returns its result, or
 *   rejects with its error, for each request of the same call. The result must be representable in JSON. It is kept for ten minutes, also over
 *   a reload of the page if `keep` is `reload`. Without a key, `work` just runs. A handler can call it a single time
 *
 * @typedef {object} TaskDetails
 * @property {string} uri
 * @property {Params} exts
 * @property {AbortSignal} signal aborted when the caller cancels, the session is lost, or the server is restarted and the call has no `key`
 * @property {(value: unknown) => void} progress
 * @typedef {TaskDetails & KeyedRun} TaskRun
 * @typedef {TaskRun & Delegation} TaskCall the context of a task
 *
 * @typedef {(params: any, call: TaskCall) => unknown} TaskHandler returns the value of the task, or a promise of it
 *
 * @typedef {object} MethodDetails
 * @property {AbortSignal} signal aborted when the caller cancels, the session is lost, or the server is restarted and the call has no `key`
 * @property {(value: unknown) => void} progress
 * @property {Page | {id: string}} [page] the called page; only its id if another client shows it
 * @typedef {MethodDetails & KeyedRun} MethodRun
 * @typedef {MethodRun & Delegation} MethodCall
 *
 * @typedef {(params: any, call: MethodCall) => unknown} MethodHandler returns the result of the call, or a promise of it
 *
 * @typedef {{topic: string, data: any, at: number, client?: string}} BridgeEvent a published event. `at`: the server's time in milliseconds since
 *   1970. `client`: the id of the client that published it; absent if the server or the app did
 *
 * @typedef {(event: BridgeEvent) => unknown} EventHandler
 *
 * @typedef {(() => Promise<void>) & {registered: Promise<void>}} Unregister removes a host or a subscription. `registered` resolves when the
 *   server has accepted the registration, and rejects if the server rejects it
 *
 * @typedef {"connecting" | "open" | "waiting" | "closed"} State `waiting`: until the next attempt to connect; `closed`: permanently
 *
 * @typedef {object} StateChange
 * @property {State} state
 * @property {number} attempt the number of the current or next attempt to connect since there was a session; 0 while there is a session
 * @property {number} [delay] only of `waiting`: milliseconds until the next attempt
 * @property {number} [code] only of `waiting` and `closed`: the code with which the connection closed
 * @property {string} [reason] only of `waiting` and `closed`: why the connection closed
 * @property {import("../values/errors.js").BridgeError} [error] the error that caused it
 * @property {Lost} [lost] only of `open`, in a session that replaces a lost one: what was lost with it
 * @property {true} [restarted] only of `open`, in a session that continues after its server was restarted. Calls without a key that the server
 *   was working on reject with `OutcomeUnknownError`; requests to this client without a key are aborted; hosts report their pages to the
 *   server again
 *
 * @typedef {object} Lost what was lost
 * @property {string} reason why the session could not be resumed: `unknown` to the server (it has expired, or the server has restarted without
 *   it), `token`, `epoch`, `gap`, `outbox` (too many messages were waiting for this client), `connection` (resuming was not possible). In a
 *   session that continues, `server`: the server lost these calls
 * @property {{method: string, uri?: string, key?: string}[]} calls calls of `open`, `invoke` and `call` that were rejected because it is not
 *   known whether they took effect
 * @property {string[]} pages the ids of the pages that this client showed
 *
 * @typedef {object} PendingCall a call that was made before the page was reloaded
 * @property {string} id
 * @property {string} [key]
 * @property {string} method `router.open`, `router.invoke` or `page.call`
 * @property {string} [uri]
 * @property {Promise<any>} result settles like the call itself
 *
 * @typedef {object} ReconnectOptions
 * @property {number} [minDelay] milliseconds before the second attempt, doubled before each further one; default: 500. Half of a delay is random
 * @property {number} [maxDelay] longest delay in milliseconds; default: 30000
 * @property {number} [attempts] number of consecutive failures after which the bridge closes; default: no limit, or 1 with a `fallback`
 *
 * @typedef {CallOptions & {retain?: number}} PublishOptions `retain`: the number of events of the topic that the server keeps for later subscribers,
 *   from 0 to 100; default: 0
 *
 * @typedef {{delivered: number, waiting: number}} PublishReceipt the number of clients that subscribe to the topic: those with a connection, among
 *   them the publisher, and those that get the event when they are back
 *
 * @typedef {object} PresentClient a client of the session
 * @property {string} client its id
 * @property {string} [name] name of the program, as the client reports it
 * @property {string} [version] version of the program
 * @property {string} [platform] platform of the program
 * @property {string} [page] the id of the page in which it runs
 * @property {string} [user] the user of its token; a guest has the user of its inviter
 * @property {true} [guest] present for a guest
 * @property {{id?: string, name?: string, version?: string, for?: string}} [agent] present for an AI agent: the client id in its token, what it states, and the user for whom it acts
 * @property {true} [away] present if it has lost its connection and may resume
 *
 * @typedef {object} InviteOptions the rights of a guest. Without options it can call all routes and host nothing
 * @property {string} [page] the id of the page in which the guest runs, and to which it is bound
 * @property {string[]} [hosts] schemes and patterns that the guest can host
 * @property {string[]} [routes] patterns that the guest can call; it can call no others
 * @property {string[]} [groups] groups of the inviter to which the guest also belongs
 * @property {string[]} [topics] topics that the guest can publish; a `*` at the end matches any rest. Default: none
 * @property {number} [uses] how many guests can use the invitation at the same time; default: 1
 * @property {number} [expires] milliseconds within which the guest must join; default: 60000
 * @property {string} [frame] a name for the frame that no other frame has at that time. When its parent is reloaded and creates a frame with the
 *   same name, the page in it resumes its session. Default: the id of the page
 *
 * @typedef {object} Invitation the content of an invitation in the URL of an invited page
 * @property {string} url of the endpoint
 * @property {string} session
 * @property {string} token
 * @property {string} [frame] the name under which the page finds its stored state when its frame is recreated
 *
 * @typedef {{session: string, token: string}} Join `token` is the session's `joinToken`, or the token of an invitation
 *
 * @typedef {object} Parts optional parts of a client, each from its own entry point; a `Bridge` has all of them
 * @property {ResumePart} [resume] resumes the session after a lost connection, and detects a dead connection
 * @property {ReloadPart} [reload] also resumes the session after a reload of the page
 * @property {EventsPart} [events] receives published events, and reports an expiring token and a changed route table
 * @property {typeof import("../admission.js").admission} [admission] finds out why a server rejects the connection
 * @property {import("../fallback.js").Fallback} [fallback] handles calls when there is no bridge
 * @property {unknown} [hosts] the additional functions of a `Host`
 *
 * @typedef {(client: any, options: BridgeOptions) => any} EventsPart the part `events`
 *
 * @typedef {object} ResumePart the part `resume`
 * @property {(client: any, options: BridgeOptions) => any} resumption
 * @property {(client: any, options: BridgeOptions) => any} liveness
 *
 * @typedef {object} ReloadPart the part `reload`
 * @property {ResumePart} resume
 * @property {(page: any) => any} invitations creates the store for the page's invitation
 * @property {(client: any, options: BridgeOptions) => any} store creates the store for the client's session
 *
 * @typedef {object} BridgeOptions
 * @property {string | URL | null} [url] URL of the endpoint. Default: the one in the page's invitation, or `/bridge` on the page's own server.
 *   `null`: there is no bridge
 * @property {new (url: string, protocols: string[]) => WebSocket} [WebSocket] the WebSocket class; default: that of the platform
 * @property {{name: string, version: string, platform?: string}} [client] describes this client to the server
 * @property {Join | (() => Join | Promise<Join>)} [join] the session to join. Default, if there is no `url`: the session of the page's invitation.
 *   A function is called before each connection, because a session can end with its server
 * @property {string} [page] the id of the page in which this client runs; default: the page of the invitation
 * @property {string[]} [bridges] origins, such as `wss://bridge.example.org`, that an invitation in the page's URL can name, in addition to the
 *   page's own origin. The list is needed because anyone can create a link to the page
 * @property {boolean} [onlyShellInvites] ignores invitations in the page's URL and of its earlier loads, for a page that only an app shell shows.
 *   Then nobody can create a link that makes the page join another session
 * @property {string | (() => string | Promise<string>)} [token] the token that authenticates the client. A function is called before each
 *   connection and before the token expires
 * @property {Record<string, PageHost>} [hosts] page hosts by scheme, as for `host`
 * @property {Record<string, TaskHandler>} [tasks] task handlers by URI or pattern, as for `task`
 * @property {Record<string, MethodHandler>} [methods] method handlers by name, as for `method`
 * @property {Record<string, TaskHandler>} [fallback] only of a `Bridge`: handlers of `open` and `invoke` when there is no bridge, by URI, pattern or scheme
 * @property {TableStamp} [table] the route table that the page was built for; `tablechange` reports when the server has another
 * @property {ReconnectOptions | false} [reconnect] `false`: the client does not reconnect
 * @property {"reload" | "connection" | "nothing"} [keep] what the session outlives. `reload` (default): lost connections and reloads of the page;
 *   the state for that is in `sessionStorage`. `connection`: only lost connections, which is also the effect of `reload` outside of a page.
 *   `nothing`: the session ends with its connection
 * @property {{after?: number, timeout?: number} | false} [ping] `after`: milliseconds without a message after which the client sends a ping;
 *   default: 25000. `timeout`: milliseconds without a response after which it reconnects; default: 10000. `false`: no pings
 * @property {number} [connectTimeout] milliseconds within which a new connection must have its session; default: 10000
 * @property {{count?: number, bytes?: number}} [queue] how many calls can wait for a connection, and their total size; default: 256 calls, 1 MiB
 * @property {import("../admission.js").Fetch} [fetch] finds out why a server rejects the connection; default: `fetch` of the platform, in a page
 * @property {import("../connection/clock.js").Clock} [clock] clock for tests
 */

export {};
