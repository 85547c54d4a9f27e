import Logging
import WayNavigation
import WayPatterns
import WayValues

/// One invocation, as its handler receives it.
public struct Call: Sendable {
  /// One reference, since a call is passed on often.
  private let target: any CallTarget

  /// The URI as it was called, including its fragment.
  public var uri: RouteURI { target.uri }

  /// The parameters of query, path and caller, merged; later ones win.
  public var params: ValueObject { target.params }

  /// The declared route that is called; `nil` if a client serves a URI that no route declares.
  public var route: Route? { target.declaredRoute }

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
    target = ExplicitTarget(uri, params, route)
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
    self.init(
      ExplicitTarget(uri, params, route), exts: exts, navigator: navigator,
      caller: caller ?? Caller(session: navigator.session),
      context: PendingCallContext(
        deadline: deadline, attachments: RouterAttachments(attachments), key: key,
        reportProgress: progress))
  }

  /// Creates a call of a target.
  init(
    _ target: any CallTarget, exts: ValueObject, navigator: any Navigator, caller: Caller,
    context: PendingCallContext?
  ) {
    self.target = target
    self.exts = exts
    self.navigator = navigator
    self.caller = caller
    self.context = context
  }

  /// Returns the call with other parameters.
  func with(_ params: ValueObject) -> Call {
    Call(
      ExplicitTarget(uri, params, route), exts: exts, navigator: navigator, caller: caller,
      context: context)
  }

  /// Returns a URI that holds the whole call: its target and all ``params``. The query holds those
  /// that the path does not.
  ///
  /// Throws ``PatternParameterError/parameters(_:)`` for parameters that a URI cannot hold, such as
  /// objects.
  public func completeURI() throws(PatternParameterError) -> RouteURI {
    try uri.completed(with: params, pathParams: try route?.pathParams(of: uri) ?? [:], route: route)
  }
}

/// The target of a call, with its parameters.
protocol CallTarget: AnyObject, Sendable {
  var uri: RouteURI { get }
  var params: ValueObject { get }
  /// The route; `nil` if none is declared.
  var declaredRoute: Route? { get }
}

/// A target that was not looked up, or one with other parameters.
final class ExplicitTarget: CallTarget {
  let uri: RouteURI
  let params: ValueObject
  let declaredRoute: Route?

  init(_ uri: RouteURI, _ params: ValueObject, _ route: Route?) {
    self.uri = uri
    self.params = params
    declaredRoute = route
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

extension Call {
  /// Returns a value that the caller, Swift code of this process, attached under a name: a model
  /// object or a closure, for example.
  ///
  /// Throws ``RouterResolutionError/invalidParameters(_:)`` if there is no such value of the type, as in
  /// every call over the wire. If a handler rethrows it, its caller receives the error 2422.
  public func attachment<Model: Sendable>(
    _ name: String, as type: Model.Type = Model.self
  ) throws(RouterResolutionError) -> Model {
    try attachments.value(name, as: type)
  }

  /// Passes a value of any type to a caller that expects it, as with
  /// ``Navigator/invoke(_:params:exts:timeout:attachments:returning:)``. Call this before the
  /// handler returns, and return its result from the handler.
  ///
  /// ```swift
  /// try router.task("action://photo") { call in
  ///   try call.attachResult([UInt8](repeating: 0, count: 64))
  /// }
  /// ```
  ///
  /// Throws ``RouterResolutionError/notOverTheWire(_:)`` if the caller expects a `Value`, as clients do.
  /// If a handler rethrows it, its caller receives the error 2405. Throws ``CallError`` (-32603) if
  /// the caller expects another type.
  public func attachResult<Returned: Sendable>(_ value: Returned) throws -> Value {
    guard let attachments, let expected = attachments.expectedResult else {
      throw RouterResolutionError.notOverTheWire(
        "a \(Returned.self) cannot be returned: only Swift code that calls with returning: can "
          + "receive it"
      )
    }
    guard expected.accepts(value) else {
      throw CallError(
        code: -32603,
        message:
          "\"\(uri.text.brief)\" returns a \(Returned.self), but its caller expects a \(expected.type)"
      )
    }
    attachments.setResult(value)
    return .null
  }

  /// Decodes the parameters as a type. Strings are parsed if the type expects a number or boolean.
  ///
  /// Throws ``RouterResolutionError/invalidParameters(_:)`` with the path of each fault. If a handler
  /// rethrows it, its caller receives 2422.
  public func decode<Parameters: Decodable>(
    _ type: Parameters.Type = Parameters.self
  ) throws(RouterResolutionError) -> Parameters {
    try params.decode(type)
  }
}

extension Page {
  /// Decodes the parameters as a type, as ``Call/decode(_:)`` does.
  public func decode<Parameters: Decodable>(
    _ type: Parameters.Type = Parameters.self
  ) throws(RouterResolutionError) -> Parameters {
    try params.decode(type)
  }
}

extension ValueObject {
  /// Decodes parameters as a type. Throws ``RouterResolutionError/invalidParameters(_:)``.
  func decode<Parameters: Decodable>(
    _ type: Parameters.Type
  ) throws(RouterResolutionError) -> Parameters {
    do { return try decodeParameters(as: type) } catch {
      throw .invalidParameters([PatternParameterFault(path: error.path, message: error.message)])
    }
  }
}
