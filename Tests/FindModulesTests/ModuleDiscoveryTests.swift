import Testing

@testable import FindModules

/// Which types of a file are found.
@Suite struct ModuleDiscoveryTests {
  static let declarations = [
    Row("a struct", "struct A: RouteModule {}", "module A"),
    Row("an enum", "public enum A: RouteModule { case a }", "module A"),
    Row("a class", "final class A: Parent, RouteModule {}", "module A"),
    Row("an actor", "actor A: RouteModule {}", "module A"),
    Row("a service", "struct A: RouteService {}", "service A"),
    Row("both", "struct A: RouteModule, RouteService {}", "service A", "module A"),
    Row("an extension", "struct A {}\nextension A: RouteModule {}", "module A"),
    Row("an extension of a nested type", "extension A.B: RouteModule {}", "module A.B"),
    Row("a composition", "struct A: RouteModule & Codable {}", "module A"),
    Row("the library's name before", "struct A: Waybridge.RouteModule {}", "module A"),
    Row(
      "attributes and modifiers",
      "@available(macOS 10, *) @Own<B>(x: [1]) public final\nclass A: @Own RouteModule {}",
      "module A"),
    Row("an isolated conformance", "enum A: nonisolated RouteModule {}", "module A"),
    Row(
      "generic parents", "class A: Parent<Int, [String: (B) -> C], D<() -> E>>, RouteModule {}",
      "module A"),
    Row("lines", "struct A\n  : Codable,\n  // why\n  RouteModule\n{\n}", "module A"),
    Row("an escaped name", "enum `default`: RouteModule {}", "module `default`"),
    Row(
      "a raw name", "enum `a { b`: RouteModule {}\nenum B: RouteModule {}", "module B",
      "module `a { b`"),
    Row("another script", "struct Über: RouteModule {}", "module Über"),
    Row("pictures", "struct 🍵🏯: RouteModule {}", "module 🍵🏯"),
    Row(
      "members and others of a name that is a keyword",
      "let a = b.actor\nlet actor = 1\nactor.run { }\nenum A: RouteModule {}", "module A"),
    Row(
      "a variable called actor at the end of a line", "let a = actor\nenum A: RouteModule {}",
      "module A"),
    Row(
      "behind others", "import B\nfunc f() -> B { }\nlet a = { b }\nenum A: RouteModule {}",
      "module A"),
    Row("a macro", "#Preview { struct { } }\nenum A: RouteModule {}", "module A"),
    Row("a byte order mark", "\u{FEFF}enum A: RouteModule {}", "module A"),
    Row("the first line of a script", "#!/usr/bin/swift {\nenum A: RouteModule {}", "module A"),
    Row(
      "other ends of lines", "// b\renum A: RouteModule {}\r\n// c\r\nenum B: RouteModule {}",
      "module A", "module B"),
  ]

  static let leftToTheCompiler = [
    Row("private", "private enum A: RouteModule {}", "module A"),
    Row("generic", "struct A<T: RouteModule>: RouteModule {}", "module A"),
    Row("conditional", "extension A: RouteService where T == Int {}", "service A"),
    Row("under a condition", "#if DEBUG && os(Linux)\nenum A: RouteModule {}\n#endif", "module A"),
    Row(
      "branches",
      "#if X\nenum A: RouteModule {}\n#elseif Y\nenum B: RouteModule {}\n#else\nlet a = 1\n#endif",
      "module A", "module B"),
    Row("not available", "@available(*, unavailable) enum A: RouteModule {}", "module A"),
  ]

