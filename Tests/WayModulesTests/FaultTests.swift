import Testing
import WayModules

/// What cannot be registered is told with its place.
@Suite struct FaultTests {
  static let faults = [
    ScanCase(
      "private", "\n  private enum A: RouteModule {}",
      "App1.swift:2:11: error: module 'A' cannot be registered: 'A' is private; make it internal, or have 'A' conform to RegisteredByHand"
    ),
    ScanCase(
      "fileprivate behind an attribute", "fileprivate @Own(1) final class A: RouteService {}",
      "App1.swift:1:27: error: service 'A' cannot be registered: 'A' is private; make it internal,"
        + " or have 'A' conform to RegisteredByHand"),
    ScanCase(
      "in a private type", "private enum A { enum B: RouteModule {} }",
      "App1.swift:1:18: error: module 'A.B' cannot be registered: 'A' is private; make it internal,"
        + " or have 'A.B' conform to RegisteredByHand"),
    ScanCase(
      "in a private extension", "enum A {}\nprivate extension A { enum B: RouteModule {} }",
      "App1.swift:2:23: error: module 'A.B' cannot be registered: 'A.B' is private; make it internal,"
        + " or have 'A.B' conform to RegisteredByHand"
    ),
    ScanCase(
      "an extension of a private type", "private enum A {}\nextension A: RouteModule {}",
      "App1.swift:2:1: error: module 'A' cannot be registered: 'A' is private; make it internal,"
        + " or have 'A' conform to RegisteredByHand"),
    ScanCase(
      "generic", "struct A<T>: RouteModule {}",
      "App1.swift:1:1: error: module 'A' is generic, and nobody says with which arguments it should be registered: have it"
        + " conform to RegisteredByHand, and register it by Router.register(module:)"),
    ScanCase(
      "in a generic type", "struct A<T> { enum B: RouteModule {} }",
      "App1.swift:1:15: error: module 'A.B' is generic, and nobody says with which arguments it should be registered: have it"
        + " conform to RegisteredByHand, and register it by Router.register(module:)"),
    ScanCase(
      "conditional", "extension A: RouteService where T == Int {}",
      "App1.swift:1:1: error: service 'A' is generic, and nobody says with which arguments it should be registered: have it"
        + " conform to RegisteredByHand, and register it by Router.register(service:)"),
    ScanCase(
      "in a function", "func f() {\n  enum A { enum B: RouteModule {} }\n}",
      "App1.swift:2:12: error: a module that is declared inside of a function cannot be registered from"
        + " outside: move it out, or have it conform to RegisteredByHand"),
    ScanCase(
      "two of one name", "enum A: RouteService {}\nenum B { enum A: RouteService {} }",
      "App1.swift:1:1: error: two services are named 'A', this one and that at App1.swift:2: give one of"
        + " them a name of its own (static let name)",
      "App1.swift:2:10: error: two services are named 'A', this one and that at App1.swift:1: give one of"
        + " them a name of its own (static let name)"),
    ScanCase(
      "a name that another has",
      "enum A: RouteService { static let name = \"B\" }\nenum B {}\nextension B: RouteService {}",
      "App1.swift:1:1: error: two services are named 'B', this one and that at App1.swift:3: give one of"
        + " them a name of its own (static let name)",
      "App1.swift:3:1: error: two services are named 'B', this one and that at App1.swift:1: give one of"
        + " them a name of its own (static let name)"),
  ]

  @Test(arguments: faults)
  func whatCannotBeRegisteredIsToldWithItsPlace(_ example: ScanCase) throws {
    #expect(try scan(example.source).faults.map(\.description) == example.found)
  }

  static let names = [
    "enum A: RouteService {}\nenum B { enum A: RouteService { static let name = \"B.A\" } }",
    "enum A: RouteService {}\nenum B { enum A: RouteService { static var name: String { \"B.A\" } } }",
    "enum A: RouteService {}\nenum B { enum A: RouteService { static let name = \"A\" + suffix } }",
    "enum A: RouteService {}\nenum B { enum A: RouteService {} }\nextension B.A { static let name = \"b\" }",
    "enum A: RouteService {}\nenum B { enum A: RouteModule {} }",
    "enum A: RouteModule {}\nenum B { enum A: RouteModule {} }",
    "enum A: RouteService {}\nenum B { enum A: RouteService { static public let name = \"b\" } }",
    "enum A: RouteService {}\nenum B { class A: RouteService { class override nonisolated var name: String { x } } }",
    """
    protocol P: RouteService {}
    extension P { static var name: String { String(reflecting: Self.self) } }
    enum A { enum B: P {} }
    enum C { enum B: P {} }
    """,
    "#if X\nenum A: RouteService {}\n#else\nenum A: RouteService {}\n#endif",
    "#if X\nenum A: RouteService {}\n#endif\n#if !X\nenum A: RouteService {}\n#endif",
  ]

  @Test(arguments: names)
  func namesThatDifferOrNeverMeetAreFine(_ source: String) throws {
    #expect(try scan(source).faults.isEmpty)
  }

