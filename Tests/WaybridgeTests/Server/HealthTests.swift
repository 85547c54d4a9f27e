import Testing
import WaySession

@testable import Waybridge

struct HealthTests {
  private func body(
    isReachable: Bool = true, _ reason: ClusterRejectionReason?
  ) -> (status: Int, text: String) {
    let response = Health(
      isDraining: false, isDegraded: false, cluster: (isReachable, reason)
    ).response
    return (response.status, String(decoding: response.body, as: UTF8.self))
  }

  /// NATS is named as the cause only if it is one.
  @Test func reasonOfAServerThatRejectsConnectionsIsTheCause() {
    let conflict = body(.conflict)
    #expect(conflict.status == 503)
    #expect(
      conflict.text
        == #"{"status":"unavailable","reason":"the settings of this server differ from "#
        + "those of its cluster; connections are rejected; start it with the settings of the other "
        + #"servers; its log has the difference","cluster":{"engine":"reached"}}"# + "\n")
    #expect(
      body(isReachable: false, .engineUnreachable).text.contains(
        "NATS cannot be reached; connections are rejected; repair NATS or the network"))
    for reason in [ClusterRejectionReason.declaredDown, .leaseExpired, .verification] {
      #expect(body(reason).status == 503 && !body(reason).text.contains("NATS"))
    }
    #expect(body(nil).text.contains(#""status":"ok""#) && body(nil).status == 200)
    #expect(body(isReachable: false, nil).text.contains("degraded"))
  }
}
