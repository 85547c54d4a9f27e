import WaySession
import WaySockets
import WayTransport

/// The response of `/health`: whether the server accepts clients.
struct Health {
  let isDraining: Bool
  /// Whether sessions are currently not persisted.
  let isDegraded: Bool
  /// The state of the cluster; nil for a single server.
  let cluster: (isReachable: Bool, rejectionReason: ClusterRejectionReason?)?

  var response: HTTPResponse {
    let (status, reason) = statusAndReason
    var fields = ["\"status\":\"\(status)\""]
    if let reason { fields.append("\"reason\":\"\(reason)\"") }
    if let cluster {
      fields.append("\"cluster\":{\"engine\":\"\(cluster.isReachable ? "reached" : "away")\"}")
    }
    let isOpen = status == "ok" || status == "degraded"
    return HTTPResponse(
      status: isOpen ? 200 : 503, contentType: "application/json",
      body: Array("{\(fields.joined(separator: ","))}\n".utf8), isServedWhenFull: true)
  }

  /// The status is `degraded` if the server accepts clients although something does not work.
  private var statusAndReason: (status: String, reason: String?) {
    if isDraining { return ("draining", nil) }
    if let reason = cluster?.rejectionReason {
      let parts = [reason.text, "connections are rejected", reason.advice]
      return ("unavailable", parts.compactMap(\.self).joined(separator: "; "))
    }
    if cluster?.isReachable == false { return ("degraded", "NATS does not answer") }
    return isDegraded ? ("degraded", "sessions are not persisted") : ("ok", nil)
  }
}
