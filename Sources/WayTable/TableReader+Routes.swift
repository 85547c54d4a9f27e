import WayNavigation
import WayPatterns
import WayRouting
import WayValues

extension TableReader {
  /// The routes of the document, without those that have errors.
  mutating func routes(of document: ValueObject) -> [Route] {
    let path = JSONPath.root.member("routes")
    guard let value = document["routes"] else {
      addFault(.root, "the member \"routes\" is missing")
      return []
    }
    guard let list = array(value, at: path) else { return [] }
    var used = UsedRouteKeys()
    var routes: [Route] = []
    routes.reserveCapacity(list.count)
    for (index, value) in list.enumerated() {
      if let route = route(value, at: path.element(index), &used) { routes.append(route) }
    }
    return routes
  }

  private mutating func route(
    _ value: Value, at path: JSONPath, _ used: inout UsedRouteKeys
  ) -> Route? {
    let known = [
      "name", "pattern", "patterns", "kind", "title", "purpose", "priority", "parameters",
      "required", "strict", "result", "groups", "permissions", "fallback", "parents",
      "presentation", "release", "methods", "agents",
    ]
    guard let object = object(value, at: path, known: known) else { return nil }
    let name = requiredString("name", of: object, at: path)
    if let name, let other = used.claimName(name, at: path) {
      addFault(
        path.member("name"), "\"\(name)\" is already the name of \(other); names must be unique")
    }
    let priority = integer("priority", of: object, at: path) ?? 0
    let patterns = patterns(of: object, at: path)
    let parameters = parameters(of: object, at: path)
    for (pattern, patternPath) in patterns {
      let shapes = RouteShape.all(of: pattern, priority: priority, parameters: parameters)
      if let other = used.claimShapes(shapes, at: patternPath) {
        addFault(
          patternPath,
          "\"\(pattern)\" matches the same URIs as \(other), both with priority \(priority);"
            + " change one pattern or one priority")
      }
    }
    let kind = choice("kind", of: object, at: path, as: RouteKind.self)
    let title = string("title", of: object, at: path)
    let purpose = string("purpose", of: object, at: path)
    let isStrict = boolean("strict", of: object, at: path) ?? false
    let result = schema("result", of: object, at: path)
    let groups = names("groups", of: object, at: path, known: self.groups)
    let permissions = names("permissions", of: object, at: path, known: self.permissions)
    let fallback = fallback(of: object, at: path, patterns.map(\.0))
    let parents = parents(of: object, at: path)
    let presentation = presentation(of: object, at: path, kind)
    let rollout = rollout(of: object, at: path)
    let methods = methods(of: object, at: path, kind)
    let agents = agents(of: object, at: path, kind, hasResult: object["result"] != nil)
    guard let name, let kind else { return nil }
    return Route(
      name: name, patterns: patterns.map(\.0), kind: kind, title: title, purpose: purpose,
      priority: priority, parameters: parameters, isStrict: isStrict, result: result,
      groups: groups, permissions: permissions, fallback: fallback, parents: parents,
      presentation: presentation, rollout: rollout, methods: methods,
      agents: agents)
  }

  private mutating func patterns(
    of object: ValueObject, at path: JSONPath
  ) -> [(RoutePattern, JSONPath)] {
    switch (object["pattern"], object["patterns"]) {
    case (let value?, nil):
      return pattern(value, at: path.member("pattern")).map { [$0] } ?? []
    case (nil, let value?):
      let path = path.member("patterns")
      guard let list = array(value, at: path) else { return [] }
      if list.isEmpty { addFault(path, "needs at least one pattern") }
      var patterns: [(RoutePattern, JSONPath)] = []
      for (index, value) in list.enumerated() {
        if let found = pattern(value, at: path.element(index)) { patterns.append(found) }
      }
      return patterns
    case (nil, nil): addFault(path, "a route needs \"pattern\" or \"patterns\"")
    case (_?, _?): addFault(path, "a route has either \"pattern\" or \"patterns\", not both")
    }
    return []
  }

  /// The names in a member such as `groups`. Those that are not `known` are errors.
  mutating func names(
    _ member: String, of object: ValueObject, at path: JSONPath, known: DeclaredNames?
  ) -> [String] {
    let names = distinctStrings(member, of: object, at: path)
    guard let known else { return names }
    for name in names where !known.contains(name) {
      addUnknownValue(name, at: path.member(member), of: known.all)
    }
    return names
  }

  private mutating func fallback(
    of object: ValueObject, at path: JSONPath, _ patterns: [RoutePattern]
  ) -> PatternTarget? {
    let target = target("fallback", of: object, at: path)
    for pattern in patterns {
      guard let name = target?.firstParameter(missingIn: pattern) else { continue }
      addFault(
        path.member("fallback"),
        "needs \":\(name)\", which \"\(pattern)\" does not capture, or only with an optional group")
    }
    return target
  }

  private mutating func pattern(_ value: Value, at path: JSONPath) -> (RoutePattern, JSONPath)? {
    guard let text = string(value, at: path) else { return nil }
    do {
      return (try RoutePattern(text), path)
    } catch {
      addFault(path, "\(error)")
      return nil
    }
  }
}

/// The names and patterns of the routes so far, each with its path.
private struct UsedRouteKeys {
  private var names: [UTF8Key: JSONPath] = [:]
  private var shapes: [RouteShape: JSONPath] = [:]

  /// Claims a name. Returns the path of the route that already has it.
  mutating func claimName(_ name: String, at path: JSONPath) -> JSONPath? {
    Self.claim(UTF8Key(name), at: path, in: &names)
  }

  /// Claims the shapes of a pattern. Returns the path of the pattern that already has one of them.
  mutating func claimShapes(_ shapes: [RouteShape], at path: JSONPath) -> JSONPath? {
    for shape in shapes {
      if let other = Self.claim(shape, at: path, in: &self.shapes) { return other }
    }
    return nil
  }

  private static func claim<Key: Hashable>(
    _ key: Key, at path: JSONPath, in used: inout [Key: JSONPath]
  ) -> JSONPath? {
    if let other = used[key] { return other }
    used[key] = path
    return nil
  }
}
