/// Stands for one registration, so that it can be replaced or removed. Another route that later
/// took the same name is not touched by it.
public struct Registration: Sendable, Hashable {
  /// The route's name.
  public let name: String
  let id: UInt64
}
