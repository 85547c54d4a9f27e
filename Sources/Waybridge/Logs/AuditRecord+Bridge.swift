import WaySession
import WaySockets
import WayTable
import WayTransport

// Records of what happens outside of sessions.
extension AuditRecord {
  /// Creates the record of a rejected request. Returns `nil` if the request was rejected for a
  /// reason that is not about its client, such as an unknown path.
  init?(refusing request: RejectedRequest) {
    guard Self.isRefusal(status: request.status) else { return nil }
    self.init(
      client: EventClient(address: request.address, origin: request.origin),
      action: Self.refusal,
      result: .refused(
        code: request.status, rule: request.kind.rawValue, reason: request.reason))
  }

  /// Creates the record of an HTTP response. Returns `nil` if it does not refuse the client.
  init?(_ response: HTTPResponse, to request: HTTPRequest) {
    guard Self.isRefusal(status: response.status) else { return nil }
    self.init(
      client: EventClient(request.handshake), action: Self.refusal, method: request.method,
      target: request.path,
      result: .refused(
        code: response.status, rule: nil,
        reason: response.refusalReason ?? "the status of the response is \(response.status)"))
  }

  private static func isRefusal(status: Int) -> Bool { status == 401 || status == 403 }

  /// Creates the record of an event of the table. Returns `nil` for a change that a client has
  /// requested, which has a record of its own.
  init?(_ event: LiveTable.TableEvent, file: String?) {
    let cause: LiveTable.Cause
    let result: AuditResult
    var version: String?
    switch event {
    case .changed(let change):
      (cause, result, version) = (change.cause, .done, change.stamp.version)
    case .rejected(_, let rejected): (cause, result) = (rejected, .failed(code: nil))
    }
    switch cause {
    case .update, .rollback: return nil
    case .file, .fetch, .code, .cluster: break
    }
    self.init(
      action: "table.reload", target: cause == .file ? file : nil, result: result,
      cause: cause.rawValue, version: version)
  }

  /// Creates the record of keys, or of a cluster's secrets, that were read again.
  init(_ reload: FileReload) {
    let target =
      switch reload.source {
      case .file: reload.path
      // The query of a URL may contain a secret.
      case .fetch: String(reload.path.prefix { $0 != "?" })
      }
    self.init(
      action: "\(reload.content.rawValue).reload", target: target,
      result: reload.rejection == nil ? .done : .failed(code: nil), cause: reload.source.rawValue)
  }
}
