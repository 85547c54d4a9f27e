import WayTransport

/// Who may say for whom he asks.
package enum TrustedProxy: Hashable, Sendable {
  /// Whoever comes by the Unix socket.
  case unix
  case addresses(PeerAddressRange)

  /// What a text must be, for a message.
  package static let form =
    "an IPv4 or IPv6 address, a network such as 10.0.0.0/8 or fd00::/8, or unix"

  /// Nil for what is not of the form.
  package init?(_ text: String) {
    if text == "unix" {
      self = .unix
    } else if let range = PeerAddressRange(text) {
      self = .addresses(range)
    } else {
      return nil
    }
  }
}

extension [TrustedProxy] {
  func trust(_ peer: SocketPeer) -> Bool {
    switch peer {
    case .unix: contains(TrustedProxy.unix)
    case .address(let address): trust(address)
    }
  }

  func trust(_ address: IPAddress) -> Bool {
    contains { proxy in
      if case .addresses(let range) = proxy { range.contains(address) } else { false }
    }
  }
}
