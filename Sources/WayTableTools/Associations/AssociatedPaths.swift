import WayPatterns
import WayRouting
import WayTable

/// The reason why a table cannot be exported in a format.
package struct TableExportError: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// The paths of a website's URLs that a table leads to an app: those that its routes match, and those
/// that its redirects send to a URI of the app.
///
/// They are the paths that the server would match, so a pattern without a scheme counts for every
/// host, unless the table closes the scheme `https`.
struct AssociatedPaths {
  /// A path, and the name of its route for people.
  struct AssociatedPath {
    let path: RoutePattern.WebPath
    let comment: String
  }

  /// The host of the website.
  let host: String
  /// The paths, in the order of the table: redirects after routes.
  let paths: [AssociatedPath]

  /// Collects the paths of a host. `host` can be `nil` if the table's patterns name only one.
  init(_ table: RouteTable, host: String?) throws(TableExportError) {
    let sources = Self.sources(of: table)
    let hosts = Self.hosts(of: sources.map(\.pattern))
    self.host = try Self.chosenHost(host, of: hosts)
    var paths: [AssociatedPath] = []
    for source in sources {
      for path in source.pattern.webPaths(ofHost: self.host)
      where !paths.contains(where: { $0.path == path }) {
        paths.append(AssociatedPath(path: path, comment: source.comment))
      }
    }
    self.paths = paths
    if paths.isEmpty {
      let others = hosts.isEmpty ? "" : "; its patterns name \(Self.list(hosts))"
      throw TableExportError(
        "no pattern of the table matches https URLs of \"\(self.host)\"\(others)")
    }
  }

  private typealias PatternSource = (pattern: RoutePattern, comment: String)

  /// The patterns that match URIs with the scheme `https`.
  private static func sources(of table: RouteTable) -> [PatternSource] {
    let declarations = table.declarations
    let isClosed = declarations.schemes.contains { $0.name == "https" && $0.isClosed }
    func applies(_ pattern: RoutePattern) -> Bool {
      pattern.scheme == "https" || pattern.scheme == nil && !isClosed
    }
    let routes = declarations.routes.flatMap { route in
      route.patterns.filter(applies).map { ($0, route.name) }
    }
    let everything =
      declarations.routes.flatMap(\.patterns) + declarations.redirects.map(\.from)
    let trie = RouteTrie(everything.map { ($0, 0) })
    let redirects = declarations.redirects.filter { redirect in
      applies(redirect.from)
        && redirect.branches.contains { $0.to.map { isOfApp($0, trie, isClosed) } ?? false }
    }
    return routes + redirects.map { ($0.from, "redirect from \($0.from.text)") }
  }

  /// Whether the target of a redirect leads to the app: it is no web page, or one with a route or a
  /// redirect of its own.
  private static func isOfApp(_ target: PatternTarget, _ trie: RouteTrie, _ isClosed: Bool) -> Bool
  {
    guard let uri = try? target.exampleURI() else { return false }
    guard uri.scheme == "https" || uri.scheme == "http" else { return true }
    guard let split = try? SplitURI(uri) else { return false }
    return trie.best(split, in: .scheme) != nil
      || !isClosed && trie.best(split, in: .global) != nil
  }

  /// The hosts that patterns name, each once. A pattern with a port is for no website of an
  /// association file.
  private static func hosts(of patterns: [RoutePattern]) -> [String] {
    var hosts: [String] = []
    for host in patterns.compactMap(\.webHost) where !host.contains(":") && !hosts.contains(host) {
      hosts.append(host)
    }
    return hosts
  }

  private static func chosenHost(
    _ host: String?, of hosts: [String]
  ) throws(TableExportError) -> String {
    if let host { return host }
    guard let first = hosts.first else {
      throw TableExportError(
        "no pattern of the table names a host of https URLs; add a pattern such as "
          + "\"https://app.example/address/:id\", or choose a host with --host")
    }
    guard hosts.count == 1 else {
      throw TableExportError(
        "the patterns of the table name \(list(hosts)), and each host has a file of its own; choose "
          + "one with --host")
    }
    return first
  }

  private static func list(_ hosts: [String]) -> String {
    let names = hosts.prefix(8).map { "\"\($0)\"" }.joined(separator: ", ")
    return hosts.count > 8 ? "\(names) and \(hosts.count - 8) more" : names
  }
}
