import WayTransport

/// The reason to reject a request, and the response to it.
struct HTTPRequestRejection: Error, Hashable {
  var status: Int
  /// The text for the client. Contains no path, query or token.
  var reason: String
  var kind: HTTPRejectionKind
  /// How the operator can allow the request.
  var hint: String?

  init(_ status: Int, _ reason: String, _ kind: HTTPRejectionKind = .request, hint: String? = nil) {
    self.status = status
    self.reason = reason
    self.kind = kind
    self.hint = hint
  }

  /// The text for the log.
  var text: String { reason + (hint.map { "; " + $0 } ?? "") }

  static let full = HTTPRequestRejection(
    503, "the server has reached its limit of connections; try again later", .full)
  static let unauthenticated = HTTPRequestRejection(
    503, "too many clients are not authenticated yet; try again later", .unauthenticated)
  static let fullOfBodies = HTTPRequestRejection(
    503, "the server is already reading as many request bodies as it can; try again later", .full)
  static let exhausted = HTTPRequestRejection(
    503, "the server has no free file descriptor; try again later", .descriptors)
  static let ending = HTTPRequestRejection(503, "the server is shutting down", .ending)
  /// For an address that exceeds one of its limits.
  static func address(_ excess: AddressQuota.Excess) -> HTTPRequestRejection {
    switch excess {
    case .slots(let limit):
      HTTPRequestRejection(
        429, "the client's address has \(limit) connections already", .address,
        hint: "allow more with the setting limits.maxAddressConnections")
    case .rate(let wait):
      HTTPRequestRejection(
        429,
        "the client's address connects too often; try again in "
          + "\(RateLimit.milliseconds(ofWait: wait)) ms",
        .address, hint: "allow it with the setting limits.maxAddressRate")
    }
  }

  static let unexpectedBody = HTTPRequestRejection(413, "this path accepts no request body")
}
