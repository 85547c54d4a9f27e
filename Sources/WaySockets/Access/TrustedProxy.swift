import WayTransport

/// A proxy whose forwarding headers the server trusts.
package enum TrustedProxy: Hashable, Sendable {
  /// Any program that connects over the Unix socket.
  case unix
  case addresses(SocketAddressRange)

  /// The expected format, for error messages.
  package static let expectedFormat =
    "an IPv4 or IPv6 address, a network such as 10.0.0.0/8 or fd00::/8, or unix"

  /// Returns `nil` if the text does not have the expected format.
  package init?(_ text: String) {
    if text == "unix" {
      self = .unix
    } else if let range = SocketAddressRange(text) {
      self = .addresses(range)
    } else {
      return nil
    }
  }
}

extension [TrustedProxy] {
  func includes(_ peer: SocketPeer) -> Bool {
    switch peer {
    case .unix: contains(TrustedProxy.unix)
    case .address(let address): includes(address)
    }
  }

  func includes(_ address: IPAddress) -> Bool {
    contains { proxy in
      if case .addresses(let range) = proxy { range.contains(address) } else { false }
    }
  }
}
