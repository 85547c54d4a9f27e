import Logging
import WayPatterns
import WayValues

/// One invocation, as its handler receives it.
public struct Call: Sendable {
  /// The target of the call: one reference, since a call is passed on often.
  private enum InvocationTarget {
    case match(RouteMatch)
    case explicit(ExplicitTarget)
  }

  private let target: InvocationTarget

  /// The URI as it was called, including its fragment.
  public var uri: RouteURI {
    switch target {
    case .match(let match): match.uri
    case .explicit(let explicit): explicit.uri
    }
  }

  /// The parameters of query, path and caller, merged; later ones win.
  public var params: ValueObject {
    switch target {
    case .match(let match): match.params
    case .explicit(let explicit): explicit.params
    }
  }

  /// The declared route that is called; `nil` if a client serves a URI that no route declares.
  public var route: Route? {
    switch target {
    case .match(let match): match.route
    case .explicit(let explicit): explicit.route
    }
  }

  /// The options that are no business data (`animated`, …), as the caller sent them.
  public let exts: ValueObject
  /// The navigator of the session that the call belongs to, with the rights of the caller.
  public let navigator: any Navigator
  /// The caller of the route.
  public let caller: Caller
  /// The properties that only a call has that may wait, has attachments or has a key. They are
  /// separate so that other calls are passed on cheaply.
  private let context: PendingCallContext?

  /// The instant at which the caller stops waiting; `nil` without a deadline. The task is cancelled
  /// then.
  public var deadline: ContinuousClock.Instant? { context?.deadline }

  /// The idempotency key of the call (`params.key`), which makes retries safe; `nil` if it has
  /// none.
  public var key: RouterIdempotencyKey? { context?.key }

  /// The bridge's logger, which adds the caller and the route to each line: the name of the route,
  /// or the scheme of a URI that no route declares.
  public var logger: Logger {
    var logger = caller.logger
    logger[metadataKey: "route"] = "\(route?.name ?? uri.scheme.map { $0 + ":" } ?? "")"
    return logger
  }

  var attachments: RouterAttachments? { context?.attachments }

  /// Reports the progress of an asynchronous task to the caller. It has no effect after the
  /// response and for a synchronous task. May be called from any thread.
  public func reportProgress(_ value: Value) {
    context?.reportProgress(value)
  }

  /// Creates a call that returns at once; also for tests of a handler. The app is the caller unless
  /// `caller` is given.
  public init(
    uri: RouteURI, params: ValueObject, exts: ValueObject, route: Route? = nil,
    navigator: any Navigator, caller: Caller? = nil
  ) {
    target = .explicit(ExplicitTarget(uri, params, route))
    self.exts = exts
    self.navigator = navigator
    self.caller = caller ?? Caller(session: navigator.session)
    context = nil
  }

  /// Creates a call that may wait, may have attachments, and may have a key.
  public init(
    uri: RouteURI, params: ValueObject, exts: ValueObject, route: Route? = nil,
    navigator: any Navigator, caller: Caller? = nil, deadline: ContinuousClock.Instant?,
    attachments: [String: any Sendable] = [:], key: RouterIdempotencyKey? = nil,
    progress: @escaping @Sendable (Value) -> Void
  ) {
    target = .explicit(ExplicitTarget(uri, params, route))
    self.exts = exts
    self.navigator = navigator
    self.caller = caller ?? Caller(session: navigator.session)
    context = PendingCallContext(
      deadline: deadline, attachments: RouterAttachments(attachments), key: key,
      reportProgress: progress)
  }

  /// Creates a call from the resolution of a URI.
  package init(
    _ resolution: Resolution, exts: ValueObject, navigator: any Navigator, caller: Caller,
    context: PendingCallContext?
  ) {
    target =
      switch resolution {
      case .match(let match): .match(match)
      case .unmatched(let unmatched, let params):
        .explicit(ExplicitTarget(unmatched.uri, params, nil))
      case .navigation(let uri, _, let params): .explicit(ExplicitTarget(uri, params, nil))
      }
    self.exts = exts
    self.navigator = navigator
    self.caller = caller
    self.context = context
  }

  private init(_ call: Call, _ params: ValueObject) {
    target = .explicit(ExplicitTarget(call.uri, params, call.route))
    exts = call.exts
    navigator = call.navigator
    caller = call.caller
    context = call.context
  }

  /// Returns the call with other parameters.
  func with(_ params: ValueObject) -> Call { Call(self, params) }

  /// Returns a URI that holds the whole call: its target and all ``params``. The query holds those
  /// that the path does not.
  ///
  /// Throws ``PatternParameterError/parameters(_:)`` for parameters that a URI cannot hold, such as
  /// objects.
  public func completeURI() throws(PatternParameterError) -> RouteURI {
    try uri.completed(with: params, pathParams: try route?.pathParams(of: uri) ?? [:], route: route)
  }
}

/// A target that is no ``RouteMatch``, or a match with other parameters.
private final class ExplicitTarget: Sendable {
  let uri: RouteURI
  let params: ValueObject
  let route: Route?

  init(_ uri: RouteURI, _ params: ValueObject, _ route: Route?) {
    self.uri = uri
    self.params = params
    self.route = route
  }
}

/// The properties that only a ``Call`` has that may wait, has attachments or has a key.
package final class PendingCallContext: Sendable {
  let deadline: ContinuousClock.Instant?
  let attachments: RouterAttachments?
  let key: RouterIdempotencyKey?
  let reportProgress: @Sendable (Value) -> Void

  package init(
    deadline: ContinuousClock.Instant?, attachments: RouterAttachments?, key: RouterIdempotencyKey?,
    reportProgress: @escaping @Sendable (Value) -> Void
  ) {
    self.deadline = deadline
    self.attachments = attachments
    self.key = key
    self.reportProgress = reportProgress
  }
}
