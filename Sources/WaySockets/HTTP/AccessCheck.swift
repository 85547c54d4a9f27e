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
      return RequestFault(400, "the Host header is missing", .host)
    }
    guard named.count == 1 else {
      return RequestFault(400, "there is more than one Host header", .host)
    }
    guard hosts.contains(head.authority ?? host) else {
      let place = head.authority == nil ? "the Host header" : "the host of the request target"
      return RequestFault(
        403,
        "\(place) must be one of \(hosts.joined(separator: ", ")); it is "
          + quoted(head.authority ?? host), .host)
    }
    let origin = head.values("origin")
    guard origin.count <= 1 else {
      return RequestFault(400, "there is more than one Origin header", .origin)
    }
    if let origin = origin.first, !origins.contains(origin) {
      return RequestFault(
        403,
        "the Origin header must be absent or one of \(origins.joined(separator: ", ")); it is "
          + "\(quoted(origin))", .origin)
    }
    return proxyFault(of: head)
  }

  /// A proxy makes all who come through it look like programs of this machine, so none is let in.
  private func proxyFault(of head: RequestHead) -> RequestFault? {
    let sent = head.fields.first { name, _ in
      name == "forwarded" || name == "via" || name == "x-real-ip"
        || name.hasPrefix("x-forwarded-")
    }
    guard let name = sent?.name else { return nil }
    return RequestFault(
      403, "the header \(name) shows a proxy, and requests through proxies are not taken here",
      .proxy)
  }
}

/// A peer's text as it may stand in an answer: short and printable.
func quoted(_ text: String) -> String {
  let shown = text.utf8.prefix(80).map { (0x20..<0x7F).contains($0) && $0 != 0x22 ? $0 : 0x3F }
  return "\"\(String(decoding: shown, as: UTF8.self))\"" + (text.utf8.count > 80 ? "…" : "")
}
