import ArgumentParser
import Waybridge

struct URICommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uri",
    abstract: "Take URIs apart, normalise and resolve them, strictly as RFC 3986 has it.",
    discussion: """
      Each URI is shown with its parts as written, its normal form (RFC 3986 §6.2.2) and, with \
      --base, what it means as seen from there (§5.2). A relative reference is valid, an empty one \
      too.

      With --json each answer is one line: {"uri", "valid", "scheme", "authority", "userinfo", \
      "host", "port", "path", "query", "fragment", "normalized", "resolved"}; parts that are \
      absent are null, "resolved" comes only with --base, and what is invalid has only "uri", \
      "valid": false and "reason".

      Exit code: 0 after an answer to every URI; 1 where one is invalid, told on standard error \
      (with --json it is an answer like others, and the code is 0), or input or output fail; 64 \
      where the command line is wrong.

      Example: waybridge uri --json --base native://address/list ../detail/5
      """)

  @Option(
    help: ArgumentHelp("The URI, with a scheme, to resolve each URI against.", valueName: "uri"),
    completion: .nothing)
  var base: String?

  @Flag(help: "Print one JSON object a line.")
  var json = false

  @Argument(
    help: ArgumentHelp(
      "URIs or relative references; - reads them from standard input, one a line (at most 65,536 "
        + "bytes).",
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
      throw ValidationError("--base \(quoted(base)) cannot be resolved against: \(error)")
    }
  }

  func run() throws {
    let base = try parsedBase()
    var texts = try ArgumentReader(uris)
    var output = Output()
    var isFirst = true
    var areAllValid = true
    while let next = try texts.next() {
      for text in next {
        let parts = URICommandParts(text, base: base)
        if json {
          try output.line(parts.json)
        } else if let reason = parts.reason {
          areAllValid = false
          try output.tell("Error: \(quoted(text)) is no URI: \(reason)")
        } else {
          try output.line((isFirst ? "" : "\n") + parts.text)
          isFirst = false
        }
      }
      try output.flush()
    }
    if !areAllValid, !json { throw ExitCode.failure }
  }
}
