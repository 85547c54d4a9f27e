/// The parts of a `ws:` URL that a client needs (RFC 6455 §3).
struct WebSocketAddress: Hashable {
  /// Without the brackets of an IPv6 address.
  var host: String
  var port: Int
  /// Path and query. It begins with a slash.
  var target: String
  /// The value of the Host header.
  var authority: String

  init(_ url: String) throws(SocketError) {
    func invalid(_ reason: String) -> SocketError {
      SocketError(.invalid, "\(quoted(url)) cannot be connected to: \(reason)")
    }
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), url.utf8.count <= 2048 else {
      throw invalid("a URL may have at most 2048 characters, all of them printable ASCII")
    }
    if url.lowercased().hasPrefix("wss:") {
      throw invalid("wss is not supported; use ws to a server on this machine or through a tunnel")
    }
    guard url.lowercased().hasPrefix("ws://") else {
      throw invalid("the URL must begin with ws://")
    }
    let rest = url.dropFirst(5)
    guard !rest.contains("#") else { throw invalid("a WebSocket URL must not have a fragment") }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let authority = rest[..<end]
    let tail = rest[end...]
    target = tail.hasPrefix("/") ? String(tail) : "/" + tail
    guard !authority.contains("@") else {
      throw invalid("user names and passwords are not supported")
    }
    let portText: Substring
    if authority.hasPrefix("[") {
      guard let close = authority.firstIndex(of: "]") else { throw invalid("a ] is missing") }
      host = String(authority[authority.index(after: authority.startIndex)..<close])
      portText = authority[authority.index(after: close)...]
    } else {
      let colon = authority.firstIndex(of: ":") ?? authority.endIndex
      host = String(authority[..<colon])
      portText = authority[colon...]
    }
    guard (1...100).contains(host.utf8.count) else {
      throw invalid("the host is missing or too long")
    }
    if portText.isEmpty {
      port = 80
    } else {
      let digits = portText.dropFirst()
      guard portText.hasPrefix(":"), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int(digits), (1...65_535).contains(number)
      else { throw invalid("the port is not a number between 1 and 65535") }
      port = number
    }
    self.authority = String(authority)
  }
}
