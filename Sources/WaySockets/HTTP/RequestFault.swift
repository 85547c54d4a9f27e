/// Why a request is refused, as the answer to it.
struct RequestFault: Error, Hashable {
  var status: Int
  /// For the client. Holds nothing of a path, a query or a token.
  var reason: String
  var kind: RefusalKind
  /// What would let the request in, for who runs the server.
  var hint: String?

  init(_ status: Int, _ reason: String, _ kind: RefusalKind = .request, hint: String? = nil) {
    self.status = status
    self.reason = reason
    self.kind = kind
    self.hint = hint
  }

  /// For the log.
  var text: String { reason + (hint.map { "; " + $0 } ?? "") }

  static let full = RequestFault(
    503, "the server has as many connections as it takes; try again later", .full)
  static let exhausted = RequestFault(
    503, "the server has no descriptor left; try again later", .descriptors)
  static let ending = RequestFault(503, "the server is ending", .ending)
  static let body = RequestFault(413, "requests with a body are not taken here")
}
