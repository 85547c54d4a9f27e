import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// Something that happened in a bridge. Hooks, events, the log and the metrics each read the one
/// stream of these. Ids, methods, URIs and names in it are what peers sent.
package enum Happening: Sendable {
  /// A session has its first client, or a further one.
  case joined(client: String, name: String?, version: String?, isFirst: Bool)
  /// `code` is that of the close frame; nil where there was none, or where the connection goes on.
  case left(client: String, code: UInt16?)
  /// The connection of a client that may resume was lost; `code` as with ``left(client:code:)``.
  case away(client: String, code: UInt16?)
  /// Such a client has a connection again.
  case back(client: String)
  /// Such a client cannot resume any more: too much waited for it.
  case gaveUp(client: String)
  /// The session goes on from a former life of the server.
  case restored
  /// What is kept of a session cannot be read; it stays where it is, and its clients begin anew.
  case unreadable(reason: String)
  /// Something of a client could not be taken up from a former life of the server.
  case notRestored(client: String, reason: String)
  /// Another server has taken the session over; it ends here.
  case takenOver
  /// It was handed over to another server.
  case handedOver
  case ended
  /// The host of a page is asked.
  case pageAsked(Page)
  /// `after` is how long its host took.
  case pageOpened(Page, after: Duration)
  case pageResumed(Page)
  /// `after` is how long it was on the stack.
  case pageClosed(Page, Outcome, after: Duration)
  case pageFailed(Page, CallError, after: Duration)
  case taskStarted(TaskStart)
  /// `error` is nil where it has a value.
  case taskEnded(TaskStart, error: CallError?, after: Duration)
  /// Who was to run it has left the call to the next.
  case taskDeclined(TaskStart)
  /// The handler of undefined routes, or of failed calls, has answered.
  case handlerAnswered(uri: String, after: Duration)
  /// A call came to no page and no task.
  case routeFailed(uri: String, CallError)
  /// A change of the stack, or a call of a page, was refused or has failed.
  case attemptFailed(FailedOperation, CallError)
  case called(CallRecord)
  /// A host did not answer in time.
  case hostSilent(client: String, method: String)
  /// Swift code threw what its caller is not told but for the number, which is unique in the
  /// process.
  case threw(number: Int, any Error)

  /// Kinds of happenings, so that one test tells whether anybody wants to know.
  package struct Kinds: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Clients and sessions come and go.
    package static let session = Kinds(rawValue: 1)
    package static let page = Kinds(rawValue: 2)
    package static let task = Kinds(rawValue: 4)
    package static let route = Kinds(rawValue: 8)
    package static let call = Kinds(rawValue: 16)
    package static let host = Kinds(rawValue: 32)
    package static let fault = Kinds(rawValue: 64)

    /// What hooks of the router are told.
    static let ofHooks: Kinds = [.page, .task, .route]
  }
}

/// A task that has begun.
package struct TaskStart: Sendable {
  /// Unique in the session.
  package let number: Int
  package let uri: String
  /// The name of the declared route.
  package let route: String?
  package let caller: Caller
  /// In the loop's nanoseconds.
  let began: UInt64
}

/// Is told what happens, on the bridge's loop. What nobody asks for costs a look at a flag.
package struct Observer: Sendable {
  /// What it is told.
  package var kinds: Happening.Kinds = [.session, .host, .fault]
  /// Whether it is told how long each call took, for its own measure: the method's place in
  /// ``CallMeter/names``, and nanoseconds.
  package var timed: (@Sendable (SessionCallMeter.Place, UInt64) -> Void)?
  /// Takes the id of the session, and what happened there.
  package var tell: @Sendable (_ session: String, Happening) -> Void = { _, _ in }
  /// Takes why a connection was closed by what it did, or did not do.
  package var refused: @Sendable (CloseCode, _ reason: String) -> Void = { _, _ in }

  /// Takes why a token of `session.open` was refused.
  package var tokenRefused: @Sendable (_ reason: String) -> Void = { _ in }

  /// Takes why sessions are not kept any more, and nil when they are again.
  package var storeChanged: @Sendable (_ failure: String?) -> Void = { _ in }

  package init() {}
}
