import Testing
import WayRouting

@testable import WaySession

struct AudienceIndexTests {
  private let index: AudienceIndex = {
    var index = AudienceIndex()
    index.add("1", Identity(user: "anna", groups: ["beta"]))
    index.add("2", Identity(user: "anna"))
    index.add("3", Identity(groups: ["beta", "staff"]))
    return index
  }()

  @Test(
    arguments: [
      (.all, ["1", "2", "3"]), (.session("2"), ["2"]), (.client("c", session: "2"), ["2"]),
      (.user("anna"), ["1", "2"]), (.user("ben"), []), (.group("beta"), ["1", "3"]),
      (.group("staff"), ["3"]), (.group(""), []),
    ] as [(Audience, [String])])
  func findsSessionsOfAudience(audience: Audience, sessions: [String]) {
    #expect(index.sessions(in: audience).sorted() == sessions)
    for session in ["1", "2", "3"] {
      #expect(
        index.contains(session, client: "c", in: audience) == sessions.contains(session))
    }
  }

  @Test func updatesGroupsOfSessions() {
    var index = index
    let known = [
      index.add("2", toGroup: "staff"), index.remove("3", fromGroup: "staff"),
      index.remove("1", fromGroup: "staff"),
    ]
    #expect(known == [true, true, true])
    #expect(index.sessions(in: .group("staff")) == ["2"])
    #expect(index.identity(of: "2") == Identity(user: "anna", groups: ["staff"]))
    index.remove("2")
    #expect(index.sessions(in: .group("staff")).isEmpty)
    #expect(index.sessions(in: .user("anna")) == ["1"])
    let changes = [index.add("2", toGroup: "staff"), index.remove("2", fromGroup: "staff")]
    #expect(changes == [false, false])
  }

  @Test func comparesNamesByBytes() {
    var index = AudienceIndex()
    index.add("1", Identity(user: "caf\u{E9}"))
    #expect(index.sessions(in: .user("cafe\u{301}")).isEmpty)
  }
}
