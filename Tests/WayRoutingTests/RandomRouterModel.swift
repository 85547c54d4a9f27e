import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayValues

@testable import WayRouting

/// A router that changes step by step, with a model of its expected contents.
struct RandomRouterModel {
  private static let schemes = ["x", "y", "native", nil]
  private static let pathPieces = ["/a", "/b", "/User", "/user", "/:p", "/:q", "(/c)", "(/:o/d)"]
  static let uris = [
    "x:", "x:/", "x://a", "x://a/b", "x://user/b", "x://USER/a", "x:/User/a", "x:/user/a/b",
    "y://a/b/c", "y:/a/b", "y://user/user", "native://a/a/a", "native:/user", "native:b/a",
    "z://a/b", "z://user", "z:/a/User/c", "https://h.example/a/b", "https://h.example/User/b/c",
    "x://a/z/d/y", "x://nowhere/at/all", "x://a/7", "x://user/7/true", "z://7/b",
  ]

  let router = Router()
  private(set) var routes: [Route] = []
  private var redirects: [Redirect] = []
  private var closedSchemes: [String: Bool] = [:]
  private var interceptors: [(name: String, scope: Interceptor.InterceptorScope, priority: Int)] =
    []
  private var groupEntries: [(route: String, group: String)] = []
  private var random: SeededRandom
  private var lastName = 0

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  private mutating func randomBelow(_ count: Int) -> Int {
    Int.random(in: 0..<count, using: &random)
  }

  private mutating func randomPattern() throws -> RoutePattern {
    let scheme = Self.schemes[randomBelow(Self.schemes.count)]
    var text = scheme.map { "\($0):" } ?? ""
    let begin = scheme == nil ? 2 : randomBelow(4)
    let path = (0..<randomBelow(4)).map { _ in Self.pathPieces[randomBelow(Self.pathPieces.count)] }
      .joined()
    switch begin {
    case 0: text += "//" + ["a", "b", "user", ":h"][randomBelow(4)] + path
    case 1: text += path.hasPrefix("(") ? "" : String(path.dropFirst())
    default: text += path.isEmpty ? "/a" : path
    }
    if randomBelow(4) == 0 { text += text.hasSuffix(":") ? "*" : "/*" }
    if let pattern = try? RoutePattern(text) { return pattern }
    return try RoutePattern("x://a/:fixed")
  }

  private mutating func randomRoute(named name: String? = nil) throws -> Route {
    if name == nil { lastName += 1 }
    let patterns = try (0...randomBelow(2)).map { _ in try randomPattern() }
    let kinds: [ParameterDeclaration.ParameterKind] = [.string, .string, .integer, .boolean]
    let parameters = ["p", "q", "o"].map { ParameterDeclaration($0, kinds[randomBelow(4)]) }
    return Route(
      name: name ?? "r\(lastName)", patterns: patterns, kind: randomBelow(3) == 0 ? .task : .page,
      priority: [0, 0, 0, 1, -1][randomBelow(5)], parameters: parameters,
      groups: randomBelow(5) == 0 ? ["own", "g"] : [])
  }

  /// Applies one random change. The router rejects it if a new router with the same routes rejects
  /// it.
  mutating func applyRandomChange() throws {
    switch routes.isEmpty ? 0 : randomBelow(20) {
    case 0..<7: try add(randomRoute())
    case 7..<10: try replace(at: randomBelow(routes.count), named: randomBelow(2) == 0)
    case 10..<13: remove(at: randomBelow(routes.count))
    case 13..<15: try bindHandler(at: randomBelow(routes.count))
    case 15: try changeRedirects()
    case 16:
      let scheme = ["x", "y", "z"][randomBelow(3)]
      closedSchemes[scheme] = randomBelow(2) == 0
      try router.setScheme(scheme, isClosed: closedSchemes[scheme] == true)
    case 17: changeInterceptors()
    default: try changeGroups(routes[randomBelow(routes.count)].name)
    }
  }

  private mutating func add(_ route: Route) throws {
    if let rejection = Self.thrownDescription({ try router.register(route) }) {
      let whole = try rebuildRouter()
      #expect(Self.thrownDescription { try whole.register(route) } == rejection)
      return
    }
    routes.append(route)
  }

