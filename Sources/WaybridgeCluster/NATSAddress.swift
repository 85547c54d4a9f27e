import Foundation

/// Where the engines of one cluster are, and as whom to come:
/// `nats://[USER:PASSWORD@]HOST[:PORT]`, or `tls://…` for a connection that nobody reads; several have
/// commas between them.
struct NATSAddress {
  /// Each without user and password.
  let urls: [String]
  /// A user and a password, or a token alone.
  let user: String?
  let password: String?
  let isSecure: Bool

  /// What can be told and logged.
  var place: String { urls.joined(separator: ",") }

  /// Throws where it names no engine.
  init(_ text: String) throws(NATSClusterError) {
    var urls: [String] = []
    var users: Set<String> = []
    var isSecure: Set<Bool> = []
    // A password may hold a comma.
    for part in text.split(separator: /,(?=nats:\/\/|tls:\/\/)/) {
      guard let scheme = part.firstMatch(of: /^(nats|tls):\/\//) else {
        let place = part.split(separator: "@").last ?? ""
        throw NATSClusterError(
          String(place), "the address begins with neither nats:// nor tls://",
          advice: "give nats://HOST:PORT, or tls://HOST:PORT")
      }
      let rest = part[scheme.range.upperBound...]
      let sign = rest.lastIndex(of: "@")
      let host = sign.map { rest[rest.index(after: $0)...] } ?? rest
      users.insert(sign.map { String(rest[..<$0]) } ?? "")
      isSecure.insert(scheme.1 == "tls")
      urls.append("\(scheme.1)://\(host)")
    }
    users.remove("")
    guard !urls.isEmpty, users.count <= 1, isSecure.count == 1 else {
      throw NATSClusterError(
        urls.joined(separator: ","), "its engines differ in scheme, user or password",
        advice: "give the same for all engines of a cluster")
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
