import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayValues

@testable import WayRouting

/// A router that is changed bit by bit, beside what it should hold.
struct RandomRouterModel {
  private static let schemes = ["x", "y", "native", nil]
  private static let pieces = ["/a", "/b", "/User", "/user", "/:p", "/:q", "(/c)", "(/:o/d)"]
  static let uris = [
    "x:", "x:/", "x://a", "x://a/b", "x://user/b", "x://USER/a", "x:/User/a", "x:/user/a/b",
    "y://a/b/c", "y:/a/b", "y://user/user", "native://a/a/a", "native:/user", "native:b/a",
    "z://a/b", "z://user", "z:/a/User/c", "https://h.example/a/b", "https://h.example/User/b/c",
    "x://a/z/d/y", "x://nowhere/at/all",
  ]

  let router = Router()
  private(set) var routes: [Route] = []
  private var redirects: [Redirect] = []
  private var closed: [String: Bool] = [:]
  private var interceptors: [(name: String, scope: Interceptor.Scope, priority: Int)] = []
  private var members: [(route: String, group: String)] = []
  private var random: SeededRandom
  private var lastName = 0

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func pattern() throws -> RoutePattern {
    let scheme = Self.schemes[below(Self.schemes.count)]
    var text = scheme.map { "\($0):" } ?? ""
    let begin = scheme == nil ? 2 : below(4)
    let path = (0..<below(4)).map { _ in Self.pieces[below(Self.pieces.count)] }.joined()
    switch begin {
    case 0: text += "//" + ["a", "b", "user", ":h"][below(4)] + path
    case 1: text += path.hasPrefix("(") ? "" : String(path.dropFirst())
    default: text += path.isEmpty ? "/a" : path
    }
    if below(4) == 0 { text += text.hasSuffix(":") ? "*" : "/*" }
    if let pattern = try? RoutePattern(text) { return pattern }
    return try RoutePattern("x://a/:fixed")
  }

  private mutating func route(named name: String? = nil) throws -> Route {
    if name == nil { lastName += 1 }
    let patterns = try (0...below(2)).map { _ in try pattern() }
    return Route(
      name: name ?? "r\(lastName)", patterns: patterns, kind: below(3) == 0 ? .task : .page,
      priority: [0, 0, 0, 1, -1][below(5)], groups: below(5) == 0 ? ["own", "g"] : [])
  }

  /// One change, which is refused as a router with the same routes refuses it.
  mutating func change() throws {
    switch routes.isEmpty ? 0 : below(20) {
    case 0..<7: try add(route())
    case 7..<10: try replace(at: below(routes.count), named: below(2) == 0)
    case 10..<13: remove(at: below(routes.count))
    case 13..<15: try bind(at: below(routes.count))
    case 15: try redirect()
    case 16:
      let scheme = ["x", "y", "z"][below(3)]
      closed[scheme] = below(2) == 0
      try router.closeScheme(scheme, closed[scheme] == true)
    case 17: intercept()
    default: try regroup(routes[below(routes.count)].name)
    }
  }

  private mutating func add(_ route: Route) throws {
    if let refusal = Self.refusal({ try router.register(route) }) {
      let whole = try whole()
      #expect(Self.refusal { try whole.register(route) } == refusal)
      return
    }
    routes.append(route)
  }

  private mutating func replace(at index: Int, named isNamed: Bool) throws {
    let before = routes[index]
    let new = try route(named: isNamed ? before.name : nil)
    if let refusal = Self.refusal({ try router.replace(route: before.name, with: new) }) {
      let whole = try whole()
      #expect(Self.refusal { try whole.replace(route: before.name, with: new) } == refusal)
      return
    }
    routes[index] = new
  }

  private mutating func remove(at index: Int) {
    #expect(router.remove(route: routes[index].name))
    routes.remove(at: index)
  }

  private mutating func bind(at index: Int) throws {
    let route = routes[index]
    let handler: RouteHandler =
      route.kind == .page
      ? .page(PageHandler(open: { _, _ in }, close: { _, _, _ in }))
      : .task { _ in nil }
    try router.handle(route.name, with: handler)
    routes[index] = route.with(handler)
  }

  private mutating func redirect() throws {
    if let first = redirects.first, below(2) == 0 {
      #expect(router.removeRedirect(first.from.text))
      redirects.removeFirst()
    } else if let new = try? Redirect(from: "x://a/z/:n\(below(3))/y", to: "y://a/b/c") {
      guard (try? router.redirect(contentsOf: [new])) != nil else { return }
      redirects.removeAll { $0.from == new.from }
      redirects.append(new)
    }
  }

  private mutating func intercept() {
    let scopes: [Interceptor.Scope] = [
      .all(), .all(except: ["r1", "r3"]), .routes(["r2", "r3"]), .groups(["own"]),
      .groups(["g", "h"]),
    ]
    let new = (name: "i\(below(4))", scope: scopes[below(scopes.count)], priority: below(2))
    if below(3) == 0 {
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

  private mutating func regroup(_ route: String) throws {
    let group = ["g", "h", "own"][below(3)]
    let isMember = members.contains { $0 == (route, group) }
    if isMember, below(2) == 0 {
      #expect(router.remove(route: route, fromGroup: group))
      members.removeAll { $0 == (route, group) }
    } else {
      try router.add(routes: [route], toGroup: group)
      if !isMember { members.append((route, group)) }
    }
  }

  /// A router that has got all at once.
  func whole() throws -> Router {
    let whole = Router()
    // What has no route any more is in its group all the same.
    let gone = Set(members.map(\.route)).subtracting(routes.map(\.name)).sorted()
    try whole.register(
      contentsOf: gone.enumerated().map { index, name in
        Route(name: name, patterns: [try RoutePattern("gone:\(index)")], kind: .page)
      })
    for name in Set(members.map(\.route)).subtracting(gone) {
      try whole.register(
        Route(name: name, patterns: [try RoutePattern("gone:\(name)")], kind: .page))
    }
    for (route, group) in members { try whole.add(routes: [route], toGroup: group) }
    for route in whole.snapshot().routes { #expect(whole.remove(route: route.name)) }
    try whole.register(contentsOf: routes)
    try whole.redirect(contentsOf: redirects)
    for (scheme, isClosed) in closed { try whole.closeScheme(scheme, isClosed) }
    for (name, scope, priority) in interceptors {
      whole.intercept(name, on: scope, priority: priority) { _ in .next }
    }
    return whole
  }

  /// Why something is refused; nil when it is not.
  private static func refusal(_ body: () throws -> some Any) -> String? {
    do {
      _ = try body()
      return nil
    } catch {
      return "\(error)"
    }
  }
}

extension RouterSnapshot {
  /// All that is said of some URIs, and what there is.
  func told(_ uris: [String]) -> [String] {
    var told = routes.map { "\($0.name) \($0.patterns) \($0.handler.isOpen)" }
    told.append("\(groupNames): \(groupNames.map { routes(inGroup: $0) })")
    for uri in uris {
      let explanation = explain(uri)
      told.append("\(explanation)")
      told.append("\(explanation.route?.handler.isOpen, default: "-")")
      guard let parsed = try? RouteURI(uri) else { continue }
      do {
        let resolution = try resolve(parsed)
        told.append("\(resolution.route?.name ?? "-") \(interceptors(of: resolution)?.names ?? [])")
        guard case .match(let match) = resolution else { continue }
        let others = try matches(after: match, params: [:], for: nil)
        told.append("\(match.params) \(others.map { "\($0.route.name) \($0.pathParams)" })")
      } catch {
        told.append("\(error)")
      }
    }
    return told
  }
}
