import WayNavigation
import WayTransport
import WayValues

extension Limits {
  /// The limits in the result of `session.open`; times in milliseconds.
  var value: Value {
    var members: ValueObject = ["maxPages": .integer(Int64(NavigationStack.maxPages))]
    for definition in Self.definitions where definition.isAnnounced {
      members[definition.name] =
        switch definition.property {
        case .count(let path, _): .integer(Int64(self[keyPath: path]))
        case .time(let path): .integer(self[keyPath: path].milliseconds)
        }
    }
    return .object(members)
  }
}

extension Duration {
  /// Whole milliseconds, rounded down.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }
}
