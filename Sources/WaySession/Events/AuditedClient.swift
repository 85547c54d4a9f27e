import WayTransport
import WayValues

/// The clients that the audit trail counts together, so that a client cannot avoid a limit with new
/// connections: those of a user or, before authentication, those of a network.
struct AuditedClient: Hashable {
  /// The length of a user or an address that is compared, in UTF-8 bytes.
  private static let maxLength = 256

  /// The user; `nil` for clients that are not authenticated.
  let user: UTF8Key?
  /// The network of clients without a user.
  let network: String?
  let isGuest: Bool

  init(_ client: EventClient?) {
    user = client?.user.map { UTF8Key($0.bounded(to: Self.maxLength)) }
    network = user == nil ? Self.network(of: client) : nil
    isGuest = client?.isGuest == true
  }

  /// The network of one of a user's clients; `nil` for clients without a user, which share one.
  func network(of client: EventClient?) -> String? {
    user == nil ? nil : Self.network(of: client)
  }

  /// The network that a client is likely to have: its address, or the first 64 bits of an IPv6
  /// address.
  private static func network(of client: EventClient?) -> String? {
    client?.address.map { IPAddress.networkText(of: $0).bounded(to: maxLength) }
  }

  /// The description of the clients in a record. `network` is that of a user's client.
  func eventClient(network: String? = nil) -> EventClient {
    EventClient(user: user?.text, address: self.network ?? network, isGuest: isGuest)
  }
}

extension String {
  /// The text without what exceeds a number of UTF-8 bytes.
  func bounded(to maxBytes: Int) -> String {
    utf8.count <= maxBytes ? self : String(decoding: utf8.prefix(maxBytes), as: UTF8.self)
  }
}
