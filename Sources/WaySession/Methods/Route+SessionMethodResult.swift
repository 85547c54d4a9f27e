import WayRouting
import WayValues

extension Route {
  /// The route's entry in the result of `router.routes`.
  var value: Value {
    var fields: ValueObject = [
      "name": .string(name), "patterns": .array(patterns.map { .string($0.text) }),
      "kind": .string(kind.rawValue), "priority": .integer(Int64(priority)),
    ]
    fields["title"] = title.map(Value.string)
    fields["purpose"] = purpose.map(Value.string)
    fields.add(parameters)
    if isStrict { fields["strict"] = true }
    fields["result"] = result?.value
    if !groups.isEmpty { fields["groups"] = .array(groups.map(Value.string)) }
    fields["presentation"] = presentation?.value
    if !methods.isEmpty {
      fields["methods"] = .object(ValueObject(methods.map { ($0.name, $0.value) }))
    }
    fields["agents"] = agents?.value
    fields["fallback"] = fallback.map { .string($0.text) }
    return .object(fields)
  }
}
