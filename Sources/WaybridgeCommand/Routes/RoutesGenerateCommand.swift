import ArgumentParser
import WayTable
import WayTableTools
import Waybridge

extension CodeLanguage: ExpressibleByArgument {}

struct RoutesGenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Generate typed calls from a route table",
    discussion: """
      Example: waybridge routes generate routes.json --language typescript --output web
      Example: waybridge routes generate routes.json --language swift --language kotlin --output app

      The command writes one file for each language: routes.ts, Routes.swift, routes.dart, \
      Routes.kt, RouteIntents.swift, RouteFunctions.kt. A file contains the patterns of the routes as \
      constants, and a typed call for each route, page method and topic. It also contains the version \
      and the hash of the table. The same table always gives the same bytes; a file that has them \
      already is not written.

      TypeScript is for the JavaScript client: new Bridge<Routes>({ table }). Swift is for the Swift \
      client, or with --module Waybridge for the server's library: client.open(.address(id: "a2")). \
      Dart and Kotlin use a small interface that the file declares.

      The languages appintents and appfunctions are for the assistants of phones, and contain only \
      routes with the member agents. appintents writes App Intents in Swift for Apple's platforms. \
      appfunctions writes a service of Android's AppFunctions in Kotlin, which needs the file for \
      kotlin with the same package. Routes with a required parameter that the platform does not \
      support are omitted; the file lists them.

      Names are derived from the names in the table. Letters and digits form words, which are joined \
      in camel case (cart.changed becomes cartChanged). Characters beyond ASCII become their number \
      (u1F600). A name that begins with a digit gets a prefix (route404), a keyword of the language \
      an underscore (default_), and the second of two equal names a number (address2). A pattern \
      with optional groups has a constant for each form, the form with the most parameters first. \
      Routes whose patterns all lack a scheme are omitted; the file lists them.

      Exit code: 0 if all files were written, or with --check are current; 1 if the table is \
      invalid, a file cannot be written, or with --check is missing or stale; 64 if the command \
      line is wrong.
      """)

  @Argument(help: "Route table, a JSON file", completion: .json)
  var file: String

  @Option(
    help: ArgumentHelp(
      "Language: typescript, swift, dart, kotlin, appintents or appfunctions; can be given several times",
      valueName: "name"))
  var language: [CodeLanguage]

  @Option(
    help: ArgumentHelp("Folder of the generated files", valueName: "folder"),
    completion: .directory)
  var output: String

  @Option(
    help: ArgumentHelp(
      "Module that the Swift code imports: WaybridgeClient (default) or Waybridge",
      valueName: "name"), completion: .list(["WaybridgeClient", "Waybridge"]))
  var module: String?

  @Option(
    help: ArgumentHelp("Package of the Kotlin code", valueName: "name"), completion: .nothing)
  var package: String?

  @Flag(help: "Write nothing, and list the files that are missing or stale")
  var check = false

  func validate() throws {
    if let module, !Self.isName(module) || !language.contains(.swift) {
      throw ValidationError(
        "--module must be the name of a module, with --language swift, not \(quoted(module))")
    }
    if let package {
      let parts = package.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard parts.allSatisfy(Self.isName), language.contains(where: { $0.syntax == .kotlin }) else {
        throw ValidationError(
          "--package must be the name of a package, with --language kotlin or appfunctions, not "
            + quoted(package))
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
      switch file.matches(code.text) {
      case true?: try output.appendLine("\(path): current")
      case let isStale where check:
        stale += 1
        let what = isStale == nil ? "missing" : "stale"
        try output.printError(
          "\(path) is \(what): the table has the version \(quoted(table.version)) and the hash "
            + "\(table.stamp.hash); run the command without --check")
      case _:
        try file.write(code.text)
        try output.appendLine("\(path): written")
      }
    }
    try output.flush()
    if stale > 0 { throw ExitCode.failure }
  }
}
