import TestSupport
import Testing
import WayPatterns
import WayValues

@testable import WayRouting

/// Declared types of parameters of the path decide which URIs a pattern matches.
@Suite struct TypeMatchTests {
  private static func route(
    _ name: String, _ patterns: [String], _ parameters: [ParameterDeclaration] = [],
    priority: Int = 0
  ) throws -> Route {
    Route(
      name: name, patterns: try patterns.map { try RoutePattern($0) }, kind: .page,
      priority: priority, parameters: parameters)
  }

  private static func router(_ routes: [Route]) throws -> RouterSnapshot {
    let router = Router()
    try router.register(contentsOf: routes)
    return router.snapshot()
  }

  private static func found(
    _ uri: String, in snapshot: RouterSnapshot, params: ValueObject = [:]
  ) throws -> String? {
    try snapshot.resolve(RouteURI(uri), params: params).route?.name
  }

  /// A declared type with segments that fit it and segments that do not.
  struct TypeCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let schema: ValueSchema
    let fitting: [String]
    let others: [String]

    init(_ name: String, _ schema: ValueSchema, _ fitting: [String], not others: [String]) {
      testDescription = name
      self.schema = schema
      self.fitting = fitting
      self.others = others
    }
  }

  private static let cases = [
    TypeCase(
      "integer", ValueSchema(.integer),
      ["0", "7", "-7", "%37", "9223372036854775807", "1e3", "5.0"],
      not: ["tea", "7a", "7.5", "9223372036854775808", "0x7", "%207", "true", "07", "+7"]),
    TypeCase(
      "integer from 1 to 9", ValueSchema(.integer, range: .init(from: 1, to: 9)), ["1", "9"],
      not: ["0", "10", "-1", "x"]),
    TypeCase(
      "number", ValueSchema(.number), ["7", "7.5", "-0.5", "1e3"], not: ["tea", "7,5", "NaN", ".5"]),
    TypeCase(
      "boolean", ValueSchema(.boolean), ["true", "false", "1", "0"], not: ["yes", "True", "2"]),
    TypeCase(
      "enum", ValueSchema(.string, allowed: ["new", "old"]), ["new", "old", "%6Eew"],
      not: ["New", "newer", "ne"]),
    TypeCase(
      "enum of integers", ValueSchema(.integer, allowed: [1, 2]), ["1", "2"], not: ["3", "one"]),
    TypeCase(
      "uuid", ValueSchema(.string, format: .uuid), ["00000000-0000-4000-8000-000000000000"],
      not: ["0000", "00000000-0000-4000-8000-00000000000g"]),
    TypeCase(
      "date", ValueSchema(.string, format: .date), ["2026-01-31"], not: ["2026-02-30", "today"]),
    TypeCase(
      "string of 2 or 3", ValueSchema(.string, count: .init(from: 2, to: 3)),
      ["ab", "abc", "%C3%A9a"], not: ["a", "abcd", "%C3%A9"]),
    TypeCase(
      "array of integers", ValueSchema(.array, items: ValueSchema(.integer)), ["7"], not: ["tea"]),
    TypeCase("object", ValueSchema(.object), [], not: ["tea", "7", "%7B%7D"]),
  ]

  @Test("a segment that does not fit leads to the next route", arguments: cases)
  func segmentsChooseRoutes(types: TypeCase) throws {
    let typed = try Self.route("typed", ["native://n/:id"], [.init("id", types.schema)])
    let open = try Self.route("any", ["native://n/:name"])
    let wide = try Self.route("global", ["/n/:x"])
    for routes in [[typed, open], [open, typed], [typed, wide], [wide, typed]] {
      let snapshot = try Self.router(routes)
      let next = routes.first { $0 !== typed }?.name
      for segment in types.fitting {
        #expect(try Self.found("native://n/\(segment)", in: snapshot) == "typed", "\(segment)")
      }
      for segment in types.others {
        #expect(try Self.found("native://n/\(segment)", in: snapshot) == next, "\(segment)")
      }
    }
  }

  @Test("the narrower type goes first, in any order of registration")
  func narrowerTypePrecedes() throws {
    let schemas: [(String, ValueSchema?)] = [
      ("enum", ValueSchema(.string, allowed: ["1", "tea"])), ("boolean", ValueSchema(.boolean)),
      ("integer", ValueSchema(.integer)), ("number", ValueSchema(.number)),
      ("short", ValueSchema(.string, count: .init(to: 4))), ("any", nil),
    ]
    let routes = try schemas.map { name, schema in
      try Self.route(name, ["native://n/:id"], schema.map { [.init("id", $0)] } ?? [])
    }
    for routes in [routes, routes.reversed(), Array(routes[3...] + routes[..<3])] {
      let snapshot = try Self.router(routes)
      for (segment, name) in [
        ("tea", "enum"), ("1", "enum"), ("0", "boolean"), ("7", "integer"), ("7.5", "number"),
        ("cafe", "short"), ("coffee", "any"),
      ] {
        #expect(try Self.found("native://n/\(segment)", in: snapshot) == name, "\(segment)")
      }
    }
    // Priority and specificity come before types.
    let ranked = try Self.router([
      Self.route("typed", ["native://n/:id"], [.init("id", .integer)]),
      Self.route("literal", ["native://n/7"]), Self.route("high", ["native://n/:x"], priority: 1),
    ])
    #expect(try Self.found("native://n/7", in: ranked) == "high")
  }

  @Test("two routes may share a pattern if their types differ")
  func equalTypesConflict() throws {
    func conflict(_ first: ValueSchema?, _ second: ValueSchema?, _ pattern: String) throws -> Bool {
      let router = Router()
      try router.register(
        Self.route("first", ["native://n/:a(/:b)"], first.map { [.init("a", $0)] } ?? []))
      let route = try Self.route("second", [pattern], second.map { [.init("x", $0)] } ?? [])
      do throws(RouterConfigurationError) {
        _ = try router.register(route)
        return false
      } catch {
        #expect(
          error
            == .conflict(RouteConflict(pattern: pattern, route: "second", other: "first")))
        return true
      }
    }
    let integer = ValueSchema(.integer)
    #expect(try conflict(nil, nil, "native://n/:x"))
    #expect(try conflict(nil, ValueSchema(.string), "native://n/:x"))
    #expect(try conflict(integer, ValueSchema(.integer, title: "Other"), "native://n/:x/:y"))
    #expect(try !conflict(integer, nil, "native://n/:x"))
    #expect(try !conflict(nil, integer, "native://n/:x/:y"))
    #expect(try !conflict(integer, ValueSchema(.number), "native://n/:x"))
    #expect(try !conflict(integer, ValueSchema(.integer, range: .init(from: 1)), "native://n/:x"))
    // A parameter of the query has no part in it.
    #expect(try conflict(nil, integer, "native://n/:y"))
  }

  @Test("a call fails with the fault if only types exclude the route")
  func faultIsReported() throws {
    let snapshot = try Self.router([
      Self.route(
        "order", ["native://n/:id(/:part)", "/global/:id"],
        [.init("id", ValueSchema(.integer, range: .init(from: 1)))]),
      Self.route("other", ["native://m/:id"]),
    ])
    for (uri, message) in [
      ("native://n/tea", "has to be an integer, not \"tea\""),
      ("native://n/0/x", "has to be at least 1; it is 0"),
      ("native://global/tea", "has to be an integer, not \"tea\""),
    ] {
      let error = #expect(throws: RouterResolutionError.self) { try Self.found(uri, in: snapshot) }
      #expect(error?.description.contains("$.id: \(message)") == true)
      let unchecked = try snapshot.resolve(RouteURI(uri), checking: false)
      guard case .match(let match) = unchecked else {
        Issue.record("\(uri) has no route")
        continue
      }
      #expect(match.route.name == "order" && !match.fitsTypes)
      // The caller's parameters go before those of the path.
      #expect(try Self.found(uri, in: snapshot, params: ["id": 5]) == "order")
      let explanation = snapshot.explain(uri)
      #expect(!explanation.canOpen && explanation.route?.name == "order")
      #expect(explanation.reason.contains(message))
      let reason = explanation.candidates.first { $0.route == "order" }?.reason
      #expect(reason == "its parameter 'id' \(message)")
      #expect(explanation.candidates.allSatisfy { !$0.isChosen })
    }
    let fitting = try snapshot.resolve(RouteURI("native://n/7"))
    guard case .match(let match) = fitting else { throw NoMatch() }
    #expect(match.fitsTypes && match.params == ["id": 7])
  }

  private struct NoMatch: Error {}

  @Test("an explanation says why the route was passed over")
  func explanationNamesType() throws {
    let snapshot = try Self.router([
      Self.route("name", ["native://n/:name"]),
      Self.route("id", ["native://n/:id"], [.init("id", .integer)]),
    ])
    let tea = snapshot.explain("native://n/tea").candidates.map {
      "\($0.isChosen ? "*" : "")\($0.route): \($0.reason)"
    }
    #expect(
      tea == [
        "id: its parameter 'id' has to be an integer, not \"tea\"", "*name: the best match",
      ])
    let seven = snapshot.explain("native://n/7").candidates.map {
      "\($0.isChosen ? "*" : "")\($0.route): \($0.reason)"
    }
    #expect(
      seven == [
        "*id: the best match",
        "name: its parameters have wider types, or it was registered later",
      ])
  }

  @Test("a declined call continues only with routes that fit")
  func declinedCallSkipsMisfits() throws {
    let snapshot = try Self.router([
      Self.route("flag", ["native://n/:x"], [.init("x", .boolean)]),
      Self.route("id", ["native://n/:x"], [.init("x", .integer)]),
      Self.route("day", ["native://n/:x"], [.init("x", ValueSchema(.string, format: .date))]),
      Self.route("all", ["native://n/*"], [.init("*", ValueSchema(.array, count: .init(to: 1)))]),
      Self.route("global", ["/n/:x"]),
    ])
    guard case .match(let match) = try snapshot.resolve(RouteURI("native://n/1")) else {
      throw NoMatch()
    }
    #expect(match.route.name == "flag")
    let rest = try snapshot.matches(after: match, params: [:], for: nil)
    #expect(rest.map(\.route.name) == ["id", "all", "global"])
    #expect(throws: RouterResolutionError.self) { try Self.found("native://n/a/b", in: snapshot) }
  }
}

