import WayValues

extension RouteExplanation {
  /// The explanation as `router.explain` and `waybridge explain --json` return it.
  public var value: Value { .object(members) }

  /// The members of ``value``.
  package var members: ValueObject {
    let route = self.route.map { route -> Value in
      [
        "name": .string(route.name), "pattern": .string(pattern?.text ?? ""),
        "scheme": pattern?.scheme.map(Value.string) ?? .null,
      ]
    }
    return [
      "uri": .string(uri), "canOpen": .bool(canOpen),
      "kind": kind.map { .string($0.rawValue) } ?? .null, "route": route ?? .null,
      "params": .object(params), "sources": .object(sourceNames),
      "candidates": .array(candidates.map(\.value)),
      "redirects": .array(redirects.map(Value.string)),
      "releases": .array(rollouts.map(Value.string)),
      "interceptors": .array(interceptors.map(Value.string)),
      "fallback": fallback.map(Value.string) ?? .null,
      "reason": .string(reason),
    ]
  }

  private var sourceNames: ValueObject {
    ValueObject(zip(params.members, sources).map { ($0.name, .string($1.rawValue)) })
  }
}

extension RouteExplanation.ExplainedCandidate {
  var value: Value {
    var members: ValueObject = [
      "route": .string(route), "pattern": .string(pattern), "chosen": .bool(isChosen),
      "reason": .string(reason),
    ]
    members["params"] = params.map(Value.object)
    return .object(members)
  }
}
