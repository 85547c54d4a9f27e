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
    members.add(parameters)
    if isStrict { members["strict"] = true }
    members["result"] = result?.value
    if !groups.isEmpty { members["groups"] = .list(groups.map(Value.string)) }
    members["presentation"] = presentation?.value
    if !methods.isEmpty {
      members["methods"] = .object(ValueObject(methods.map { ($0.name, $0.value) }))
    }
    members["fallback"] = fallback.map { .string($0.text) }
    return .object(members)
  }
}