/// A comparison with a model that tries every route.
@Suite struct TypeMatchModelTests {
  private struct ModelType {
    let schema: ValueSchema?
    let rank: Int
    let fits: @Sendable (String) -> Bool
  }

  private struct ModelRoute {
    let route: Route
    /// `nil` for a parameter.
    let segments: [String?]
    let types: [ModelType]
  }

  private static let types = [
    ModelType(schema: ValueSchema(.string, allowed: ["tea", "1"]), rank: 0) {
      $0 == "tea" || $0 == "1"
    },
    ModelType(schema: ValueSchema(.boolean), rank: 1) { ["0", "1", "true", "false"].contains($0) },
    ModelType(schema: ValueSchema(.integer), rank: 2) { Int($0) != nil },
    ModelType(schema: ValueSchema(.number), rank: 3) { Double($0) != nil },
    ModelType(schema: ValueSchema(.string, count: .init(to: 3)), rank: 4) { $0.count <= 3 },
    ModelType(schema: nil, rank: 5) { _ in true },
  ]
  private static let values = ["0", "1", "7", "7.5", "tea", "true", "coffee"]

  @Test("finds the route that a search of all routes finds", arguments: UInt64(0)..<40)
  func agreesWithModel(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let router = Router()
    var model: [ModelRoute] = []
    for number in 0..<40 {
      let segments = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        Bool.random(using: &random) ? nil : Self.values[Int.random(in: 0..<7, using: &random)]
      }
      let types = segments.filter { $0 == nil }.map { _ in
        Self.types[Int.random(in: 0..<Self.types.count, using: &random)]
      }
      var count = 0
      let path = segments.map { segment in
        if let segment { return "/\(segment)" }
        count += 1
        return "/:p\(count)"
      }
      let parameters = types.enumerated().compactMap { index, type in
        type.schema.map { ParameterDeclaration("p\(index + 1)", $0) }
      }
      let route = Route(
        name: "r\(number)", patterns: [try RoutePattern("x://n\(path.joined())")], kind: .page,
        priority: Int.random(in: 0..<5, using: &random) == 0 ? 1 : 0, parameters: parameters)
      guard (try? router.register(route)) != nil else { continue }
      model.append(ModelRoute(route: route, segments: segments, types: types))
    }
    let snapshot = router.snapshot()
    for _ in 0..<400 {
      let path = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        Self.values[Int.random(in: 0..<7, using: &random)]
      }
      let uri = try RouteURI("x://n/\(path.joined(separator: "/"))")
      let matching = Self.matching(path, in: model)
      let best = matching.first { Self.fits(path, $0) }
      let resolved = try snapshot.resolve(uri, checking: false)
      #expect(resolved.route?.name == (best ?? matching.first)?.route.name, "\(uri)")
      if case .match(let match) = resolved { #expect(match.fitsTypes == (best != nil), "\(uri)") }
      let explanation = snapshot.explain(uri.text)
      #expect(explanation.canOpen == (best != nil), "\(uri)")
      #expect(explanation.route?.name == resolved.route?.name, "\(uri)")
    }
  }

  /// The routes whose segments match, regardless of types, in the order in which they are tried.
  private static func matching(_ path: [String], in model: [ModelRoute]) -> [ModelRoute] {
    func key(_ route: ModelRoute) -> [Int] {
      [-route.route.priority] + route.segments.map { $0 == nil ? 1 : 0 } + route.types.map(\.rank)
    }
    let matching = model.filter { route in
      route.segments.count == path.count
        && zip(route.segments, path).allSatisfy { $0 == nil || $0 == $1 }
    }
    return matching.enumerated().sorted { left, right in
      let (first, second) = (key(left.element), key(right.element))
      return first == second
        ? left.offset < right.offset : first.lexicographicallyPrecedes(second)
    }.map(\.element)
  }

  private static func fits(_ path: [String], _ route: ModelRoute) -> Bool {
    let captured = zip(route.segments, path).filter { $0.0 == nil }.map(\.1)
    return zip(route.types, captured).allSatisfy { $0.fits($1) }
  }
}
