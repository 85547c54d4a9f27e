import Testing

@testable import WaybridgeCluster

struct NATSClusterNamesTests {
  @Test(arguments: ["waybridge", "a", "9", "A-b_c", String(repeating: "x", count: 32)])
  func validNameBeginsEveryNameInNATS(_ cluster: String) throws {
    let names = try #require(NATSClusterNames(cluster))
    for name in [names.sessionStream, names.leaseBucket, names.documentBucket] {
      #expect(name.hasPrefix(cluster + "-"))
      #expect(!name.contains { ".*> ".contains($0) })
    }
    for subject in [
      names.allSessions, names.broadcastSubject, names.inboxPrefix, names.sessionSubject(of: "s"),
      names.serverSubject(of: "t"),
    ] {
      #expect(subject.hasPrefix(cluster + "."))
    }
  }

  @Test(arguments: [
    "", "-a", "_INBOX", "a.b", "a b", "a*", ">", "$JS", "\u{e4}", "a\u{0}", "a/b",
    String(repeating: "x", count: 33),
  ])
  func otherNamesAreRejected(_ cluster: String) {
    #expect(NATSClusterNames(cluster) == nil)
    #expect {
      _ = try NATSClusterConfiguration(url: "nats://127.0.0.1", name: cluster)
    } throws: { error in
      "\(error)".contains("\"\(cluster)\" is not a valid name of a cluster; use letters, digits")
    }
  }

  @Test(arguments: ["s-Ab_9", "", "a.b", "*", ">", " ", "\u{e4}", "=", "x'; --", "\u{0}"])
  func subjectRoundTripsSessionID(_ id: String) throws {
    let names = try #require(NATSClusterNames("prod"))
    let subject = names.sessionSubject(of: id)
    #expect(subject.dropFirst("prod.session.".count).allSatisfy { !".*> \u{0}".contains($0) })
    #expect(names.session(ofSubject: subject) == id)
  }

  @Test func otherSubjectsHaveNoSession() throws {
    let names = try #require(NATSClusterNames("prod"))
    for subject in ["prod.server.a", "prod.session.=", "prod.session.=zz", "test.session.a"] {
      #expect(names.session(ofSubject: subject) == nil, "\(subject)")
    }
  }
}
