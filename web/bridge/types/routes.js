// @ts-check
// The types that typed calls infer from the `Routes` of the file that `waybridge routes generate --language typescript` creates. This file has
// no code. Without a type argument `Routes` is `any`, and the calls accept everything.

/**
 * @template Type
 * @template Then
 * @template Else
 * @typedef {0 extends 1 & Type ? Then : Else} IfAny
 */

/**
 * The entries of one kind: those of `pages`, `tasks` or `topics`, by URI or name.
 * @template Routes
 * @template {string} Kind
 * @typedef {Routes extends {[Key in Kind]: infer Entries} ? Entries : {}} Entries
 */

/**
 * @template Routes
 * @template {string} Kind
 * @typedef {IfAny<Routes, string, keyof Entries<Routes, Kind> & string>} KeyOf
 */

/**
 * One property of an entry.
 * @template Routes
 * @template {string} Kind
 * @template Key
 * @template {string} Member
 * @template [Else=any]
 * @typedef {Key extends keyof Entries<Routes, Kind> ? Entries<Routes, Kind>[Key] extends {[Name in Member]: infer Value} ? Value : Else : Else} Of
 */

/**
 * @template Routes
 * @typedef {KeyOf<Routes, "pages">} PageURI
 */

/**
 * @template Routes
 * @typedef {KeyOf<Routes, "tasks">} TaskURI
 */

/**
 * @template Routes
 * @typedef {PageURI<Routes> | TaskURI<Routes>} AnyURI
 */

/**
 * @template Routes
 * @template URI
 * @typedef {IfAny<Routes, import("./api.js").Params, Of<Routes, "pages", URI, "params">>} PageParams
 */

/**
 * @template Routes
 * @template URI
 * @typedef {IfAny<Routes, any, Of<Routes, "pages", URI, "result"> | null>} PageResult `null` if the page finished without a result
 */

/**
 * @template Routes
 * @template URI
 * @typedef {IfAny<Routes, import("./api.js").Params, Of<Routes, "tasks", URI, "params">>} TaskParams
 */

/**
 * @template Routes
 * @template URI
 * @typedef {IfAny<Routes, any, Of<Routes, "tasks", URI, "result">>} TaskResult
 */

/**
 * Parameters that can be part of a URI: some or all of the route's parameters.
 * @template Routes
 * @template URI
 * @typedef {IfAny<Routes, import("./api.js").Params, Partial<Of<Routes, "pages", URI, "params", {}> & Of<Routes, "tasks", URI, "params", {}>>>} Place
 */

/**
 * The arguments for parameters and options. The parameters can be omitted if none is required.
 * @template Params
 * @template Options
 * @typedef {{} extends Params ? [params?: Params, options?: Options] : [params: Params, options?: Options]} Given
 */

/**
 * The methods of each page that has methods.
 * @template Routes
 * @typedef {Entries<Routes, "pages"> extends infer Pages ? Pages[keyof Pages] extends infer Page ? Page extends {methods: infer All} ? All : never : never : never} Methods
 */

/**
 * @template All
 * @typedef {All extends unknown ? keyof All & string : never} Keys
 */

/**
 * One property of the methods with this name, from all pages that have such a method.
 * @template All
 * @template {string} Name
 * @template {string} Member
 * @typedef {All extends {[Key in Name]: {[Key in Member]: infer Value}} ? Value : never} MethodOf
 */

/**
 * @template Routes
 * @typedef {IfAny<Routes, string, Keys<Methods<Routes>>>} MethodName
 */

/**
 * @template Routes
 * @template {string} Name
 * @typedef {IfAny<Routes, import("./api.js").Params, MethodOf<Methods<Routes>, Name, "params">>} MethodParams
 */

/**
 * @template Routes
 * @template {string} Name
 * @typedef {IfAny<Routes, any, MethodOf<Methods<Routes>, Name, "result">>} MethodResult
 */

/**
 * Topics that the server publishes itself, and prefixes of topics. The type of their data is not known.
 * @typedef {`${"server" | "table" | "route" | "page" | "task" | "session"}.${string}` | `${string}*`} LooseTopic
 */

/**
 * @template Routes
 * @typedef {IfAny<Routes, string, KeyOf<Routes, "topics"> | LooseTopic>} Topic
 */

/**
 * A topic that clients can publish: one that the table declares.
 * @template Routes
 * @typedef {IfAny<Routes, string, KeyOf<Routes, "topics">>} OwnTopic
 */

/**
 * @template Routes
 * @template {string} Name
 * @typedef {Name extends unknown ? {topic: IfAny<Routes, string, Name extends `${string}*` ? string : Name>, data: TopicData<Routes, Name>, at: number, client?: string} : never} TopicEvent
 */

/**
 * @template Routes
 * @template {string} Name
 * @typedef {Name extends keyof Entries<Routes, "topics"> ? Entries<Routes, "topics">[Name] : any} TopicData
 */

/**
 * The arguments for the data of an event and options. The data can be omitted if its type is not known.
 * @template Routes
 * @template {string} Name
 * @typedef {IfAny<Routes, [data?: any, options?: import("./api.js").PublishOptions], [data: TopicData<Routes, Name>, options?: import("./api.js").PublishOptions]>} GivenData
 */

/**
 * @typedef {object} OwnEvents events that the client itself dispatches
 * @property {import("./api.js").StateChange} statechange
 * @property {{code: number, reason: string}} close
 * @property {import("../values/errors.js").BridgeError} error
 * @property {{expiresAt: number}} expiring
 * @property {{page: string} & import("./api.js").PageChanges} resume
 * @property {import("./api.js").TableStamp & {isCurrent: boolean}} tablechange
 */

/**
 * @template Routes
 * @typedef {keyof OwnEvents | IfAny<Routes, `${string}.${string}`, Topic<Routes>>} EventName
 */

/**
 * @template Routes
 * @template {string} Name
 * @typedef {Name extends keyof OwnEvents ? CustomEvent<OwnEvents[Name]> : string extends Name ? CustomEvent<any> : CustomEvent<TopicEvent<Routes, Name>>} EventOf
 */

/**
 * @template Routes
 * @template {string} Name
 * @typedef {((event: EventOf<Routes, Name>) => unknown) | {handleEvent: (event: EventOf<Routes, Name>) => unknown} | null} Listener
 */

export {};
