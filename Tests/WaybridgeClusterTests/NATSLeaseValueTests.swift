import Testing
import WaySession

@testable import WaybridgeCluster

struct NATSLeaseValueTests {
  private static func lease(
    _ authentication: ClusterAnnouncement.ClientAuthentication = .none, _ secrets: String...
  ) -> NATSLeaseValue {
    NATSLeaseValue(
      server: "s-\(authentication)",
      announcement: ClusterAnnouncement(
        authentication: authentication, hasPolicy: true, host: "machine"), secrets: secrets)
  }

  @Test(arguments: [lease(), lease(.optional, "a"), lease(.required, "a", "b")])
  func roundTrips(_ lease: NATSLeaseValue) {
    var lease = lease
    #expect(NATSLeaseValue(lease.bytes(lifetime: .seconds(4))) == lease)
    lease.joined = 7
    lease.voters = ["a:4222", "b:4222", "c:4222"]
    #expect(NATSLeaseValue(lease.bytes(lifetime: .seconds(4))) == lease)
  }

  @Test(arguments: [
    "", "{}", "null", #"{"server":"a"}"#,
    #"{"server":"a","host":"b","secrets":[],"authentication":"later"}"#,
  ])
  func leaseOfAnotherVersionIsNotRead(_ text: String) {
    #expect(NATSLeaseValue(Array(text.utf8)) == nil)
  }

  @Test func serversThatAdmitClientsInTheSameWayAgree() {
    for authentication: ClusterAnnouncement.ClientAuthentication in [.none, .optional, .required] {
      #expect(
        Self.lease(authentication, "a").conflict(with: Self.lease(authentication, "a")) == nil)
    }
    #expect(Self.lease().conflict(with: Self.lease()) == nil)
  }

  @Test func serversThatAdmitClientsInOtherWaysConflict() throws {
    let conflict = try #require(Self.lease(.none).conflict(with: Self.lease(.required)))
    #expect(
      conflict.reason
        == "the server s-required on machine requires tokens of clients, but this one authenticates "
        + "no clients")
    #expect(Self.lease(.required).conflict(with: Self.lease(.none)) != nil)
    #expect(Self.lease(.optional).conflict(with: Self.lease(.required)) != nil)
  }

  @Test func serverWithPolicyAndServerWithoutConflict() throws {
    func lease(_ hasPolicy: Bool) -> NATSLeaseValue {
      NATSLeaseValue(
        server: "s", announcement: ClusterAnnouncement(hasPolicy: hasPolicy, host: "m"),
        secrets: ["a"])
    }
    let (with, without) = (lease(true), lease(false))
    #expect(with.conflict(with: with) == nil && without.conflict(with: without) == nil)
    let missing = try #require(without.conflict(with: with))
    #expect(missing.reason == "the server s on m has a policy, but this one has none")
    let added = try #require(with.conflict(with: without))
    #expect(added.reason == "the server s on m has no policy, but this one has one")
    #expect(added.advice.contains("all servers of a cluster with a policy"))
  }

  @Test(arguments: [
    ([], ["a"], false), (["a"], [], false), (["a"], ["b"], false),
    // The steps of a replacement, in both directions.
    (["a"], ["a", "b"], true), (["a", "b"], ["b", "a"], true), (["b", "a"], ["b"], true),
    // A step was left out: one of the two would not read the other.
    (["a"], ["b", "a"], false), (["a", "b"], ["b"], false),
  ])
  func secretsMustOpenTheMessagesOfBoth(_ own: [String], _ others: [String], _ isCommon: Bool) {
    func lease(_ secrets: [String]) -> NATSLeaseValue {
      NATSLeaseValue(server: "s", announcement: ClusterAnnouncement(host: "m"), secrets: secrets)
    }
    #expect((lease(own).conflict(with: lease(others)) == nil) == isCommon)
    #expect((lease(others).conflict(with: lease(own)) == nil) == isCommon)
  }
}
