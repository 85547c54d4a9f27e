import Testing

@testable import FindModules

/// Discovery of module and service types in source files.
@Suite struct ModuleDiscoveryTests {
  static let declarations = [
    DeclarationRow("a struct", "struct A: RouteModule {}", "module A"),
    DeclarationRow("an enum", "public enum A: RouteModule { case a }", "module A"),
    DeclarationRow("a class", "final class A: Parent, RouteModule {}", "module A"),
    DeclarationRow("an actor", "actor A: RouteModule {}", "module A"),
    DeclarationRow("a service", "struct A: RouteService {}", "service A"),
    DeclarationRow("both", "struct A: RouteModule, RouteService {}", "service A", "module A"),
    DeclarationRow("an extension", "struct A {}\nextension A: RouteModule {}", "module A"),
    DeclarationRow("an extension of a nested type", "extension A.B: RouteModule {}", "module A.B"),
    DeclarationRow("a composition", "struct A: RouteModule & Codable {}", "module A"),
    DeclarationRow("the library's name before", "struct A: Waybridge.RouteModule {}", "module A"),
    DeclarationRow(
      "attributes and modifiers",
      "@available(macOS 10, *) @Own<B>(x: [1]) public final\nclass A: @Own RouteModule {}",
      "module A"),
    DeclarationRow("an isolated conformance", "enum A: nonisolated RouteModule {}", "module A"),
    DeclarationRow(
      "generic parents", "class A: Parent<Int, [String: (B) -> C], D<() -> E>>, RouteModule {}",
      "module A"),
    DeclarationRow("lines", "struct A\n  : Codable,\n  // why\n  RouteModule\n{\n}", "module A"),
    DeclarationRow("an escaped name", "enum `default`: RouteModule {}", "module `default`"),
    DeclarationRow(
      "a raw name", "enum `a { b`: RouteModule {}\nenum B: RouteModule {}", "module B",
      "module `a { b`"),
    DeclarationRow("another script", "struct Über: RouteModule {}", "module Über"),
    DeclarationRow("pictures", "struct 🍵🏯: RouteModule {}", "module 🍵🏯"),
    DeclarationRow(
      "members and others of a name that is a keyword",
      "let a = b.actor\nlet actor = 1\nactor.run { }\nenum A: RouteModule {}", "module A"),
    DeclarationRow(
      "a variable called actor at the end of a line", "let a = actor\nenum A: RouteModule {}",
      "module A"),
    DeclarationRow(
      "behind others", "import B\nfunc f() -> B { }\nlet a = { b }\nenum A: RouteModule {}",
      "module A"),
    DeclarationRow("a macro", "#Preview { struct { } }\nenum A: RouteModule {}", "module A"),
    DeclarationRow("a byte order mark", "\u{FEFF}enum A: RouteModule {}", "module A"),
    DeclarationRow(
      "the first line of a script", "#!/usr/bin/swift {\nenum A: RouteModule {}", "module A"),
    DeclarationRow(
      "other ends of lines", "// b\renum A: RouteModule {}\r\n// c\r\nenum B: RouteModule {}",
      "module A", "module B"),
  ]

  static let compilerCheckedDeclarations = [
    DeclarationRow("private", "private enum A: RouteModule {}", "module A"),
    DeclarationRow("generic", "struct A<T: RouteModule>: RouteModule {}", "module A"),
    DeclarationRow("conditional", "extension A: RouteService where T == Int {}", "service A"),
    DeclarationRow(
      "under a condition", "#if DEBUG && os(Linux)\nenum A: RouteModule {}\n#endif", "module A"),
    DeclarationRow(
      "branches",
      "#if X\nenum A: RouteModule {}\n#elseif Y\nenum B: RouteModule {}\n#else\nlet a = 1\n#endif",
      "module A", "module B"),
    DeclarationRow(
      "not available", "@available(*, unavailable) enum A: RouteModule {}", "module A"),
  ]

