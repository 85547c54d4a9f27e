import Testing
import WayModules

/// Which types of a source are found.
@Suite struct FindingTests {
  static let declarations = [
    ScanCase("a struct", "struct A: RouteModule {}", "module A"),
    ScanCase("an enum", "public enum A: RouteModule { case a }", "module A"),
    ScanCase("a class", "final class A: Base, RouteModule {}", "module A"),
    ScanCase("an actor", "actor A: RouteModule {}", "module A"),
    ScanCase("a service", "struct A: RouteService {}", "service A"),
    ScanCase("both", "struct A: RouteModule, RouteService {}", "service A", "module A"),
    ScanCase("an extension", "struct A {}\nextension A: RouteModule {}", "module A"),
    ScanCase(
      "an extension of what is declared elsewhere", "extension A.B: RouteModule {}", "module A.B"),
    ScanCase("nested", "enum A { struct B { enum C: RouteModule {} } }", "module A.B.C"),
    ScanCase(
      "nested in an extension", "struct A {}\nextension A { enum B: RouteModule {} }", "module A.B"),
    ScanCase(
      "behind a nested scope", "struct A { func f() { if x {} } }\nenum B: RouteModule {}",
      "module B"),
    ScanCase("a composition", "struct A: Codable & RouteModule {}", "module A"),
    ScanCase("a qualified name", "struct A: Waybridge.RouteModule {}", "module A"),
    ScanCase(
      "attributes and modifiers",
      "@available(macOS 10, *) @Own<Int>(x: [1]) public final class A: @preconcurrency nonisolated RouteModule {}",
      "module A"),
    ScanCase(
      "a generic parent", "class A: Base<Int, [String: (B) -> C]>, RouteModule {}", "module A"),
    ScanCase("lines", "struct A\n  : Codable,\n  // why\n  RouteModule\n{\n}", "module A"),
    ScanCase(
      "an escaped name", "enum `default` { struct `A b`: RouteModule {} }", "module `default`.`A b`"
    ),
    ScanCase(
      "another script", "struct Über: RouteModule {}\nstruct 模块: RouteModule {}", "module Über",
      "module 模块"),
    ScanCase(
      "a refining protocol", "protocol P: Sendable, RouteModule {}\nstruct A: P {}", "module A"),
    ScanCase(
      "a refinement of a refinement, in any order",
      "struct A: R {}\nprotocol R: Q {}\nprotocol Q: RouteService {}", "service A"),
    ScanCase(
      "a protocol within the type around", "enum A { protocol P: RouteModule {}\n enum B: P {} }",
      "module A.B"),
    ScanCase(
      "a conformance to two that refine it",
      "protocol P: RouteModule {}\nextension A: P {}\nstruct A: RouteModule {}", "module A"),
    ScanCase(
      "an alias", "typealias P = Sendable &\n  RouteModule\nstruct A: P {}\nstruct B {}", "module A"
    ),
    ScanCase(
      "an alias of an alias",
      "enum A { typealias P = Q\n struct B: P {} }\ntypealias Q = RouteModule;",
      "module A.B"),
    ScanCase(
      "an alias of something else", "typealias P = A<RouteModule>\nstruct A: P {}\nstruct B: Q {}"),
    ScanCase("a module selector", "struct A: Waybridge::RouteModule {}", "module A"),
    ScanCase(
      "an extension by a module selector", "extension Kit::A: RouteModule {}", "module Kit.A"),
    ScanCase(
      "an extension that names its own module", "enum A {}\nextension App.A: RouteModule {}",
      "module A"),
    ScanCase(
      "members named as keywords", "let a = (x.struct, b.actor)\nstruct A: RouteModule {}",
      "module A"),
    ScanCase(
      "class members",
      "class A: RouteModule { class var x: Int { 1 }\n class func f() -> B { B() } }",
      "module A"),
    ScanCase(
      "variables named actor", "let actor = 1\nfunc f(actor a: RouteModule) {}\nactor.run { }"),
    ScanCase(
      "a variable named actor at the end of a line",
      "func f() { switch a {\ncase b: return actor\ndefault: c\n}\n guard b == actor else { } }\nenum A: RouteModule {}",
      "module A"),
    ScanCase(
      "a comment",
      "// struct A: RouteModule {}\n/* struct B: RouteModule {} /* */ struct C: RouteModule {} */"),
    ScanCase("a string", #"let a = "struct A: RouteModule {}""#),
    ScanCase(
      "a long string",
      "let a = \"\"\"\n  \" struct A: RouteModule {}\n  \\\"\"\" }\n  \"\"\"\nenum B: RouteModule {}",
      "module B"),
    ScanCase(
      "a raw string", ##"let a = #"" \( struct A: RouteModule {}"#; enum B: RouteModule {}"##,
      "module B"),
    ScanCase(
      "a raw string of a quote", ##"let a = #"""#; enum B: RouteModule {} // """##, "module B"),
    ScanCase(
      "an interpolation", #"let a = "\(f("}{\(g("{"))", { "}" }))"; enum B: RouteModule {}"#,
      "module B"),
    ScanCase(
      "a raw interpolation", ##"let a = #"\#(f("{")) \("#; enum B: RouteModule {}"##, "module B"),
    ScanCase("a regular expression", #"let a = /[{"]\/(x)/; enum B: RouteModule {}"#, "module B"),
    ScanCase(
      "an extended regular expression", ##"let a = #/ { / " /#; enum B: RouteModule {}"##,
      "module B"),
    ScanCase("a division", "let a = b / c; enum B: RouteModule {}; let d = e / f", "module B"),
    ScanCase("a slash that ends nowhere", #"let a = /\b; enum B: RouteModule {}"#, "module B"),
    ScanCase("a byte order mark", "\u{FEFF}enum B: RouteModule {}", "module B"),
    ScanCase("lines that end as of old", "// why\renum B: RouteModule {}\r\n", "module B"),
    ScanCase("a shebang", "#!/usr/bin/swift {\nenum B: RouteModule {}", "module B"),
    ScanCase(
      "macros",
      "#Preview { struct { } }\n#sourceLocation(file: \"a\", line: 1)\nenum B: RouteModule {}",
      "module B"),
    ScanCase(
      "a private setter", "struct A { private(set) var a = 1\n enum B: RouteModule {} }",
      "module A.B"),
    ScanCase(
      "ranges in attributes",
      "struct A { @Within(0..<10) var x = 1; @Within(0..<10) var y = 2 }\nenum B: RouteModule {}",
      "module B"),
    ScanCase(
      "a shift in an attribute", "@Check(1 << 2) struct A: RouteModule {}\nenum B: RouteModule {}",
      "module A", "module B"),
    ScanCase(
      "comparisons in an attribute",
      "@Attr(b: [1 < 2: 3]) struct A { @State(when: { a < b }) var x = 1 }\nenum B: RouteModule {}",
      "module B"),
    ScanCase(
      "a comparison in the argument of a generic attribute",
      "@Attr<X<(Int) -> Int>>(a < b) struct A: RouteModule {}", "module A"),
    ScanCase(
      "calls of a function named open",
      "func f() { open(path, O_RDONLY | (1 << 2))\n if open(p, x < 3) {} }\nenum A: RouteModule {}",
      "module A"),
    ScanCase("another protocol", "struct A: RouteModules, MyRouteModule, Other.RouteModule {}"),
    ScanCase("a suppressed protocol", "struct A: ~Copyable {}\nstruct B: ~RouteModule {}"),
    ScanCase("a generic argument", "struct A: Registry<RouteModule> {}"),
    ScanCase("an import", "import struct Kit.RouteModule\nimport class B.C"),
    ScanCase("a subclass of a module", "class A: RouteModule {}\nclass B: A {}", "module A"),
    ScanCase("no Swift at all", "}}})]> struct : { @ #if (\n#else\n#endif\n#endif extension"),
    ScanCase("an open end", "struct A: RouteModule"),
    ScanCase(
      "an open string", "let a = \"struct A: RouteModule {}\nenum B: RouteModule {}", "module B"),
    ScanCase("nothing", ""),
  ]

  @Test(arguments: declarations)
  func typesAreFoundByWhatTheyConformTo(_ example: ScanCase) throws {
    let found = try scan(example.source)
    #expect(found.faults.isEmpty)
    let expected = example.found.map { name in
      let words = name.split(separator: " ", maxSplits: 1)
      return "try register(\(words[0]): \(words[1]).self)"
    }
    #expect(found.calls == expected)
  }

  static let conditions = [
    ScanCase(
      "one", "#if DEBUG\nenum A: RouteModule {}\n#endif\nenum B: RouteModule {}",
      "#if DEBUG", "A", "#endif", "B"),
    ScanCase(
      "both branches",
      "#if os(Linux) && !OLD\nenum A: RouteModule {}\n#else\nenum A: RouteModule {}\n#endif",
      "#if os(Linux) && !OLD", "A", "#endif", "#if !(os(Linux) && !OLD)", "A", "#endif"),
    ScanCase(
      "three branches",
      "#if X\nenum A: RouteModule {}\n#elseif swift(>=6.2)\nenum B: RouteModule {}\n#else\nenum C: RouteModule {}\n#endif",
      "#if X", "A", "#endif", "#if !(X) && (swift(>=6.2))", "B", "#endif",
      "#if !(X) && !(swift(>=6.2))", "C", "#endif"),
    ScanCase(
      "nested",
      "#if X\n#if Y || // why\n  Z\nenum A: RouteModule {}\n#endif\nenum B: RouteModule {}\n#endif",
      "#if (X) && (Y || Z)", "A", "#endif", "#if X", "B", "#endif"),
    ScanCase(
      "a version", "#if canImport(Kit, _version: \"1.2\")\nenum A: RouteModule {}\n#endif",
      "#if canImport(Kit, _version: \"1.2\")", "A", "#endif"),
    ScanCase(
      "conformance under a condition and without",
      "#if X\nextension A: P {}\n#endif\nprotocol P: RouteModule {}\nenum A: RouteModule {}", "A"),
    ScanCase(
      "an operator that begins a line", "#if X\n  || Y\nenum A: RouteModule {}\n#endif",
      "#if X || Y", "A", "#endif"),
    ScanCase(
      "within a type", "enum A {\n#if X\nenum B: RouteModule {}\n#endif\n}\nenum C: RouteModule {}",
      "#if X", "A.B", "#endif", "C"),
    ScanCase(
      "branches that open the same brace",
      "#if X\nenum A {\n#else\nenum A2 {\n#endif\nstruct B: RouteModule {}\n}\nenum C: RouteModule {}",
      "A2.B", "C"),
    ScanCase(
      "conformance alone", "struct A {}\n#if X\nextension A: RouteModule {}\n#endif",
      "#if X", "A", "#endif"),
  ]

  @Test(arguments: conditions)
  func whatStandsInAConditionIsRegisteredUnderIt(_ example: ScanCase) throws {
    let found = try scan(example.source)
    #expect(found.faults.isEmpty)
    let expected = example.found.map {
      $0.hasPrefix("#") ? $0 : "try register(module: \($0).self)"
    }
    #expect(found.calls == expected)
  }

  @Test func theOrderIsThatOfTheNamesWhateverTheOrderOfTheFiles() throws {
    let files = [
      "enum B: RouteModule {}\nenum S: RouteService {}", "enum A: RouteModule {}",
      "enum C: RouteModule {}\nenum R: RouteService {}",
    ]
    let first = try scan(files[0], files[1], files[2])
    let second = try scan(files[2], files[1], files[0])
    #expect(first.source == second.source)
    #expect(
      first.calls
        == ["service: R", "service: S", "module: A", "module: B", "module: C"].map {
          "try register(\($0).self)"
        })
  }

  @Test func whatTheTargetDependsOnIsImportedAndComesFirst() throws {
    let found = try scan(
      "enum A: RouteModule {}\nenum P: Refined {}",
      sibling: ["package enum B: RouteModule {}", "public protocol Refined: RouteModule {}"],
      foreign: ["public enum Kit {}\npublic enum C: Kit.None, RouteModule {}"])
    #expect(found.faults.isEmpty)
    #expect(
      found.source == """
        // Written by the plugin WaybridgeModules from the sources of App and of what it depends on.
        import Kit
        import Shop
        import Waybridge

        extension Waybridge.Router {
          /// Registers the modules and services that the build has found: 4.
          ///
          /// Throws ``RouterError/started`` when the router has been started.
          func registerModules() throws(RouterError) {
            try register(module: C.self)
            try register(module: B.self)
            try register(module: A.self)
            try register(module: P.self)
          }
        }

        """)
  }

  static let namesOfOthers = [
    ScanCase("a name of its own", "public enum A: RouteModule {}", "A"),
    ScanCase("a name that App has", "public enum Twin: RouteModule {}", "Kit.Twin"),
    ScanCase(
      "within one that Shop has", "public enum Tea { public enum A: RouteModule {} }", "Kit.Tea.A"),
    ScanCase("an extension", "extension Tea: RouteModule {}", "Tea"),
  ]

  @Test(arguments: namesOfOthers)
  func aTargetIsNamedWhereAnotherHasATypeOfTheName(_ example: ScanCase) throws {
    let found = try scan(
      "enum Kit {}\nenum Twin {}", sibling: ["enum Tea {}"], foreign: [example.source])
    #expect(found.faults.isEmpty)
    #expect(found.calls == example.found.map { "try register(module: \($0).self)" })
  }

  static let imports = [
    ScanCase("nothing imported", "enum A: RouteModule {}", "import Waybridge"),
    ScanCase(
      "an import as any other", "import Waybridge\nenum A: RouteModule {}", "import Waybridge"),
    ScanCase(
      "an import with access", "internal import Waybridge\nimport Kit\nenum A: RouteModule {}",
      "internal import Waybridge"),
    ScanCase(
      "what an extended type may come from",
      "@preconcurrency import struct Kit.Part\nprivate import Core\nextension A: RouteModule {}",
      "internal import Core", "import Kit", "import Waybridge"),
    ScanCase(
      "what it may come from at times",
      "#if os(Linux)\nimport Kit\n#endif\nextension A { enum B: RouteModule {} }",
      "#if os(Linux)", "import Kit", "#endif", "import Waybridge"),
  ]

  @Test(arguments: imports)
  func whatTheTypesNeedIsImported(_ example: ScanCase) throws {
    let lines = try scan(example.source).source.split(separator: "\n").dropFirst()
    #expect(lines.prefix { !$0.hasPrefix("extension") }.map(String.init) == example.found)
  }
}
