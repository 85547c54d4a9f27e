import ArgumentParser
import WayTable
import WayTableTools
import Waybridge

extension CodeLanguage: ExpressibleByArgument {}

struct RoutesGenerate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Make typed calls of a route table.",
    discussion: """
      Writes one file for each language: routes.ts, Routes.swift, routes.dart, Routes.kt. In it are \
      the patterns of the routes as constants, a call for each route, method of a page and topic, \
      with the types of parameters and results, and the version and hash of the table. The same \
      table gives the same bytes; a file that has them already is left as it is.

      TypeScript is for the JavaScript client: new Bridge<Routes>({ table }). Swift is for the Swift \
      client, or with --module Waybridge for the server's library: client.open(.address(id: "a2")). \
      Dart and Kotlin stand on a small interface that the file declares.

      Names are made of the table's: all but letters and digits parts words, which are put together \
      (cart.changed is cartChanged). Signs beyond ASCII are written by their number (u1F600), a name \
      that begins with a digit has the word for what it is before it (route404), a word of the \
      language an underscore behind it (default_), and of two that would be the same the later one \
      a number (address2). A pattern with optional groups has a constant for each way to read it, \
      the one with the most parameters first. Routes whose patterns all lack a scheme are left out, \
      which the file says.

      Exit code: 0 when all is written, or with --check current; 1 where the table is wrong, a file \
      cannot be written, or with --check one is missing or stale; 64 where the command line is wrong.

      Example: waybridge routes generate routes.json --language swift --language kotlin --output app
      """)

  @Argument(help: "The route table, a JSON document.", completion: .json)
  var file: String

  @Option(
    help: ArgumentHelp(
      "typescript, swift, dart or kotlin; may be given several times.", valueName: "name"))
  var language: [CodeLanguage]

  @Option(
    help: ArgumentHelp("The folder that the files are in.", valueName: "folder"),
    completion: .directory)
  var output: String

  @Option(
    help: ArgumentHelp(
      "What the Swift code imports: WaybridgeClient (where nothing is said) or Waybridge.",
      valueName: "name"), completion: .list(["WaybridgeClient", "Waybridge"]))
  var module: String?

  @Option(
    help: ArgumentHelp("The package of the Kotlin code.", valueName: "name"), completion: .nothing)
  var package: String?

  @Flag(help: "Write nothing, and tell which files are missing or stale.")
  var check = false

  func validate() throws {
    if let module, !Self.isName(module) || !language.contains(.swift) {
      throw ValidationError(
        "--module is the name of a module for --language swift, not \(quoted(module)).")
    }
    if let package {
      let parts = package.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard parts.allSatisfy(Self.isName), language.contains(.kotlin) else {
        throw ValidationError(
          "--package is the name of a package for --language kotlin, not \(quoted(package)).")
      }
    }
  }

  private static func isName(_ text: String) -> Bool {
    text.utf8.first.map { !(0x30...0x39).contains($0) } == true
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x5F
      }
  }

  func run() throws {
    let table = try RouteTable(file: file)
    var output = Output()
    var stale = 0
    for language in CodeLanguage.allCases where self.language.contains(language) {
      let code = GeneratedCode(
        of: table, in: language, module: language == .swift ? module : package)
      let path = "\(self.output)/\(code.fileName)"
      let file = OutputFile(path)
      switch file.holds(code.text) {
      case true?: try output.line("\(path): current")
      case let isStale where check:
        stale += 1
        let what = isStale == nil ? "missing" : "stale"
        try output.tell(
          "\(path) is \(what): the table has the version \(quoted(table.version)) and the hash "
            + "\(table.stamp.hash); run this without --check")
      case _:
        try file.write(code.text)
        try output.line("\(path): written")
      }
    }
    try output.flush()
    if stale > 0 { throw ExitCode.failure }
  }
}
