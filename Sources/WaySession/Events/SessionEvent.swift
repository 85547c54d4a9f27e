import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// An event of a bridge. Hooks, subscribers, the log and the metrics all read this one stream. The
/// ids, methods, URIs and names in it are data of peers.
package enum SessionEvent: Sendable {
  /// A client has joined a session, as its first one or a further one.
  indirect case joined(ClientPresence, isFirst: Bool)
  /// A client has left. `code` is the code of the close frame; nil if there was none, or if the
  /// connection continues.
  case left(client: String, code: UInt16?)
  /// A resumable client has lost its connection; `code` as with ``left(client:code:)``.
  case disconnected(client: String, code: UInt16?)
  /// A disconnected client has resumed.
  case reconnected(client: String)
  /// A disconnected client cannot resume any more, because its outbox exceeded the limit.
  case discarded(client: String)
  /// The session was restored from an earlier run of the server.
  case restored
  /// A stored session cannot be read. It stays in the store, and its clients open new sessions.
  case unreadable(reason: String)
  /// Part of a client's state could not be restored from an earlier run of the server.
  case restoreFailed(client: String, reason: String)
  /// Another server has taken the session over; it ends here.
  case takenOver
  /// The session was handed over to another server.
  case handedOver
  /// A gate of the session has opened or closed.
  case gateChanged(GateChange)
  case ended
  /// The host of a page was sent `page.open`.
  case pageRequested(Page)
  /// A page has opened; `after` is the time that its host needed.
  case pageOpened(Page, after: Duration)
  case pageResumed(Page)
  case pageVisibilityChanged(Page, PageVisibility)
  /// A page has closed; `after` is the time that it was on the stack.
  case pageClosed(Page, Outcome, after: Duration)
  case pageFailed(Page, CallError, after: Duration)
  case taskStarted(TaskStart)
  /// A task has ended; `error` is nil if it has a value.
  case taskEnded(TaskStart, error: CallError?, after: Duration)
  /// The handler or host of a task has declined it, so that the next one gets it.
  case taskDeclined(TaskStart)
  /// The handler of undefined routes, or of failed calls, has responded.
  case handlerResponded(uri: String, after: Duration)
  /// A call reached no page and no task.
  case routeFailed(uri: String, CallError)
  /// A change of the stack, or a call of a page, was rejected or has failed.
  case operationFailed(SessionFailedOperation, CallError)
  case callEnded(CallRecord)
  /// A host did not respond in time.
  case hostTimedOut(client: String, method: String)
  /// A client has changed the hosts that it has; `hosts` has the form of `host.register`.
  case hostsChanged(client: String, hosts: [Value])
  /// Interceptors that did not decide at once have decided about a call.
  case interceptorsDecided(InterceptorsDecision)
  /// Swift code threw an error that its caller does not receive. The caller receives only the
  /// number, which is unique in the process.
  case handlerThrew(number: Int, any Error)
  /// A result does not fit its declaration.
  case resultInvalid(InvalidResultReport)

  /// Kinds of events. One test shows whether an event of a kind is wanted.
  package struct EventKinds: OptionSet, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Clients join and leave, and sessions start and end.
    package static let session = EventKinds(rawValue: 1)
    package static let page = EventKinds(rawValue: 2)
    package static let task = EventKinds(rawValue: 4)
    package static let route = EventKinds(rawValue: 8)
    package static let call = EventKinds(rawValue: 16)
    package static let host = EventKinds(rawValue: 32)
    package static let fault = EventKinds(rawValue: 64)
    /// Details of calls and clients, which only inspectors receive.
    static let detail = EventKinds(rawValue: 128)

    /// Changes of the visibility of pages, which cost a look at the whole stack.
    package static let visibility = EventKinds(rawValue: 256)

    /// The kinds that hooks of the router receive.
    static let hooks: EventKinds = [.page, .task, .route, .visibility]
  }
}

