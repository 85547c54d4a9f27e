import Foundation

/// The addresses of a NATS cluster, with the credentials:
/// `nats://[USER:PASSWORD@]HOST[:PORT]`, or `tls://…` for an encrypted connection. Several are
/// separated by commas.
struct NATSAddress: Sendable {
  /// The URLs without user and password.
  let urls: [String]
  /// A user and a password, or a token alone.
  let user: String?
  let password: String?
  let isSecure: Bool

  /// The address for error messages and logs.
  var endpoint: String { urls.joined(separator: ",") }

  /// The default port of a nats-server.
  private static let defaultPort = 4222

  /// The addresses as `HOST:PORT`, sorted, by which all servers of a cluster name the same
  /// nats-servers.
  var voters: [String] { Set(urls.map(Self.voter)).sorted() }

  /// Returns the URL of one of ``voters``.
  func url(of voter: String) -> String { urls.first { Self.voter($0) == voter } ?? voter }

  private static func voter(_ url: String) -> String {
    let place = url.split(separator: "://", maxSplits: 1).last?.lowercased() ?? ""
    return place.contains(/:[0-9]+$/) ? place : "\(place):\(defaultPort)"
  }

  /// Parses an address. Throws if it names no nats-server.
  init(_ text: String) throws(NATSClusterError) {
    var urls: [String] = []
    var users: Set<String> = []
    var isSecure: Set<Bool> = []
    // A password may contain a comma.
    for part in text.split(separator: /,(?=nats:\/\/|tls:\/\/)/) {
      guard let scheme = part.firstMatch(of: /^(nats|tls):\/\//) else {
        let endpoint = part.split(separator: "@").last ?? ""
        throw NATSClusterError(
          String(endpoint), "the address begins with neither nats:// nor tls://",
          advice: "use nats://HOST:PORT or tls://HOST:PORT")
      }
      let rest = part[scheme.range.upperBound...]
      let separator = rest.lastIndex(of: "@")
      let host = separator.map { rest[rest.index(after: $0)...] } ?? rest
      users.insert(separator.map { String(rest[..<$0]) } ?? "")
      isSecure.insert(scheme.1 == "tls")
      urls.append("\(scheme.1)://\(host)")
    }
    users.remove("")
    guard !urls.isEmpty, users.count <= 1, isSecure.count == 1 else {
      throw NATSClusterError(
        urls.joined(separator: ","), "its addresses differ in scheme, user or password",
        advice: "use the same for all addresses")
    }
    self.urls = urls
    self.isSecure = isSecure.contains(true)
    let parts = (users.first ?? "").split(
      separator: ":", maxSplits: 1, omittingEmptySubsequences: false
    ).map { $0.removingPercentEncoding ?? String($0) }
    user = parts[0].isEmpty ? nil : parts[0]
    password = parts.count > 1 ? parts[1] : nil
  }
}
