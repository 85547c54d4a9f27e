import WayPatterns
import WayValues

/// A URI that resolves to no declared route in one snapshot, independent of the caller's
/// parameters. A class, so that it is passed on as one reference.
public final class UnmatchedURI: Sendable {
  /// The URI after all redirects.
  public let uri: RouteURI
  /// The dispatcher of its scheme; `nil` for a scheme without one.
  public let dispatcher: SchemeDispatcher?
  /// Whether its scheme is closed: only patterns that name it serve it.
  package let isClosed: Bool
  /// Whether the resolution is the same for all callers as long as the snapshot is current.
  let isCacheable: Bool
  /// The parameters of the query.
  private let params: ValueObject
  /// Whether the caller's parameters are checked as those of a third party's app.
  private let isThirdParty: Bool

  init(
    _ uri: RouteURI, _ dispatcher: SchemeDispatcher?, params: ValueObject, isClosed: Bool,
    isThirdParty: Bool, isCacheable: Bool
  ) {
    self.uri = uri
    self.dispatcher = dispatcher
    self.params = params
    self.isClosed = isClosed
    self.isThirdParty = isThirdParty
    self.isCacheable = isCacheable
  }

  /// Creates a URI that was not looked up.
  package convenience init(_ uri: RouteURI) {
    self.init(
      uri, nil, params: [:], isClosed: false, isThirdParty: false, isCacheable: false)
  }

  /// Returns the resolution of one call. If `checking` is `false`, parameters that a caller may
  /// still add are not checked.
  func resolution(_ params: ValueObject, checking: Bool) throws(RouterResolutionError) -> Resolution
  {
    var merged = params
    if !self.params.isEmpty {
      merged = self.params
      merged.merge(params)
    }
    if isThirdParty, checking { try RouterSnapshot.checkThirdParty(merged) }
    return .unmatched(self, params: merged)
  }
}
