import Logging
import WayPatterns
import WayValues

/// One invocation, as its handler sees it.
public struct Call: Sendable {
  /// The URI as it was called, fragment included.
  public let uri: RouteURI
  /// Query, path and the caller's parameters, merged; the later ones win.
  public let params: ValueObject
  /// What is no business data (`animated`, …), as the caller gave it.
  public let exts: ValueObject
  /// The declared route that is called; nil where a client serves a URI that no route declares.
  public let route: Route?
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
  public var key: CallKey? { waiting?.key }

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
    self.uri = uri
    self.route = route
    self.params = params
    self.exts = exts
    self.navigator = navigator
    self.caller = caller ?? Caller(session: navigator.session)
    waiting = nil
  }

  /// A call that may wait, may carry values of Swift code, and may have a key.
  public init(
    uri: RouteURI, params: ValueObject, exts: ValueObject, route: Route? = nil,
    navigator: any Navigator, caller: Caller? = nil, deadline: ContinuousClock.Instant?,
    carrying: [String: any Sendable] = [:], key: CallKey? = nil,
    progress: @escaping @Sendable (Value) -> Void
  ) {
    self.init(
      uri: uri, params: params, exts: exts, route: route, navigator: navigator,
      caller: caller ?? Caller(session: navigator.session), deadline: deadline,
      carried: Carried(carrying), key: key, progress: progress)
  }

  /// As the session makes it.
  package init(
    uri: RouteURI, params: ValueObject, exts: ValueObject, route: Route?,
    navigator: any Navigator, caller: Caller, deadline: ContinuousClock.Instant?,
    carried: Carried?, key: CallKey? = nil, progress: @escaping @Sendable (Value) -> Void
  ) {
    self.uri = uri
    self.route = route
    self.params = params
    self.exts = exts
    self.navigator = navigator
    self.caller = caller
    waiting = WaitingCall(deadline: deadline, carried: carried, key: key, progress: progress)
  }

  private init(_ call: Call, _ params: ValueObject) {
    uri = call.uri
    route = call.route
    exts = call.exts
    navigator = call.navigator
    caller = call.caller
    waiting = call.waiting
    self.params = params
  }

  /// The same call with other parameters.
  func with(_ params: ValueObject) -> Call { Call(self, params) }

  /// A URI that holds the whole call: where it leads, and all ``params``, those that the path does
  /// not hold in the query.
  ///
  /// Throws ``ParameterError/parameters(_:)`` for parameters that have no place in a URI, such as
  /// objects.
  public func completeURI() throws(ParameterError) -> RouteURI {
    try uri.complete(with: params, pathParams: try route?.pathParams(of: uri) ?? [:], route: route)
  }
}

private final class WaitingCall: Sendable {
  let deadline: ContinuousClock.Instant?
  let carried: Carried?
  let key: CallKey?
  let progress: @Sendable (Value) -> Void

  init(
    deadline: ContinuousClock.Instant?, carried: Carried?, key: CallKey?,
    progress: @escaping @Sendable (Value) -> Void
  ) {
    self.deadline = deadline
    self.carried = carried
    self.key = key
    self.progress = progress
  }
}