/// A result that does not fit its declaration, as its host, inspectors and the log get it.
package struct InvalidResultReport: Sendable, Encodable {
  package let source: InvalidResult.ResultSource
  /// The name of the client that has returned the result, or `server`.
  package let host: String
  package let uri: String
  package let route: String
  /// The method of a page; `nil` for the result of a route.
  package let method: String?
  package let errors: [PatternParameterFault]
  package let isRejected: Bool

  private enum CodingKeys: String, CodingKey {
    case source, host, uri, route, method, errors
    case isRejected = "rejected"
  }

  /// The data of the event and of the record.
  var value: ValueObject { RecordCoder.value(of: self).object ?? [:] }
}

/// A gate that has opened or closed, in the form in which clients receive it.
package struct GateChange: Encodable, Sendable {
  /// The name of the gate.
  package let gate: String
  /// Whether it is open now.
  package let open: Bool
}

/// A task that has started.
package struct TaskStart: Sendable {
  /// The number, unique in the session.
  package let number: Int
  package let uri: String
  /// The name of the declared route.
  package let route: String?
  package let caller: Caller
  /// The start time, in nanoseconds of the loop's clock.
  let startTime: UInt64
}

/// The decision of a call's interceptors.
package struct InterceptorsDecision: Sendable {
  /// The number of the call, unique in the session.
  let call: Int
  let client: String?
  let uri: String?
  /// The names of the interceptors.
  let names: [String]
  let decision: InterceptorChain.ChainDecision
  /// When they began, in nanoseconds of the loop's clock.
  let startTime: UInt64
}

/// Receives events on the bridge's loop. An event that is not wanted costs only the check of a
/// flag.
package struct EventSink: Sendable {
  /// The kinds of events that the sink receives.
  package var kinds: SessionEvent.EventKinds = [.session, .host, .fault]
  /// Receives the duration of each call, if set: the method's index in ``SessionCallMeter/names``, and
  /// nanoseconds.
  package var durationRecorder: (@Sendable (SessionCallMeter.MethodIndex, UInt64) -> Void)?
  /// Receives the id of a session, an event of it, and the client that the event is about; `nil` if
  /// it is about none.
  package var emit: @Sendable (_ session: String, SessionEvent, EventClient?) -> Void = { _, _, _ in
  }
  /// Receives the reason why a connection was closed because of its peer's behavior.
  package var connectionRejected: @Sendable (CloseCode, _ reason: String, EventClient) -> Void = {
    _, _, _ in
  }

  /// Receives the reason why a client's token was rejected.
  package var tokenRejected: @Sendable (_ reason: String, EventClient) -> Void = { _, _ in }

  /// Receives audit records, on any thread; `nil` records nothing.
  package var audit: (@Sendable (AuditRecord) -> Void)?

  /// Receives pushes that have reached no client with a connection, on any thread; it must return at
  /// once. `nil` if there is no push service.
  package var awayPush: (@Sendable (AwayPush) -> Void)?

  /// Receives the reason why a message of another server was rejected. Called on any thread.
  package var peerMessageRejected: @Sendable (_ reason: String) -> Void = { _ in }

  /// Receives the reason why sessions are not stored any more, and nil when they are again.
  package var storeChanged: @Sendable (_ failure: String?) -> Void = { _ in }

  package init() {}
}

/// An operation on the stack or on a page, reported if it fails. A class, so that its call has one
/// reference.
package final class SessionFailedOperation: Sendable {
  /// The method; nil if a URI was called.
  package let method: String?
  /// The URI that was called, or the URI of the page; nil if it is unknown.
  package let uri: String?
  /// Whether the server has added the URI: the caller has named the page by its id.
  let addsURI: Bool
  package let caller: Caller

  init(method: String?, uri: String?, addsURI: Bool, caller: Caller) {
    self.method = method
    self.uri = uri
    self.addsURI = addsURI
    self.caller = caller
  }
}
