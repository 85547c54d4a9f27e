import ArgumentParser
import Waybridge

struct URICommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uri",
    abstract: "Parse, normalize and resolve URIs strictly by RFC 3986",
    discussion: """
      Example: waybridge uri 'native://address/7?edit=1'
      Example: waybridge uri --json --base native://address/list ../detail/5

      The command prints the parts of each URI as written and its normal form (RFC 3986 §6.2.2). \
      With --base it also prints the resolved URI (§5.2). Relative references are valid, also an \
      empty one.

      With --json each URI is one line: {"uri", "valid", "scheme", "authority", "userinfo", "host", \
      "port", "path", "query", "fragment", "normalized", "resolved"}. Absent parts are null, and \
      "resolved" is present only with --base. An invalid URI has only "uri", "valid": false and \
      "reason".

      Exit code: 0 if every URI is valid, and with --json also otherwise; 1 if a URI is invalid, \
      with the reason on standard error, or the input or output fails; 64 if the command line is \
      wrong.
      """)

  @Option(
    help: ArgumentHelp("URI with a scheme, to resolve each URI against", valueName: "uri"),
    completion: .nothing)
  var base: String?

  @Flag(help: "Print one JSON object a line")
  var json = false

  @Argument(
    help: ArgumentHelp(
      "URIs or relative references; - reads them from standard input, one a line (at most 65,536 "
        + "bytes)",
      valueName: "uri"), completion: .nothing)
  var uris: [String] = []

  mutating func validate() throws {
    _ = try ArgumentReader(uris)
    _ = try parsedBase()
  }

  private func parsedBase() throws -> RouteURI? {
    guard let base else { return nil }
    do {
      let uri = try RouteURI(base)
      guard uri.scheme != nil else { throw RouteURIError(.noScheme, at: 0) }
      return uri
    } catch let error as RouteURIError {
      throw ValidationError("--base must be a URI with a scheme, not \(quoted(base)): \(error)")
    }
  }

  func run() throws {
    let base = try parsedBase()
    var reader = try ArgumentReader(uris)
    var output = Output()
    var isFirst = true
    var areAllValid = true
    while let next = try reader.next() {
      for text in next {
        let parts = URICommandParts(text, base: base)
        if json {
          try output.appendLine(parts.json)
        } else if let reason = parts.reason {
          areAllValid = false
          try output.printError("Error: \(quoted(text)) is not a URI: \(reason)")
        } else {
          try output.appendLine((isFirst ? "" : "\n") + parts.text)
          isFirst = false
        }
      }
      try output.flush()
    }
    if !areAllValid, !json { throw ExitCode.failure }
  }
}
