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

  /// A call; also for tests of a handler.
  public init(
    uri: RouteURI, params: ValueObject, exts: ValueObject, navigator: any Navigator
  ) {
    self.uri = uri
    self.params = params
    self.exts = exts
    self.navigator = navigator
  }
}