  static let literals = [
    DeclarationRow(
      "a comment",
      "// enum A: RouteModule {}\n/* { /* */ enum B: RouteModule {} */ enum C: RouteModule {}",
      "module C"),
    DeclarationRow(
      "a comment without end", "enum A: RouteModule {} /* /* */ enum B: RouteModule {}",
      "module A"),
    DeclarationRow(
      "a string", #"let a = "enum A: RouteModule {} {"; enum B: RouteModule {}"#, "module B"),
    DeclarationRow("a string without end", "let a = \"{\nenum B: RouteModule {}", "module B"),
    DeclarationRow("escapes", #"let a = "\"{\\"; enum B: RouteModule {}"#, "module B"),
    DeclarationRow(
      "an empty string", #"let a = ""; enum B: RouteModule {}; let c = """#, "module B"),
    DeclarationRow(
      "a long string",
      "let a = \"\"\"\n \" {\nenum A: RouteModule {}\n \\\"\"\" {\n \"\"\"\nenum B: RouteModule {}",
      "module B"),
    DeclarationRow("a raw string", ##"let a = #"" { \( \"#; enum B: RouteModule {}"##, "module B"),
    DeclarationRow(
      "a raw string of a quote", ##"let a = #"""#; enum B: RouteModule {}"##, "module B"),
    DeclarationRow(
      "a long raw string", "let a = #\"\"\"\n\"\"\" \\( {\n\"\"\"#; enum B: RouteModule {}",
      "module B"
    ),
    DeclarationRow(
      "an interpolation",
      #"let a = "{\(f("}{\(g("{"))", { "}" /* " */ })){"; enum B: RouteModule {}"#, "module B"),
    DeclarationRow(
      "an interpolation over lines",
      "let a = \"\"\"\n\\(f(\n\"{\")) {\n\"\"\"; enum B: RouteModule {}",
      "module B"),
    DeclarationRow(
      "a raw interpolation", ##"let a = #"\#(f("{")) \("#; enum B: RouteModule {}"##, "module B"),
    DeclarationRow("a type in an interpolation", #"let a = "\({ enum A: RouteModule {} })""#),
    DeclarationRow(
      "a regular expression", #"let a = /[{"]\/(x)/; enum B: RouteModule {}"#, "module B"),
    DeclarationRow(
      "one as an argument", #"let a = f(/{/, b: /"/); enum B: RouteModule {}"#, "module B"),
    DeclarationRow(
      "an extended regular expression", ##"let a = #/ { / \( " /#; enum B: RouteModule {}"##,
      "module B"),
    DeclarationRow(
      "a long regular expression", "let a = #/\n{ \"\n/#; enum B: RouteModule {}", "module B"),
    DeclarationRow(
      "divisions", "let a = b / (c); enum B: RouteModule {}; let d = e / f", "module B"),
    DeclarationRow(
      "close divisions", "let a = b/c; enum B: RouteModule {}; let d = (e)/f", "module B"),
    DeclarationRow(
      "a slash as the last argument", "let a = f(1, /); enum B: RouteModule {}; let c = 2 / 1",
      "module B"),
    DeclarationRow(
      "a slash as the first argument", "let a = f(/, 1); enum B: RouteModule {}; let c = 2 / 1",
      "module B"),
    DeclarationRow(
      "a division in place", "func f() { a /= 2 } // don't /\nenum B: RouteModule {}", "module B"),
    DeclarationRow("a slash that ends nowhere", "let a = (/b); enum B: RouteModule {}", "module B"),
  ]

  @Test(arguments: declarations + compilerCheckedDeclarations + literals)
  func findsDirectTopLevelConformances(_ row: DeclarationRow) {
    #expect(registration(row.source).registrations == row.expected)
  }

  @Test(arguments: [
    DeclarationRow("a nested type", "enum A { enum B: RouteModule {} }"),
    DeclarationRow("one in an extension", "extension A { struct B: RouteService {} }"),
    DeclarationRow("one in a function", "func f() { enum A: RouteModule {} }"),
    DeclarationRow(
      "a protocol and what conforms to it", "protocol P: RouteModule {}\nstruct A: P {}"),
    DeclarationRow("an alias", "typealias P = RouteModule\nstruct A: P {}"),
    DeclarationRow("an alias of the type", "typealias A = RouteModule"),
    DeclarationRow("a generic argument", "struct A: P<RouteModule> {}"),
    DeclarationRow("a generic parameter", "struct A<T: RouteModule>: P {}"),
    DeclarationRow("a constraint", "extension A where T: RouteModule {}"),
    DeclarationRow("another module's protocol", "struct A: Kit.RouteModule {}"),
    DeclarationRow(
      "a protocol of another name", "struct A: RouteModules, MyRouteModule, RouteModule.Kind {}"),
    DeclarationRow(
      "a variable behind one", "let a = actor\nlazy var b: RouteModule & Sendable = { c }()"),
    DeclarationRow(
      "what has no name", "extension [A]: RouteModule {}\nextension A?: RouteModule {}"),
    DeclarationRow(
      "a parameter", "func f(actor a: RouteModule) {}\nlet a = [actor: RouteModule]()"),
    DeclarationRow("a macro that adds it", "@RouteModule struct A {}"),
  ])
  func ignoresNestedAndIndirectConformances(_ row: DeclarationRow) {
    #expect(registration(row.source).registrations.isEmpty)
  }

  @Test func skipsManuallyRegisteredTypes() {
    let source = registration(
      """
      private enum A: RouteModule, ManualRegistration {}
      struct B<T>: RouteModule {}
      enum C: RouteModule {}
      enum D: RouteService & Waybridge.ManualRegistration {}
      extension Kit.E: @retroactive ManualRegistration {}
      """, "extension B: ManualRegistration {}",
      sibling: ["enum A: RouteModule {}\nenum F: RouteModule, ManualRegistration {}"],
      foreign: ["public struct E<T>: RouteModule {}\npublic enum F: RouteModule {}"])
    #expect(source.registrations == ["module Kit.F", "module Shop.A", "module C"])
  }

  @Test func reportsLineOfDeclaration() {
    let text = #"""
      #!/usr/bin/swift
      /*
       */ let a = """
        \(f(
          1)) \
        """
      let b = #/
        x
        /#

      @Own
      final
        class A
      : RouteModule {}
      """#
    #expect(target("App", [text]).types.map(\.line) == [13])
  }

  @Test(arguments: [
    "{", "(", "[", "\"\\(", "enum A {", "/*", "#", "`", "@", "enum A<", "struct A: ", "/\\",
  ])
  func readsManyRepeatedTokens(_ text: String) {
    #expect(registration(String(repeating: text, count: 20_000)).registrations.isEmpty)
  }

  @Test func warnsAboutUnclosedBrackets() {
    let warning = "warning: this bracket is not closed; types after it are not found"
    #expect(target("App", ["\nfunc f() {\n(\n"]).warnings == ["App1.swift:2: \(warning)"])
    #expect(target("App", ["func f() { \"{\" }", "let a = [(1)]"]).warnings.isEmpty)
  }
}
