import Testing

@testable import FindModules

/// The source that the tool generates for the discovered types.
@Suite struct ModuleRegistrationSourceTests {
  @Test func writesLocationAndErrorHintForEachCall() {
    let source = registration(
      "import Waybridge\nenum A: RouteModule {}", "struct B: RouteService {}",
      sibling: ["package enum C: RouteModule {}"], foreign: ["public enum D: RouteModule {}"])
    #expect(
      source.text == """
        // Written by the plugin WaybridgeModules: what App and what it depends on declare.
        import Kit
        import Shop
        import Waybridge

        extension Waybridge.Router {
          /// Registers the modules and services that the build has found. Throws what
          /// ``register(service:)`` and ``register(module:)`` throw.
          func registerModules() throws(Waybridge.RouterConfigurationError) {
            // App2.swift:1
            // If this does not compile: let all of App see the type, or have \
        it conform to ManualRegistration, and register it yourself.
            try register(service: B.self)
            // Kit1.swift:1
            // If this does not compile: write `extension Kit.D: @retroactive ManualRegistration {}` \
        and register it yourself.
            try register(module: D.self)
            // Shop1.swift:1
            // If this does not compile: let all of App see the type, or have \
        it conform to ManualRegistration, and register it yourself.
            try register(module: C.self)
            // App1.swift:2
            // If this does not compile: let all of App see the type, or have \
        it conform to ManualRegistration, and register it yourself.
            try register(module: A.self)
          }
        }

        """)
  }

  @Test func outputDoesNotDependOnFileOrder() {
    let files = [
      "enum B: RouteModule {}\nenum S: RouteService {}",
      "enum A: RouteModule {}\nenum C: RouteModule {}",
      "#if X\nenum C: RouteModule {}\n#endif",
      "enum R: RouteService {}",
    ]
    var first = SourceTarget("App")
    var second = SourceTarget("App")
    for (number, file) in files.enumerated() { first.add(file, file: "\(number)") }
    for (number, file) in files.enumerated().reversed() { second.add(file, file: "\(number)") }
    let source = ModuleRegistrationSource(ownTarget: first, dependencies: [])
    #expect(source.text == ModuleRegistrationSource(ownTarget: second, dependencies: []).text)
    #expect(
      source.registrations
        == ["service R", "service S", "module A", "module B", "module C", "module C"])
  }

  @Test func registersOnlyPublicTypesOfOtherPackages() {
    let source = registration(
      sibling: ["enum S: RouteModule {}"],
      foreign: [
        """
        public struct A {}
        extension A: RouteModule {}
        package enum B: RouteModule {}
        enum C: RouteModule {}
        public indirect @Own(1) enum D: RouteModule {}
        open class E: RouteModule {}
        public nonisolated final class H: RouteModule {}
        public distributed actor I: RouteModule {}
        public import Core
        enum F: RouteModule {}
        public let g = 1
        enum G: RouteModule {}
        extension Int: RouteModule {}
        """, "extension D: RouteService {}",
      ])
    #expect(
      source.registrations == [
        "service D", "module A", "module D", "module E", "module H", "module I", "module S",
      ])
  }

  static let dependencyTypeNames = [
    DeclarationRow("a name of its own", "public enum A: RouteModule {}", "module A"),
    DeclarationRow("a name that App has", "public enum Twin: RouteModule {}", "module Kit.Twin"),
    DeclarationRow(
      "within one that Shop has", "public extension Tea.A {}\nextension Tea.A: RouteModule {}",
      "module Kit.Tea.A"),
  ]

  @Test(arguments: dependencyTypeNames)
  func qualifiesAmbiguousTypeNamesWithTarget(_ row: DeclarationRow) {
    let source = registration(
      "enum Kit {}\nenum Twin {}", sibling: ["enum Tea {}"], foreign: [row.source])
    #expect(source.registrations == row.expected)
  }

  @Test func doesNotQualifyTypesOfOwnTarget() {
    let source = registration("enum Twin: RouteModule {}", foreign: ["public enum Twin {}"])
    #expect(source.registrations == ["module Twin"])
  }

  static let imports = [
    DeclarationRow("nothing imported", "enum A: RouteModule {}", "import Waybridge"),
    DeclarationRow("an import as any other", "@testable import Waybridge", "import Waybridge"),
    DeclarationRow(
      "an import with access", "internal import Waybridge\nimport Kit",
      "internal import Waybridge"),
    DeclarationRow(
      "an import of a part", "internal import struct Waybridge.Route", "internal import Waybridge"),
    DeclarationRow(
      "an import with a wider one", "public import Waybridge", "internal import Waybridge"),
  ]

  @Test(arguments: imports)
  func importsKeepAccessLevelOfTarget(_ row: DeclarationRow) {
    let lines = registration(row.source, sibling: ["let a = 1"]).lines
    #expect(lines.filter { $0.contains("import ") } == row.expected)
  }
}
