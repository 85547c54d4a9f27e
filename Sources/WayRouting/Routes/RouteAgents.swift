import WayValues

/// What AI agents may expect of a route that is a tool for them. The hints are advice for the agent's
/// user interface and give no right.
public struct RouteAgents: Sendable, Hashable {
  /// Whether a call changes nothing.
  public let isReadOnly: Bool
  /// Whether a call may delete or overwrite something. Has no meaning for a route that is read only.
  public let isDestructive: Bool
  /// Whether a second call with the same parameters changes nothing more.
  public let isIdempotent: Bool

  /// Creates the hints of a route, which without any may change and delete things.
  public init(isReadOnly: Bool = false, isDestructive: Bool? = nil, isIdempotent: Bool? = nil) {
    self.isReadOnly = isReadOnly
    self.isDestructive = isDestructive ?? !isReadOnly
    self.isIdempotent = isIdempotent ?? isReadOnly
  }

  /// The hints in a route table.
  package var value: Value {
    .object([
      "readOnly": .bool(isReadOnly), "destructive": .bool(isDestructive),
      "idempotent": .bool(isIdempotent),
    ])
  }
}
