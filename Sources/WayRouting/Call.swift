import WayValues

/// One invocation, as its handler sees it.
public struct Call: Sendable {
  /// The URI as it was called, fragment included.
  public let uri: RouteURI
  /// Query, path and the caller's parameters, merged; the later ones win.
  public let params: ValueObject
  /// What is no business data (`animated`, …), as the caller gave it.
  public let exts: ValueObject
  /// The session that the call belongs to.
  public let navigator: any Navigator
  /// When the caller stops waiting; nil where it set no deadline. The task is cancelled then.
  public let deadline: ContinuousClock.Instant?
  /// Tells the caller of an asynchronous task how far it is. After the answer, and for a synchronous task, it does
  /// nothing. May be called from any thread.
  public let progress: @Sendable (Value) -> Void

  /// A call as its handler gets it.
  public init(
    uri: RouteURI, params: ValueObject, exts: ValueObject, navigator: any Navigator,
    deadline: ContinuousClock.Instant? = nil,
    progress: @escaping @Sendable (Value) -> Void = { _ in }
  ) {
    self.uri = uri
    self.params = params
    self.exts = exts
    self.navigator = navigator
    self.deadline = deadline
    self.progress = progress
  }
}
