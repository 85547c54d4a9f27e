import WayNavigation
import WayPatterns
import WayRouting
import WayValues

extension TableReader {
  /// The routes of the document; those with faults are left out.
  mutating func routes(of document: ValueObject) -> [Route] {
    let path = JSONPath.root.member("routes")
    guard let value = document["routes"] else {
      fault(.root, "the member 'routes' is missing")
      return []
    }
    guard let list = list(value, at: path) else { return [] }
    var taken = TakenRoutes()
    var routes: [Route] = []
    routes.reserveCapacity(list.count)
    for (index, value) in list.enumerated() {
      if let route = route(value, at: path.element(index), &taken) { routes.append(route) }
    }
    return routes
  }

  private mutating func route(
    _ value: Value, at path: JSONPath, _ taken: inout TakenRoutes
  ) -> Route? {
    let known = [
      "name", "pattern", "patterns", "kind", "title", "purpose", "priority", "parameters",
      "required", "strict", "result", "groups", "permissions", "fallback", "parents",
      "presentation", "release", "methods",
    ]
    guard let object = object(value, at: path, known: known) else { return nil }
    let name = requiredText("name", of: object, at: path)
    if let name, let other = taken.name(name, at: path) {
      fault(path.member("name"), "'\(name)' is the name of \(other) already; names are unique")
    }
    let priority = integer("priority", of: object, at: path) ?? 0
    let patterns = patterns(of: object, at: path)
    for (pattern, place) in patterns {
      if let other = taken.pattern(pattern, priority: priority, at: place) {
        fault(
          place,
          "'\(pattern)' matches the same URIs as \(other), both with priority \(priority);"
            + " change one pattern or one priority")
      }
    }
    let kind = choice("kind", of: object, at: path, as: RouteKind.self)
    let title = text("title", of: object, at: path)
    let purpose = text("purpose", of: object, at: path)
    let parameters = parameters(of: object, at: path)
    let isStrict = bool("strict", of: object, at: path) ?? false
    let result = schema("result", of: object, at: path)
    let groups = names("groups", of: object, at: path, known: self.groups)
    let permissions = names("permissions", of: object, at: path, known: self.permissions)
    let fallback = fallback(of: object, at: path, patterns.map(\.0))
    let parents = parents(of: object, at: path)
    let presentation = presentation(of: object, at: path, kind)
    let release = release(of: object, at: path)
    let methods = methods(of: object, at: path, kind)
    guard let name, let kind else { return nil }
    return Route(
      name: name, patterns: patterns.map(\.0), kind: kind, title: title, purpose: purpose,
      priority: priority, parameters: parameters, isStrict: isStrict, result: result,
      groups: groups, permissions: permissions, fallback: fallback, parents: parents,
      presentation: presentation, release: release, methods: methods)
  }

  private mutating func patterns(
    of object: ValueObject, at path: JSONPath
  ) -> [(RoutePattern, JSONPath)] {
    switch (object["pattern"], object["patterns"]) {
    case (let value?, nil):
      return pattern(value, at: path.member("pattern")).map { [$0] } ?? []
    case (nil, let value?):
      let path = path.member("patterns")
      guard let list = list(value, at: path) else { return [] }
      if list.isEmpty { fault(path, "needs at least one pattern") }
      var patterns: [(RoutePattern, JSONPath)] = []
      for (index, value) in list.enumerated() {
        if let found = pattern(value, at: path.element(index)) { patterns.append(found) }
      }
      return patterns
    case (nil, nil): fault(path, "a route has 'pattern' or 'patterns'")
    case (_?, _?): fault(path, "a route has either 'pattern' or 'patterns', not both")
    }
    return []
  }

  /// The names of groups: those of routes in `groups`, those of users in `permissions`.
  private mutating func names(
    _ member: String, of object: ValueObject, at path: JSONPath, known: [String]?
  ) -> [String] {
    let names = distinctTexts(member, of: object, at: path)
    guard let known else { return names }
    for name in names where !known.contains(where: name.isSameUTF8) {
      unknown(name, at: path.member(member), of: known)
    }
    return names
  }

  private mutating func fallback(
    of object: ValueObject, at path: JSONPath, _ patterns: [RoutePattern]
  ) -> PatternTarget? {
    let target = target("fallback", of: object, at: path)
    for pattern in patterns {
      guard let name = target?.firstName(missingIn: pattern) else { continue }
      fault(
        path.member("fallback"),
        "needs ':\(name)', which '\(pattern)' does not capture, or only with an optional group")
    }
    return target
  }

  private mutating func pattern(_ value: Value, at path: JSONPath) -> (RoutePattern, JSONPath)? {
    guard let text = text(value, at: path) else { return nil }
    do {
      return (try RoutePattern(text), path)
    } catch {
      fault(path, "\(error)")
      return nil
    }
  }
}

/// What the routes so far have taken, with the place of each.
private struct TakenRoutes {
  private var names: [UTF8Key: JSONPath] = [:]
  private var shapes: [PatternShape: JSONPath] = [:]

  /// Who has the name already.
  mutating func name(_ name: String, at path: JSONPath) -> JSONPath? {
    Self.take(UTF8Key(name), at: path, in: &names)
  }

  /// Who has a pattern of this shape and priority already.
  mutating func pattern(
    _ pattern: RoutePattern, priority: Int, at path: JSONPath
  ) -> JSONPath? {
    for shape in PatternShape.all(of: pattern, priority: priority) {
      if let other = Self.take(shape, at: path, in: &shapes) { return other }
    }
    return nil
  }

  private static func take<Key: Hashable>(
    _ key: Key, at path: JSONPath, in taken: inout [Key: JSONPath]
  ) -> JSONPath? {
    if let other = taken[key] { return other }
    taken[key] = path
    return nil
  }
}
