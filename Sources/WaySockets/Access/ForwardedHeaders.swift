import WayTransport

/// The header fields that proxies add: Forwarded (RFC 7239), Via and X-Forwarded-….
struct ForwardedHeaders {
  /// The name of the first of these fields.
  let firstFieldName: String
  /// The node that each proxy names, the one closest to the client first. Empty if no proxy names
  /// one.
  let nodes: [SocketForwardedNode]

  /// Returns `nil` if there are no such fields. Throws if they are malformed or contradict each
  /// other.
  init?(_ head: RequestHead) throws(HTTPRequestRejection) {
    guard let name = Self.firstFieldName(in: head) else { return nil }
    firstFieldName = name
    let forwarded = head.values("forwarded")
    let listed = head.values("x-forwarded-for")
    let standard =
      forwarded.isEmpty ? nil : try Self.parseForwarded(forwarded.joined(separator: ","))
    let other = listed.isEmpty ? nil : try Self.parseList(listed.joined(separator: ","))
    if let standard, let other, standard != other {
      throw HTTPRequestRejection(
        400, "the headers Forwarded and X-Forwarded-For name different clients", .proxy)
    }
    nodes = standard ?? other ?? []
  }

  /// The name of the first field that reveals a proxy.
  static func firstFieldName(in head: RequestHead) -> String? {
    head.fields.first { name, _ in
      name == "forwarded" || name == "via" || name == "x-real-ip"
        || name.hasPrefix("x-forwarded-")
    }?.name
  }

  /// The client: the last node that is not a trusted proxy, else the first. `nil` if no node is
  /// named.
  func client(trusting proxies: [TrustedProxy]) -> SocketForwardedNode? {
    let client = nodes.last { node in
      if case .address(let address) = node { !proxies.includes(address) } else { true }
    }
    return client ?? nodes.first
  }

  private static func parseList(_ text: String) throws(HTTPRequestRejection)
    -> [SocketForwardedNode]
  {
    var nodes: [SocketForwardedNode] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let node = SocketForwardedNode(part.trimmed(), mayBeBare: true) else {
        throw HTTPRequestRejection(
          400, "the header X-Forwarded-For is not a list of addresses", .proxy)
      }
      nodes.append(node)
    }
    return nodes
  }

  /// Parses a list of `forwarded-element`s (RFC 7239 §4).
  private static func parseForwarded(_ text: String) throws(HTTPRequestRejection)
    -> [SocketForwardedNode]
  {
    let rejection = HTTPRequestRejection(
      400, "the header Forwarded does not conform to RFC 7239", .proxy)
    var nodes: [SocketForwardedNode] = []
    for element in try pieces(of: text, at: 0x2C, rejection) {
      guard !element.isEmpty else { throw rejection }
      var node: SocketForwardedNode?
      for pair in try pieces(of: element, at: 0x3B, rejection) where !pair.isEmpty {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(isTokenByte),
          let value = unquoted(String(parts[1]))
        else { throw rejection }
        guard parts[0].lowercased() == "for" else { continue }
        guard node == nil, let named = SocketForwardedNode(value, mayBeBare: false) else {
          throw rejection
        }
        node = named
      }
      // A proxy that names no node still counts as one hop.
      nodes.append(node ?? .obfuscated("unknown"))
    }
    return nodes
  }

  /// The parts between separators outside of quotation marks, trimmed.
  private static func pieces(
    of text: String, at separator: UInt8, _ rejection: HTTPRequestRejection
  ) throws(HTTPRequestRejection) -> [String] {
    var pieces: [[UInt8]] = [[]]
    var isQuoted = false
    var isEscaped = false
    for byte in text.utf8 {
      if byte == separator, !isQuoted {
        pieces.append([])
        continue
      }
      pieces[pieces.count - 1].append(byte)
      if isEscaped {
        isEscaped = false
      } else if isQuoted, byte == 0x5C {
        isEscaped = true
      } else if byte == 0x22 {
        isQuoted.toggle()
      }
    }
    guard !isQuoted else { throw rejection }
    return pieces.map { String(decoding: $0, as: UTF8.self).trimmed() }
  }

  /// Decodes a token or quoted-string (RFC 9110 §5.6).
  private static func unquoted(_ text: String) -> String? {
    guard text.hasPrefix("\"") else {
      return !text.isEmpty && text.utf8.allSatisfy(isTokenByte) ? text : nil
    }
    var bytes: [UInt8] = []
    var isEscaped = false
    var isComplete = false
    for byte in text.utf8.dropFirst() {
      if isComplete { return nil }
      if isEscaped || byte != 0x22 && byte != 0x5C {
        bytes.append(byte)
        isEscaped = false
      } else if byte == 0x5C {
        isEscaped = true
      } else {
        isComplete = true
      }
    }
    return isComplete ? String(decoding: bytes, as: UTF8.self) : nil
  }
}
