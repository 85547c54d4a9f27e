// @ts-check
// The shapes of the client's interface, for editors and type checkers: this file has no code.

/**
 * @template [Data=any]
 * @typedef {object} Outcome how a page ended; leaving without a result is an outcome too, never an exception
 * @property {"finished" | "dismissed" | "replaced" | "failed" | "cancelled"} outcome
 * @property {number} code 0, or what the page gave; 2504 where its host is gone
 * @property {string} message
 * @property {Data} data the page's result, null without any
 */

/**
 * @typedef {Record<string, unknown>} Params anything that JSON can carry, by name
 *
 * @typedef {"push" | "present" | "replace" | "root" | "popTo" | "dismissThenPush" | "tab"} Style how a page comes onto the stack
 *
 * @typedef {object} Page a page: one that a host is asked to show, or one on the stack
 * @property {string} id
 * @property {string} uri
 * @property {string | null} route the name of its route, or none
 * @property {Params} params path, query and the caller's parameters, merged
 * @property {Params} [exts] what is not business data, as the opener gave it; only its host is told
 * @property {Style} style what the style that was asked for came to: `push` for a `popTo` that found
 *   no page, for one
 * @property {string} [opener] the id of the page that asked for it; only its host is told
 * @property {"page"} [kind] of a page on the stack
 * @property {string} [host] of a page on the stack: the client that shows it, or `server`
 * @property {Page[]} [pages] of a page on the stack: the modal stack that it presents
 *
 * @typedef {{tabs?: {uri: string, pages?: Page[]}[], selected?: number | null, pages: Page[]}} Stack bottom first; of the tabs,
 *   those that wait have their pages with them
 *
 * @typedef {object} NavigationChange
 * @property {string | null} page the id of the page now on top; null where there is none
 * @property {string[]} closed the ids of the pages that closed, topmost first
 *
 * @typedef {{action: string, action_url?: string, params?: Params}} ActionLink what the table's `actions` are about
 *
 * @typedef {object} Destination where a URI leads
 * @property {boolean} canOpen whether anything opens or runs it now; without, there is no more to tell
 * @property {"page" | "task" | "service"} [kind]
 * @property {string} [route] the name of the declared route
 *
 * @typedef {object} SessionInfo the answer to `session.open`
 * @property {string} session
 * @property {string} client
 * @property {string} token
 * @property {string} [joinToken] with it, and the session's id, another client may join with all rights; a guest gets none
 * @property {true} [guest] whether the client is here by invitation
 * @property {string} [page] the id of the page in which the client runs
 * @property {number | null} [expiresAt] when the client's token does, in milliseconds since 1970
 * @property {string} epoch
 * @property {string} protocol
 * @property {{name: string, version: string}} server
 * @property {Record<string, number>} limits `maxMessage` and the others that the protocol names
 * @property {import("./table.js").TableStamp} table
 * @property {string[]} capabilities
 *
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal] aborting cancels the call
 * @property {number} [timeout] milliseconds until the page is shown, or the task done
 * @property {(value: any) => void} [onProgress] gets each progress value; of an opened page first `{opened: {page}}`
 * @property {import("./serving.js").Served} [onBehalfOf] the request for whose caller it is made; the functions of a `Deputy` fill it in
 *
 * @typedef {CallOptions & {key?: string}} KeyedOptions `key`, of 1 to 128 bytes: one call is made under it in the session, however often
 *   it is asked for, and all get its result. A call that has one is asked again when the session is lost
 *
 * @typedef {KeyedOptions & {exts?: Params}} InvokeOptions
 *
 * @typedef {object} OpenExtras
 * @property {Style} [style] default: the route's, mostly `push`
 * @property {string} [from] the id of the page that opens
 * @typedef {InvokeOptions & OpenExtras} OpenOptions
 *
 * @typedef {object} BackOptions at most one of `count`, `to`, `before` and `root`; none is one page back
 * @property {number} [count]
 * @property {string} [to] a page's id, URI or the name of its route, the page that is on top then
 * @property {string} [before] a page's id, URI or the name of its route; the page under it is on top then
 * @property {true} [root]
 * @property {unknown} [result] for the opener of the lowest page that closes
 * @property {number} [code] goes with the result
 * @property {string} [message] goes with the result
 * @property {Params} [exts] how to take the pages away; reaches their hosts
 *
 * @typedef {object} FinishOptions
 * @property {string} [page] the id of a page; default: the one in which this client runs
 * @property {number} [code] goes with the result
 * @property {string} [message] goes with the result
 * @property {Params} [exts] how to take the page away, and those above it; reaches their hosts
 *
 * @typedef {object} PageHost what shows the pages of a scheme
 * @property {(page: Page, call: {signal: AbortSignal, restored?: true} & Deputy) => unknown} open shows the page, perhaps later; throwing (or
 *   rejecting) refuses it, and with `Declined` leaves it to who comes next. `restored`: it was shown before this client's own page was
 *   loaded again, or the server was restarted; who it was opened for is not told then, and the functions are those of this client itself
 * @property {(page: Page, reason: Outcome["outcome"], exts: Params) => unknown} close takes the
 *   page away; `exts` are those of the back, finish or opening that closed it, `{}` without any
 * @property {(page: Page) => unknown} [resume] the page is on top again
 * @property {string[]} [patterns] only URIs that fit one of these
 * @property {Record<string, MethodHandler>} [methods] what others may call of a page that it shows
 *
 * @typedef {object} Deputy what a handler does for its caller: the functions of `Bridge` of these names, with the caller's rights, as far as
 *   this client's own go; who calls a method of the app's own is the app, which may do everything. Once the handler has answered, the
 *   server was restarted, or the session is lost, they reject with -32602
 * @property {import("./caller.js").Caller["open"]} open
 * @property {import("./caller.js").Caller["invoke"]} invoke
 * @property {import("./caller.js").Caller["canOpen"]} canOpen
 * @property {import("./caller.js").Caller["call"]} call
 *
 * @typedef {object} TaskRun
 * @property {string} uri
 * @property {Params} exts
 * @property {AbortSignal} signal aborted when the caller cancels, the server is restarted, or the session is lost
 * @property {(value: unknown) => void} progress
 * @typedef {TaskRun & Deputy} TaskCall
 *
 * @typedef {(params: any, call: TaskCall) => unknown} TaskHandler its (awaited) value is the task's
 *
 * @typedef {object} MethodRun
 * @property {AbortSignal} signal aborted when the caller cancels, the server is restarted, or the session is lost
 * @property {(value: unknown) => void} progress
 * @property {Page | {id: string}} [page] the page that was called; whole where this client shows it
 * @typedef {MethodRun & Deputy} MethodCall
 *
 * @typedef {(params: any, call: MethodCall) => unknown} MethodHandler its (awaited) value is the answer
 *
 * @typedef {{topic: string, data: any, at: number}} BridgeEvent `at`: milliseconds since 1970, by the server's clock
 *
 * @typedef {(event: BridgeEvent) => unknown} EventHandler
 *
 * @typedef {(() => Promise<void>) & {registered: Promise<void>}} Unregister takes a host or a subscription back; `registered` settles when the server has it
 *
 * @typedef {"connecting" | "open" | "waiting" | "closed"} State `waiting`: to connect again; `closed`: for good
 *
 * @typedef {object} StateChange
 * @property {State} state
 * @property {number} attempt the try that is made or waited for, counted since there was a session; 0 while there is one
 * @property {number} [delay] milliseconds until the next try, of `waiting`
 * @property {number} [code] how the connection closed, of `waiting` and `closed`
 * @property {string} [reason] why
 * @property {import("./errors.js").BridgeError} [error] the error behind it
 * @property {Lost} [lost] what is gone, of `open` in a session in place of one that could not go on
 * @property {true} [restarted] of `open` in a session that goes on although its server was restarted: what that was doing for a call
 *   without a key ends with `OutcomeUnknown`, what it had this client do is aborted, and hosts are asked for their pages again
 *
 * @typedef {object} Lost
 * @property {string} reason why the session could not go on: `unknown` to the server (its time has passed, or the server has begun
 *   anew), `token`, `epoch`, `gap`, `outbox` (too much waited for this client), `connection` where it could not be tried, or, of calls of
 *   a session that goes on, `server`
 * @property {{method: string, uri?: string, key?: string}[]} calls of `open`, `invoke` and `call`, which rejected: nobody knows whether they
 *   were carried out
 * @property {string[]} pages the ids of those that this client showed
 *
 * @typedef {object} PendingCall a call that was made before the page was loaded again
 * @property {string} id
 * @property {string} [key]
 * @property {string} method `router.open`, `router.invoke`, `page.call`
 * @property {string} [uri]
 * @property {Promise<any>} result as of the call itself
 *
 * @typedef {object} ReconnectOptions
 * @property {number} [minDelay] milliseconds before the second try, doubled before each further one; 500. Half of a delay is random
 * @property {number} [maxDelay] milliseconds, the longest delay; 30000
 * @property {number} [attempts] tries that may fail in a row before the bridge closes; without end, with a `fallback` 1
 *
 * @typedef {object} InviteOptions what a guest may do; without any it may call, and hosts nothing
 * @property {string} [page] the id of the page in which it runs, to which it is bound
 * @property {string[]} [hosts] schemes and patterns that it may host
 * @property {string[]} [routes] patterns that it may call, and no others
 * @property {string[]} [groups] of the inviter's, in which it is too
 * @property {number} [uses] how many guests there may be at one time; 1
 * @property {number} [expires] milliseconds in which it has to come; 60000
 * @property {string} [frame] a name that no other frame has at the time: when a frame of that name is made anew, since its parent was
 *   loaded again, what runs in it goes on with its session; default: the id of the page
 *
 * @typedef {object} Invitation what the address of an invited page carries
 * @property {string} url of the endpoint
 * @property {string} session
 * @property {string} token
 * @property {string} [frame] by which the page finds what it has kept when its frame is made anew
 *
 * @typedef {{session: string, token: string}} Join `token` is the session's `joinToken`, or that of an invitation
 *
 * @typedef {object} Parts what a client may have besides what calls need, each from an entry point of its own; a `Bridge` has them all
 * @property {ResumePart} [resume] its session goes on when the connection is lost, and a connection that is dead is found out
 * @property {ReloadPart} [reload] its session goes on when the page is loaded again, too
 * @property {EventsPart} [events] hears what is published, when its token expires, and of another route table
 * @property {typeof import("./admission.js").admission} [admission] finds out why a server does not let it in
 * @property {import("./fallback.js").Fallback} [fallback] stands in where there is no bridge
 * @property {unknown} [duties] what a `Host` has of its own
 *
 * @typedef {(client: any, options: BridgeOptions) => any} EventsPart the part `events`
 *
 * @typedef {object} ResumePart the part `resume`
 * @property {(client: any, options: BridgeOptions) => any} resumption
 * @property {(client: any, options: BridgeOptions) => any} liveness
 *
 * @typedef {object} ReloadPart the part `reload`
 * @property {ResumePart} resume
 * @property {(page: any) => any} keeping what keeps the invitation of a page
 * @property {(client: any, options: BridgeOptions) => any} store what keeps its session
 *
 * @typedef {object} BridgeOptions
 * @property {string | URL | null} [url] of the endpoint; default: the one that the page was invited to, else `/bridge` of its own server;
 *   `null`: there is no bridge
 * @property {new (url: string, protocols: string[]) => WebSocket} [WebSocket] where the platform has none
 * @property {{name: string, version: string, platform?: string}} [client]
 * @property {Join | (() => Join | Promise<Join>)} [join] the session to become a member of; default: the one that the page was invited to,
 *   unless there is a `url`. A function is asked again before each connection, since a session ends with its server
 * @property {string} [page] the id of the page in which this client runs; default: the one that it was invited for
 * @property {string[]} [bridges] origins, such as `wss://bridge.example.org`, of which the page's address may invite it, beside those of its own
 *   host and of this machine: anybody can make an address
 * @property {string | (() => string | Promise<string>)} [token] who the client is; a function is asked again before each connection,
 *   and before the token expires
 * @property {Record<string, PageHost>} [hosts] by scheme, as with `host`
 * @property {Record<string, TaskHandler>} [tasks] by URI or pattern, as with `task`
 * @property {Record<string, MethodHandler>} [methods] by name, as with `method`
 * @property {Record<string, TaskHandler>} [fallback] of a `Bridge`, by URI, pattern or scheme: what `open` and `invoke` do where there is no bridge
 * @property {import("./table.js").TableStamp} [table] the route table for which the page was made: `tablechange` tells when the server has another
 * @property {ReconnectOptions | false} [reconnect] `false`: the first connection is the last
 * @property {"reload" | "connection" | "nothing"} [keep] over what the session goes on: lost connections and reloads of the page, with
 *   what that keeps in `sessionStorage`; lost connections alone, which is also what it comes to outside of a page; or nothing. Default:
 *   `reload`
 * @property {{after?: number, timeout?: number} | false} [ping] milliseconds of silence before it asks whether the server is there, 25000,
 *   and until it connects again without an answer, 10000. `false`: it never asks
 * @property {number} [connectTimeout] milliseconds until a connection has its session; 10000
 * @property {{count?: number, bytes?: number}} [queue] how many calls may wait for a connection; 256, of 1 MiB together
 * @property {import("./admission.js").Fetch} [fetch] asks a server that does not let in why; default: the platform's, in a page
 * @property {import("./clock.js").Clock} [clock] for tests
 */

export {};
