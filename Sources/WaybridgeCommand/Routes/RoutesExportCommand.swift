import ArgumentParser
import WayTable
import WayTableTools
import Waybridge

extension TableExport.ExportFormat: ExpressibleByArgument {}

struct RoutesExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a route table for other programs and for people",
    discussion: """
      Example: waybridge routes export routes.json --format html --output routes.html
      Example: waybridge routes export routes.json --format apple-app-site-association \
      --host app.example --app-id ABCDE12345.com.example.app

      The formats are:
      - json: the table itself, with ordered members and without default values
      - plist: the same as a property list, in which null is the string "$null"
      - markdown: a page to read
      - html: a self-contained page with a search: the URIs, parameters, result and host of each \
      route
      - apple-app-site-association: Apple's file about the URLs of a website that open in an app, \
      with --app-id
      - assetlinks: Google's file about the apps that open URLs of a website, with --android-app

      An association file is for one host, and the website serves it as \
      https://HOST/.well-known/apple-app-site-association or assetlinks.json. Its URLs are those \
      that the routes match, and those that redirects send to a URI of the app. A pattern without a \
      scheme counts for each host, unless the table closes https. The types of parameters, \
      rollouts and permissions do not count.

      Apple's file has the path of each pattern. Its rules compare text: write links as the server \
      does, percent-encoded only if necessary. The file matches no other path, except that a \
      parameter before a "*" of the pattern also matches several segments. Google's file has no \
      paths: list them in the app's manifest.

      The same table always gives the same bytes.

      Exit code: 0 if the output was written; 1 if the table is invalid, has no URLs of the host, \
      or the file cannot be written or is too large for Apple (128 KiB); 64 if the command line is \
      wrong.
      """)

  @Argument(help: "Route table, a JSON file", completion: .json)
  var file: String

  @Option(
    help: ArgumentHelp(
      "Format: json, plist, markdown, html, apple-app-site-association or assetlinks",
      valueName: "name"))
  var format: TableExport.ExportFormat

  @Option(
    help: ArgumentHelp(
      "For html: URL of a running demo, to which each route links", valueName: "url"),
    completion: .nothing)
  var demo: String?

  @Option(
    help: ArgumentHelp(
      "For association files: host of the website; required if the table names several",
      valueName: "name"), completion: .nothing)
  var host: String?

  @Option(
    help: ArgumentHelp(
      "For apple-app-site-association: identifier of the app, its prefix and its bundle identifier; "
        + "can be given several times", valueName: "prefix.bundle"), completion: .nothing)
  var appId: [String] = []

  @Option(
    help: ArgumentHelp(
      "For assetlinks: package of the app, and the SHA-256 fingerprint of a certificate that signs "
        + "it; can be given several times", valueName: "package=fingerprint"), completion: .nothing)
  var androidApp: [String] = []

  @Option(
    help: ArgumentHelp("File to write; without it, standard output", valueName: "file"),
    completion: .file())
  var output: String?

  func validate() throws {
    if let demo {
      guard format == .html else { throw ValidationError("--demo requires --format html") }
      guard let uri = try? RouteURI(demo), ["http", "https"].contains(uri.scheme) else {
        throw ValidationError(
          "--demo must be the URL of a demo, such as http://localhost:8080/, not \(quoted(demo))")
      }
    }
    if host != nil, !format.isAssociation {
      throw ValidationError("--host requires --format apple-app-site-association or assetlinks")
    }
    _ = try normalHost()
    try check(appId, "--app-id", of: .appleAppSiteAssociation)
    try check(androidApp, "--android-app", of: .assetLinks)
    _ = (try appIDs(), try androidApps())
  }

  func run() throws {
    var export = TableExport(try RouteTable(file: file))
    export.demo = demo
    export.host = try normalHost()
    export.appIDs = try appIDs()
    export.androidApps = try androidApps()
    let text: String
    do { text = try export.text(as: format) } catch { throw CommandError("\(file): \(error)") }
    if let output { return try OutputFile(output).write(text) }
    var output = Output()
    try output.appendLine(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    try output.flush()
  }

  /// Checks that the apps of an association file are given, and no others.
  private func check(
    _ values: [String], _ option: String, of format: TableExport.ExportFormat
  ) throws(ValidationError) {
    if values.isEmpty, self.format == format {
      throw ValidationError("--format \(format.rawValue) requires \(option)")
    }
    if !values.isEmpty, self.format != format {
      throw ValidationError("\(option) requires --format \(format.rawValue)")
    }
  }

  /// The host in lower case.
  private func normalHost() throws(ValidationError) -> String? {
    guard let host = host?.lowercased() else { return nil }
    guard let uri = try? RouteURI("https://\(host)/"), uri.authority == host, !host.contains(":"),
      uri.path == "/"
    else {
      throw ValidationError(
        "--host must be the name of a host without a port, such as app.example, not \(quoted(host))"
      )
    }
    return host
  }

  private func appIDs() throws(ValidationError) -> [AppleAppID] {
    try appId.map { text throws(ValidationError) in
      guard let appID = AppleAppID(text) else {
        throw ValidationError(
          "--app-id must be ten capital letters or digits, a dot and a bundle identifier, such as "
            + "ABCDE12345.com.example.app, not \(quoted(text))")
      }
      return appID
    }
  }

  private func androidApps() throws(ValidationError) -> [AndroidApp] {
    try androidApp.map { text throws(ValidationError) in
      do { return try AndroidApp(text) } catch {
        throw ValidationError("--android-app must be PACKAGE=FINGERPRINT: \(error)")
      }
    }
  }
}