  private mutating func replace(at index: Int, named isNamed: Bool) throws {
    let before = routes[index]
    let new = try randomRoute(named: isNamed ? before.name : nil)
    if let rejection = Self.thrownDescription({ try router.replace(route: before.name, with: new) })
    {
      let whole = try rebuildRouter()
      #expect(
        Self.thrownDescription { try whole.replace(route: before.name, with: new) } == rejection)
      return
    }
    routes[index] = new
  }

  private mutating func remove(at index: Int) {
    #expect(router.remove(route: routes[index].name))
    routes.remove(at: index)
  }

  private mutating func bindHandler(at index: Int) throws {
    let route = routes[index]
    let handler: RouteHandler =
      route.kind == .page
      ? .page(PageHandler(open: { _, _ in }, close: { _, _, _ in }))
      : .task { _ in nil }
    try router.handle(route.name, with: handler)
    routes[index] = route.with(handler)
  }

  private mutating func changeRedirects() throws {
    if let first = redirects.first, randomBelow(2) == 0 {
      #expect(router.removeRedirect(first.from.text))
      redirects.removeFirst()
    } else if let new = try? Redirect(from: "x://a/z/:n\(randomBelow(3))/y", to: "y://a/b/c") {
      guard (try? router.redirect(contentsOf: [new])) != nil else { return }
      redirects.removeAll { $0.from == new.from }
      redirects.append(new)
    }
  }

  private mutating func changeInterceptors() {
    let scopes: [Interceptor.InterceptorScope] = [
      .all(), .all(except: ["r1", "r3"]), .routes(["r2", "r3"]), .groups(["own"]),
      .groups(["g", "h"]),
    ]
    let new = (
      name: "i\(randomBelow(4))", scope: scopes[randomBelow(scopes.count)], priority: randomBelow(2)
    )
    if randomBelow(3) == 0 {
      #expect(router.removeInterceptor(new.name) == interceptors.contains { $0.name == new.name })
      interceptors.removeAll { $0.name == new.name }
    } else {
      router.intercept(new.name, on: new.scope, priority: new.priority) { _ in .next }
      if let place = interceptors.firstIndex(where: { $0.name == new.name }) {
        interceptors[place] = new
      } else {
        interceptors.append(new)
      }
    }
  }

  private mutating func changeGroups(_ route: String) throws {
    let group = ["g", "h", "own"][randomBelow(3)]
    let isMember = groupEntries.contains { $0 == (route, group) }
    if isMember, randomBelow(2) == 0 {
      #expect(router.remove(route: route, fromGroup: group))
      groupEntries.removeAll { $0 == (route, group) }
    } else {
      try router.add(routes: [route], toGroup: group)
      if !isMember { groupEntries.append((route, group)) }
    }
  }

  /// Returns a new router with all current contents.
  func rebuildRouter() throws -> Router {
    let whole = Router()
    // A name in a group need not have a route.
    let removed = Set(groupEntries.map(\.route)).subtracting(routes.map(\.name)).sorted()
    try whole.register(
      contentsOf: removed.enumerated().map { index, name in
        Route(name: name, patterns: [try RoutePattern("gone:\(index)")], kind: .page)
      })
    for name in Set(groupEntries.map(\.route)).subtracting(removed) {
      try whole.register(
        Route(name: name, patterns: [try RoutePattern("gone:\(name)")], kind: .page))
    }
    for (route, group) in groupEntries { try whole.add(routes: [route], toGroup: group) }
    for route in whole.snapshot().routes { #expect(whole.remove(route: route.name)) }
    try whole.register(contentsOf: routes)
    try whole.redirect(contentsOf: redirects)
    for (scheme, isClosed) in closedSchemes { try whole.setScheme(scheme, isClosed: isClosed) }
    for (name, scope, priority) in interceptors {
      whole.intercept(name, on: scope, priority: priority) { _ in .next }
    }
    return whole
  }

  /// Returns the description of the error that the body throws; `nil` if it succeeds.
  private static func thrownDescription(_ body: () throws -> some Any) -> String? {
    do {
      _ = try body()
      return nil
    } catch {
      return "\(error)"
    }
  }
}

extension RouterSnapshot {
  /// Returns the contents of the router and its explanations of some URIs.
  func summary(_ uris: [String]) -> [String] {
    var lines = routes.map { "\($0.name) \($0.patterns) \($0.handler.isUnassigned)" }
    lines.append("\(groupNames): \(groupNames.map { routes(inGroup: $0) })")
    for uri in uris {
      let explanation = explain(uri)
      lines.append("\(explanation)")
      lines.append("\(explanation.route?.handler.isUnassigned, default: "-")")
      guard let parsed = try? RouteURI(uri) else { continue }
      do {
        let resolution = try resolve(parsed)
        lines.append(
          "\(resolution.route?.name ?? "-") \(interceptors(of: resolution)?.names ?? [])")
        guard case .match(let match) = resolution else { continue }
        let others = try matches(after: match, params: [:], for: nil)
        lines.append("\(match.params) \(others.map { "\($0.route.name) \($0.pathParams)" })")
      } catch {
        lines.append("\(error)")
      }
    }
    return lines
  }
}
