/// A handle of one registration, with which it can be replaced or removed. It does not affect
/// another route that is later registered with the same name.
public struct Registration: Sendable, Hashable {
  /// The route's name.
  public let name: String
  let id: UInt64
}