  static let literals = [
    Row(
      "a comment",
      "// enum A: RouteModule {}\n/* { /* */ enum B: RouteModule {} */ enum C: RouteModule {}",
      "module C"),
    Row(
      "a comment without end", "enum A: RouteModule {} /* /* */ enum B: RouteModule {}",
      "module A"),
    Row("a string", #"let a = "enum A: RouteModule {} {"; enum B: RouteModule {}"#, "module B"),
    Row("a string without end", "let a = \"{\nenum B: RouteModule {}", "module B"),
    Row("escapes", #"let a = "\"{\\"; enum B: RouteModule {}"#, "module B"),
    Row("an empty string", #"let a = ""; enum B: RouteModule {}; let c = """#, "module B"),
    Row(
      "a long string",
      "let a = \"\"\"\n \" {\nenum A: RouteModule {}\n \\\"\"\" {\n \"\"\"\nenum B: RouteModule {}",
      "module B"),
    Row("a raw string", ##"let a = #"" { \( \"#; enum B: RouteModule {}"##, "module B"),
    Row("a raw string of a quote", ##"let a = #"""#; enum B: RouteModule {}"##, "module B"),
    Row(
      "a long raw string", "let a = #\"\"\"\n\"\"\" \\( {\n\"\"\"#; enum B: RouteModule {}",
      "module B"
    ),
    Row(
      "an interpolation",
      #"let a = "{\(f("}{\(g("{"))", { "}" /* " */ })){"; enum B: RouteModule {}"#, "module B"),
    Row(
      "an interpolation over lines",
      "let a = \"\"\"\n\\(f(\n\"{\")) {\n\"\"\"; enum B: RouteModule {}",
      "module B"),
    Row("a raw interpolation", ##"let a = #"\#(f("{")) \("#; enum B: RouteModule {}"##, "module B"),
    Row("a type in an interpolation", #"let a = "\({ enum A: RouteModule {} })""#),
    Row("a regular expression", #"let a = /[{"]\/(x)/; enum B: RouteModule {}"#, "module B"),
    Row("one as an argument", #"let a = f(/{/, b: /"/); enum B: RouteModule {}"#, "module B"),
    Row(
      "an extended regular expression", ##"let a = #/ { / \( " /#; enum B: RouteModule {}"##,
      "module B"),
    Row("a long regular expression", "let a = #/\n{ \"\n/#; enum B: RouteModule {}", "module B"),
    Row("divisions", "let a = b / (c); enum B: RouteModule {}; let d = e / f", "module B"),
    Row("close divisions", "let a = b/c; enum B: RouteModule {}; let d = (e)/f", "module B"),
    Row(
      "a slash as the last argument", "let a = f(1, /); enum B: RouteModule {}; let c = 2 / 1",
      "module B"),
    Row(
      "a slash as the first argument", "let a = f(/, 1); enum B: RouteModule {}; let c = 2 / 1",
      "module B"),
    Row(
      "a division in place", "func f() { a /= 2 } // don't /\nenum B: RouteModule {}", "module B"),
    Row("a slash that ends nowhere", "let a = (/b); enum B: RouteModule {}", "module B"),
  ]

  @Test(arguments: declarations + leftToTheCompiler + literals)
  func directConformancesAtTopLevelAreFound(_ row: Row) {
    #expect(registration(row.source).found == row.found)
  }

  @Test(arguments: [
    Row("a nested type", "enum A { enum B: RouteModule {} }"),
    Row("one in an extension", "extension A { struct B: RouteService {} }"),
    Row("one in a function", "func f() { enum A: RouteModule {} }"),
    Row("a protocol and what conforms to it", "protocol P: RouteModule {}\nstruct A: P {}"),
    Row("an alias", "typealias P = RouteModule\nstruct A: P {}"),
    Row("an alias of the type", "typealias A = RouteModule"),
    Row("a generic argument", "struct A: P<RouteModule> {}"),
    Row("a generic parameter", "struct A<T: RouteModule>: P {}"),
    Row("a constraint", "extension A where T: RouteModule {}"),
    Row("another module's protocol", "struct A: Kit.RouteModule {}"),
    Row("a protocol of another name", "struct A: RouteModules, MyRouteModule, RouteModule.Kind {}"),
    Row("a variable behind one", "let a = actor\nlazy var b: RouteModule & Sendable = { c }()"),
    Row("what has no name", "extension [A]: RouteModule {}\nextension A?: RouteModule {}"),
    Row("a parameter", "func f(actor a: RouteModule) {}\nlet a = [actor: RouteModule]()"),
    Row("a macro that adds it", "@RouteModule struct A {}"),
  ])
  func nothingElseIsFound(_ row: Row) {
    #expect(registration(row.source).found.isEmpty)
  }

  @Test func whatConformsByHandIsLeftOutWhereverItSaysSo() {
    let source = registration(
      """
      private enum A: RouteModule, RegisteredByHand {}
      struct B<T>: RouteModule {}
      enum C: RouteModule {}
      enum D: RouteService & Waybridge.RegisteredByHand {}
      extension Kit.E: @retroactive RegisteredByHand {}
      """, "extension B: RegisteredByHand {}",
      sibling: ["enum A: RouteModule {}\nenum F: RouteModule, RegisteredByHand {}"],
      foreign: ["public struct E<T>: RouteModule {}\npublic enum F: RouteModule {}"])
    #expect(source.found == ["module Kit.F", "module Shop.A", "module C"])
  }

  @Test func linesAreThoseOfTheDeclarations() {
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
  func whateverRepeatsIsRead(_ text: String) {
    #expect(registration(String(repeating: text, count: 20_000)).found.isEmpty)
  }

  @Test func aBracketThatNothingClosesIsTold() {
    let warning = "warning: nothing seems to close this bracket: types behind it are not found"
    #expect(target("App", ["\nfunc f() {\n(\n"]).warnings == ["App1.swift:2: \(warning)"])
    #expect(target("App", ["func f() { \"{\" }", "let a = [(1)]"]).warnings.isEmpty)
  }
}
