import Testing
import WayModules

/// Which protocol a name means in a target, and what is left out.
@Suite struct VisibilityTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let own: String
    let sibling: String
    let foreign: String
    /// The modules that are found.
    let found: [String]

    init(
      _ name: String, own: String = "", sibling: String = "", foreign: String = "",
      _ found: String...
    ) {
      testDescription = name
      (self.own, self.sibling, self.foreign, self.found) = (own, sibling, foreign, found)
    }
  }

  static let protocols = [
    Case(
      "one of a target that is depended on", own: "enum A: P {}",
      sibling: "package protocol P: RouteModule {}", "A"),
    Case(
      "one of a target that depends", own: "protocol P: RouteModule {}",
      sibling: "protocol P {}\nstruct A: P {}", foreign: "public struct B: P {}"),
    Case(
      "a public one of a target that depends", own: "public protocol P: RouteModule {}",
      sibling: "struct A: P {}", foreign: "public struct B: P {}"),
    Case(
      "one of the target itself before others", own: "protocol P {}\nstruct A: P {}",
      sibling: "package protocol P: RouteModule {}"),
    Case(
      "one of the target itself that refines another of its name",
      own: "protocol P: Shop.P {}\nstruct A: P {}\nstruct B: Shop.P {}\nstruct C: App.P {}",
      sibling: "package protocol P: RouteModule {}", "A", "B", "C"),
    Case(
      "one named as the library's",
      own: "protocol RouteModule {}\nstruct A: RouteModule {}\nstruct B: Waybridge.RouteModule {}",
      "B"),
    Case(
      "the innermost of a name",
      own: "protocol P: RouteModule {}\nenum A { protocol P {}\n enum B: P {} }\nenum C: P {}", "C"),
    Case(
      "one that another target does not show", own: "enum A: P {}\nenum B: Q {}\nenum C: N.P {}",
      sibling: "protocol P: RouteModule {}\nfileprivate protocol Q: RouteModule {}",
      foreign: "package protocol P: RouteModule {}\nenum N { public protocol P: RouteModule {} }"),
    Case(
      "a public one of another package", own: "enum A: N.P {}",
      sibling: "package enum B: Kit.N.P {}",
      foreign: "public enum N {}\nextension N { public protocol P: RouteModule {} }", "B", "A"),
    Case(
      "an internal one of another package, in it",
      foreign:
        "protocol P: RouteModule {}\npublic enum A: P {}", "A"),
  ]

  static let leftOut = [
    Case("one by hand", own: "private enum A: RouteModule, RegisteredByHand {}"),
    Case(
      "one by hand by an extension",
      own: "struct A<T> {}\nextension A: RouteModule {}\nextension A: Waybridge.RegisteredByHand {}"
    ),
    Case(
      "one by hand in a function",
      own: "func f() { struct A: RouteModule & RegisteredByHand {} }\nenum B: RouteModule {}", "B"),
    Case(
      "what refines a protocol by hand",
      own: "protocol P: RouteModule, RegisteredByHand {}\nenum A: P {}\nenum B: RouteModule {}",
      sibling: "enum B: RouteModule, RegisteredByHand {}", "B"),
  ]

  @Test(arguments: protocols + leftOut)
  func aTargetSeesItsOwnProtocolsAndWhatOthersShow(_ example: Case) throws {
    let found = try scan(example.own, sibling: [example.sibling], foreign: [example.foreign])
    #expect(found.faults.isEmpty)
    #expect(found.calls == example.found.map { "try register(module: \($0).self)" })
  }

  @Test func targetsOfOtherPackagesSeeWhatTheirPackageKeepsToItself() throws {
    var core = ScannedTarget("Core", .foreign)
    try core.add("package protocol P: RouteModule {}", file: "Core.swift")
    var kit = ScannedTarget("Kit", .foreign, dependencies: ["Core"])
    try kit.add("public enum A: P {}", file: "Kit.swift")
    let own = ScannedTarget("App", .own, dependencies: ["Core", "Kit"])
    #expect(ModuleScan(own, [core, kit]).calls == ["try register(module: A.self)"])
  }
}
