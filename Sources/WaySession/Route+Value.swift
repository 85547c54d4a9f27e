import WayRouting
import WayValues

extension Route {
  /// The route as `router.routes` tells it.
  var value: Value {
    var members: ValueObject = [
      "name": .string(name), "patterns": .list(patterns.map { .string($0.text) }),
      "kind": .string(kind.rawValue), "priority": .integer(Int64(priority)),
    ]
    members["title"] = title.map(Value.string)
    members["purpose"] = purpose.map(Value.string)
    members["parameters"] = parameters
    members["result"] = result
    return .object(members)
  }
}
