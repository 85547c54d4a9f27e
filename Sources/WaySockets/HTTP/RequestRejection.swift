/// The reason to reject a request, and the response to it.
struct RequestRejection: Error, Hashable {
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

  static let full = RequestRejection(
    503, "the server has reached its limit of connections; try again later", .full)
  static let exhausted = RequestRejection(
    503, "the server has no free file descriptor; try again later", .descriptors)
  static let ending = RequestRejection(503, "the server is shutting down", .ending)
  static let unexpectedBody = RequestRejection(413, "this path accepts no request body")
}