  @Test(arguments: [
    "#if X\nenum A: RouteService {}\n#endif\nenum B { enum A: RouteService {} }",
    "#if X\nenum A: RouteService {}\n#endif\n#if X\nenum B { enum A: RouteService {} }\n#endif",
    "#if X\nenum A: RouteService {}\n#if Y\nenum B { enum A: RouteService {} }\n#endif\n#endif",
  ])
  func namesThatMeetUnderSomeConditionAreNot(_ source: String) throws {
    #expect(try scan(source).faults.count == 2)
  }

  @Test func whatAnotherTargetRegistersMustBeVisibleToIt() throws {
    let found = try scan(
      sibling: ["enum A: RouteModule {}\npublic enum B { package enum C: RouteModule {} }"])
    #expect(
      found.faults.map(\.description) == [
        "Shop1.swift:1:1: error: module 'A' cannot be registered: 'A' is internal; make it package,"
          + " since another target registers it, or have 'A' conform to RegisteredByHand"
      ])
  }

  @Test func whatNobodyHereCouldMendIsLeftOut() throws {
    let found = try scan(
      "enum D: RouteService {}",
      foreign: [
        """
        public extension X { enum A: RouteModule {} }
        package enum B: RouteModule {}
        enum C { public enum E: RouteModule {} }
        public enum F<T>: RouteModule {}
        func f() { enum G: RouteModule {} }
        #if EXTRA
        public enum H: RouteModule {}
        #endif
        public enum I { public enum K: RouteService {} }
        extension I { public enum L { public enum K: RouteService {} } }
        """
      ])
    #expect(found.faults.isEmpty)
    #expect(
      found.calls
        == ["service: I.K", "service: I.L.K", "service: D", "module: X.A"].map {
          "try register(\($0).self)"
        })
    let twins = try scan("enum K: RouteService {}", foreign: ["public enum K: RouteService {}"])
    #expect(
      twins.faults.map(\.description) == [
        "App1.swift:1:1: error: two services are named 'K', this one and that at Kit1.swift:1: give one of"
          + " them a name of its own (static let name)"
      ])
  }

  @Test func aFlagThatOnlyAnotherTargetHasIsRefused() throws {
    let source = """
      #if DEBUG && os(Linux) && compiler(>=6.0)
      public enum A: RouteModule {}
      #endif
      #if canImport(Kit) && EXTRA
      public enum B: RouteModule {}
      #else
      public enum C: RouteModule {}
      #endif
      """
    #expect(try scan(source).faults.isEmpty)
    let faults = try scan(sibling: [source]).faults.map(\.description)
    #expect(faults.count == 2)
    #expect(
      faults.first
        == "Shop1.swift:5:8: error: module 'B' depends on the compilation flag EXTRA, which only the"
        + " target 'Shop' is known to have: put the #if into the type")
  }

  @Test func stringsThatNestBeyondMeasureAreRefused() throws {
    let open = String(repeating: #""\("#, count: 100_000)
    let error = #expect(throws: ScanFault.self) { try scan("let a = " + open) }
    #expect(error?.description.hasPrefix("App1.swift:1:") == true)
    #expect(error?.description.contains("nest too deep") == true)
  }

  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      "(", "[", "<", "/*", "@A(", "enum A<", "enum A", "struct A: ", "enum A: B<C,", "#", "/\\",
      "=/(", "import ", "A.", "typealias A = ", "\"\"\" ", "#\"",
    ])
  func whateverRepeatsIsReadInTime(_ text: String) throws {
    let count = (256 << 10) / text.utf8.count
    #expect(try scan(String(repeating: text, count: count)).faults.isEmpty)
  }

  @Test(.timeLimit(.minutes(1)))
  func manyTypesAndProtocolsAreReadInTime() throws {
    let types = (0..<5_000).map {
      "protocol P\($0): P\($0 + 1) {}\nenum A\($0): P\($0) { static let name = \"\($0)\" }"
    }
    let found = try scan(types.joined(separator: "\n"), "protocol P5000: RouteModule {}")
    #expect(found.faults.isEmpty)
    #expect(found.calls.count == 5_000)
  }

  @Test(arguments: ["{", "enum A { ", "#if X\n"])
  func whatNestsBeyondMeasureIsRefused(_ text: String) throws {
    let error = #expect(throws: ScanFault.self) { try scan(String(repeating: text, count: 20_000)) }
    #expect(error?.description.hasSuffix("error: more than 256 levels deep") == true)
    #expect(try scan(String(repeating: text, count: 200)).faults.isEmpty)
  }

  @Test func branchesBeyondMeasureAreRefused() throws {
    let branches = (0..<20_000).map { "#elseif X\($0)\nenum A\($0): RouteModule {}" }
    let error = #expect(throws: ScanFault.self) {
      try scan("#if X\n" + branches.joined(separator: "\n"))
    }
    #expect(error?.description == "App1.swift:513:1: error: more than 256 branches in one #if")
  }
}
