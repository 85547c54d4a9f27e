import Logging
import WayPatterns
import WayValues

/// One invocation, as its handler sees it.
public struct Call: Sendable {
  /// What is called: one reference, since a call is handed on often.
  private enum Target {
    case match(RouteMatch)
    case other(OtherTarget)
  }

  private let target: Target

  /// The URI as it was called, fragment included.
  public var uri: RouteURI {
    switch target {
    case .match(let match): match.uri
    case .other(let other): other.uri
    }
  }

  /// Query, path and the caller's parameters, merged; the later ones win.
  public var params: ValueObject {
    switch target {
    case .match(let match): match.params
    case .other(let other): other.params
    }
  }

  /// The declared route that is called; nil where a client serves a URI that no route declares.
  public var route: Route? {
    switch target {
    case .match(let match): match.route
    case .other(let other): other.route
    }
  }

  /// What is no business data (`animated`, …), as the caller gave it.
  public let exts: ValueObject
  /// Acts in the session that the call belongs to, with the rights of the caller.
  public let navigator: any Navigator
  /// Who calls.
  public let caller: Caller
  /// What only a call that may wait, carries something or has a key has; apart, so that others are
  /// passed on cheaply.
  private let waiting: WaitingCall?

  /// When the caller stops waiting; nil where it set no deadline. The task is cancelled then.
  public var deadline: ContinuousClock.Instant? { waiting?.deadline }

  /// The key that the call was made under (`params.key`), so that it is made once however often it
  /// is asked for; nil where it has none.
  public var key: IdempotencyKey? { waiting?.key }

  /// The bridge's logger, which tells with each line who calls what: the name of the route, or the
  /// scheme of a URI that no route declares.
  public var logger: Logger {
    var logger = caller.logger
    logger[metadataKey: "route"] = "\(route?.name ?? uri.scheme.map { $0 + ":" } ?? "")"
    return logger
  }

  var carried: Carried? { waiting?.carried }

  /// Tells the caller of an asynchronous task how far it is. After the answer, and for a
  /// synchronous task, it does nothing. May be called from any thread.
  public func progress(_ value: Value) {
    waiting?.progress(value)
  }

  /// A call that is answered at once; also for tests of a handler, where the app calls unless
  /// `caller` is given.
  public init(
    uri: RouteURI, params: ValueObject, exts: ValueObject, route: Route? = nil,
    navigator: any Navigator, caller: Caller? = nil
  ) {
    target = .other(OtherTarget(uri, params, route))
    self.exts = exts
    self.navigator = navigator
    self.caller = caller ?? Caller(session: navigator.session)
    waiting = nil
  }

  /// A call that may wait, may carry values of Swift code, and may have a key.
  public init(
    uri: RouteURI, params: ValueObject, exts: ValueObject, route: Route? = nil,
    navigator: any Navigator, caller: Caller? = nil, deadline: ContinuousClock.Instant?,
    carrying: [String: any Sendable] = [:], key: IdempotencyKey? = nil,
    progress: @escaping @Sendable (Value) -> Void
  ) {
    target = .other(OtherTarget(uri, params, route))
    self.exts = exts
    self.navigator = navigator
    self.caller = caller ?? Caller(session: navigator.session)
    waiting = WaitingCall(
      deadline: deadline, carried: Carried(carrying), key: key, progress: progress)
  }

  /// As the session makes it: of what a URI says.
  package init(
    _ said: Resolution, exts: ValueObject, navigator: any Navigator, caller: Caller,
    waiting: WaitingCall?
  ) {
    target =
      switch said {
      case .match(let match): .match(match)
      case .undeclared(let place, let params): .other(OtherTarget(place.uri, params, nil))
      case .navigation(let uri, _, let params): .other(OtherTarget(uri, params, nil))
      }
    self.exts = exts
    self.navigator = navigator
    self.caller = caller
    self.waiting = waiting
  }

  private init(_ call: Call, _ params: ValueObject) {
    target = .other(OtherTarget(call.uri, params, call.route))
    exts = call.exts
    navigator = call.navigator
    caller = call.caller
    waiting = call.waiting
  }

  /// The same call with other parameters.
  func with(_ params: ValueObject) -> Call { Call(self, params) }

  /// A URI that holds the whole call: where it leads, and all ``params``, those that the path does
  /// not hold in the query.
  ///
  /// Throws ``ParameterError/parameters(_:)`` for parameters that have no place in a URI, such as
  /// objects.
  public func completeURI() throws(PatternParameterError) -> RouteURI {
    try uri.complete(with: params, pathParams: try route?.pathParams(of: uri) ?? [:], route: route)
  }
}

/// What is called that is no ``Match``, or one with other parameters.
private final class OtherTarget: Sendable {
  let uri: RouteURI
  let params: ValueObject
  let route: Route?

  init(_ uri: RouteURI, _ params: ValueObject, _ route: Route?) {
    self.uri = uri
    self.params = params
    self.route = route
  }
}

/// What only a ``Call`` has that may wait, carries something or has a key.
package final class WaitingCall: Sendable {
  let deadline: ContinuousClock.Instant?
  let carried: Carried?
  let key: IdempotencyKey?
  let progress: @Sendable (Value) -> Void

  package init(
    deadline: ContinuousClock.Instant?, carried: Carried?, key: IdempotencyKey?,
    progress: @escaping @Sendable (Value) -> Void
  ) {
    self.deadline = deadline
    self.carried = carried
    self.key = key
    self.progress = progress
  }
}
