import WaySockets
import WayTransport

/// What `/health` answers: whether clients may come.
struct Health {
  let isDraining: Bool
  /// Sessions are not kept now.
  let isDegraded: Bool
  /// Of one server among others.
  let cluster: (isReached: Bool, isInTenure: Bool)?

  var response: HTTPResponse {
    let (status, reason) = judged
    var members = ["\"status\":\"\(status)\""]
    if let reason { members.append("\"reason\":\"\(reason)\"") }
    if let cluster {
      members.append("\"cluster\":{\"engine\":\"\(cluster.isReached ? "reached" : "away")\"}")
    }
    let isOpen = status == "ok" || status == "degraded"
    return HTTPResponse(
      status: isOpen ? 200 : 503, contentType: "application/json",
      body: Array("{\(members.joined(separator: ","))}\n".utf8), isServedWhenFull: true)
  }

  /// `degraded` where clients may come, and something does not work.
  private var judged: (status: String, reason: String?) {
    if isDraining { return ("draining", nil) }
    if cluster?.isInTenure == false {
      return ("unavailable", "the cluster's engine cannot be used: nobody is let in")
    }
    if cluster?.isReached == false { return ("degraded", "the cluster's engine does not answer") }
    return isDegraded ? ("degraded", "sessions are not kept") : ("ok", nil)
  }
}
