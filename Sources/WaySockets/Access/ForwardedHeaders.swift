import WayTransport

/// What proxies say of a request: the header fields Forwarded (RFC 7239), Via and X-Forwarded-….
struct ForwardedHeaders {
  /// The name of the first of these fields.
  let firstName: String
  /// Whom each proxy names, the one next to the asker first; empty where none names anybody.
  let hops: [ForwardedNode]

  /// Nil where there is none of them. Throws where they are malformed or contradict each other.
  init?(_ head: RequestHead) throws(RequestFault) {
    guard let name = Self.firstName(in: head) else { return nil }
    firstName = name
    let forwarded = head.values("forwarded")
    let listed = head.values("x-forwarded-for")
    let standard = forwarded.isEmpty ? nil : try Self.forwarded(forwarded.joined(separator: ","))
    let other = listed.isEmpty ? nil : try Self.listed(listed.joined(separator: ","))
    if let standard, let other, standard != other {
      throw RequestFault(
        400, "the headers Forwarded and X-Forwarded-For do not name the same", .proxy)
    }
    hops = standard ?? other ?? []
  }

  /// The name of the first field by which a proxy shows.
  static func firstName(in head: RequestHead) -> String? {
    head.fields.first { name, _ in
      name == "forwarded" || name == "via" || name == "x-real-ip"
        || name.hasPrefix("x-forwarded-")
    }?.name
  }

  /// The asker: the last who is no trusted proxy, else the first. Nil where nobody is named.
  func client(trusting proxies: [TrustedProxy]) -> ForwardedNode? {
    let stranger = hops.last { hop in
      if case .address(let address) = hop { !proxies.trust(address) } else { true }
    }
    return stranger ?? hops.first
  }

  private static func listed(_ text: String) throws(RequestFault) -> [ForwardedNode] {
    var hops: [ForwardedNode] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let hop = ForwardedNode(part.trimmed(), mayBeBare: true) else {
        throw RequestFault(400, "the header X-Forwarded-For is no list of addresses", .proxy)
      }
      hops.append(hop)
    }
    return hops
  }

  /// Reads `forwarded-element`s.
  private static func forwarded(_ text: String) throws(RequestFault) -> [ForwardedNode] {
    let fault = RequestFault(400, "the header Forwarded is not as RFC 7239 has it", .proxy)
    var hops: [ForwardedNode] = []
    for element in try pieces(of: text, at: 0x2C, fault) {
      guard !element.isEmpty else { throw fault }
      var hop: ForwardedNode?
      for pair in try pieces(of: element, at: 0x3B, fault) where !pair.isEmpty {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(isTokenByte),
          let value = unquoted(String(parts[1]))
        else { throw fault }
        guard parts[0].lowercased() == "for" else { continue }
        guard hop == nil, let named = ForwardedNode(value, mayBeBare: false) else { throw fault }
        hop = named
      }
      // A proxy that names nobody stands between the asker and the next all the same.
      hops.append(hop ?? .hidden("unknown"))
    }
    return hops
  }

  /// The parts between separators that stand outside of quotation marks, without spaces around.
  private static func pieces(
    of text: String, at separator: UInt8, _ fault: RequestFault
  ) throws(RequestFault) -> [String] {
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
    guard !isQuoted else { throw fault }
    return pieces.map { String(decoding: $0, as: UTF8.self).trimmed() }
  }

  /// token or quoted-string (RFC 9110 §5.6)
  private static func unquoted(_ text: String) -> String? {
    guard text.hasPrefix("\"") else {
      return !text.isEmpty && text.utf8.allSatisfy(isTokenByte) ? text : nil
    }
    var bytes: [UInt8] = []
    var isEscaped = false
    var isOver = false
    for byte in text.utf8.dropFirst() {
      if isOver { return nil }
      if isEscaped || byte != 0x22 && byte != 0x5C {
        bytes.append(byte)
        isEscaped = false
      } else if byte == 0x5C {
        isEscaped = true
      } else {
        isOver = true
      }
    }
    return isOver ? String(decoding: bytes, as: UTF8.self) : nil
  }
}
