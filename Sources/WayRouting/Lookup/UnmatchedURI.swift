import WayPatterns
import WayValues

/// A URI that leads to no declared route in one snapshot, without anything of the caller's. A class,
/// so that it is handed on as one reference.
public final class UnmatchedURI: Sendable {
  /// The URI, as the redirects have left it.
  public let uri: RouteURI
  /// That of its scheme; nil for a scheme that has none.
  public let dispatcher: SchemeDispatcher?
  /// Whether its scheme is for what names it alone.
  package let isClosed: Bool
  /// Whether the same URI leads everybody here, as long as the snapshot is in force.
  let isLasting: Bool
  /// The query's.
  private let params: ValueObject
  /// The caller's parameters are checked as those of a third party's app.
  private let isThirdParty: Bool

  init(
    _ uri: RouteURI, _ dispatcher: SchemeDispatcher?, params: ValueObject, isClosed: Bool,
    isThirdParty: Bool, isLasting: Bool
  ) {
    self.uri = uri
    self.dispatcher = dispatcher
    self.params = params
    self.isClosed = isClosed
    self.isThirdParty = isThirdParty
    self.isLasting = isLasting
  }

  /// One that was not looked up.
  package convenience init(_ uri: RouteURI) {
    self.init(
      uri, nil, params: [:], isClosed: false, isThirdParty: false, isLasting: false)
  }

  /// Where one call leads. `checking` false leaves unchecked what a caller may still add.
  func resolution(_ params: ValueObject, checking: Bool) throws(ResolutionError) -> Resolution {
    var merged = params
    if !self.params.isEmpty {
      merged = self.params
      merged.merge(params)
    }
    if isThirdParty, checking { try RouterSnapshot.checkThirdParty(merged) }
    return .undeclared(self, params: merged)
  }
}
