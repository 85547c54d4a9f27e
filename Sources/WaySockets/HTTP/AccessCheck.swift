/// Who may ask, until there is a policy: programs of this machine, and pages that this server
/// serves.
///
/// A page of another origin can send requests here, and name a host that resolves to loopback; both
/// show in Origin and Host, which it cannot forge. They are compared exactly.
struct AccessCheck: Sendable {
  private let hosts: [String]
  private let origins: [String]

  init(port: Int) {
    let names = ["127.0.0.1", "localhost", "[::1]"]
    // A browser leaves out the port that is its scheme's own.
    hosts = names.map { "\($0):\(port)" } + (port == 80 ? names : [])
    origins = hosts.map { "http://\($0)" }
  }

  /// Nil where the request may go on.
  func fault(of head: RequestHead) -> RequestFault? {
    let named = head.values("host")
    guard let host = named.first else {
      return RequestFault(400, "the Host header is missing")
    }
    guard named.count == 1 else { return RequestFault(400, "there is more than one Host header") }
    guard hosts.contains(host) else {
      return RequestFault(
        403,
        "the Host header must be one of \(hosts.joined(separator: ", ")); it is \(quoted(host))")
    }
    let origin = head.values("origin")
    guard origin.count <= 1 else {
      return RequestFault(400, "there is more than one Origin header")
    }
    if let origin = origin.first, !origins.contains(origin) {
      return RequestFault(
        403,
        "the Origin header must be absent or one of \(origins.joined(separator: ", ")); it is "
          + "\(quoted(origin))"
      )
    }
    return nil
  }
}

/// A peer's text as it may stand in an answer: short and printable.
func quoted(_ text: String) -> String {
  let shown = text.utf8.prefix(80).map { (0x20..<0x7F).contains($0) && $0 != 0x22 ? $0 : 0x3F }
  return "\"\(String(decoding: shown, as: UTF8.self))\"" + (text.utf8.count > 80 ? "…" : "")
}
