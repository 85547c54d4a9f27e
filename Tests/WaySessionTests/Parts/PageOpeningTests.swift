import Testing
import WayNavigation
import WayTransport
import WayValues

@testable import WaySession

struct PageOpeningTests {
  private func makeOpening() throws -> PageOpening {
    let page = Page(id: "p1", uri: "native://a", route: nil, host: "c-1")
    return PageOpening(
      page: page, presenter: .client(1), call: 1, by: .app,
      charge: try ByteBudget(.stack, 1 << 10).charge(1))
  }

  /// What happens to an opening, in order.
  enum Event {
    case start, abandon, agree, refuse
  }

  @Test(arguments: [
    ([Event.start, .agree], PageOpening.Verdict.commit),
    ([.start, .refuse], .fail),
    ([.start, .abandon, .agree], .closeAtHost),
    ([.start, .abandon, .refuse], .nothing),
    ([.start, .agree, .agree], .nothing),
    ([.start, .refuse, .agree], .nothing),
    ([.abandon, .agree], .nothing),
  ])
  func theHostsAnswerIsActedOnOnce(events: [Event], last: PageOpening.Verdict) throws {
    let opening = try makeOpening()
    var action = PageOpening.Verdict.nothing
    for event in events {
      switch event {
      case .start:
        let hasStarted = opening.start()
        #expect(hasStarted)
      case .abandon: _ = opening.abandon()
      case .agree: action = opening.answered(agreed: true)
      case .refuse: action = opening.answered(agreed: false)
      }
    }
    #expect(action == last)
  }

  @Test func anOpeningAbandonedInTheQueueNeverStarts() throws {
    let opening = try makeOpening()
    let mustTellHost = opening.abandon()
    #expect(!mustTellHost)
    let hasStarted = opening.start()
    #expect(!hasStarted)
  }

  @Test func theHostIsToldOnlyWhileItIsAsked() throws {
    let opening = try makeOpening()
    _ = opening.start()
    let mustTellHost = opening.abandon()
    #expect(mustTellHost)
    let mustTellAgain = opening.abandon()
    #expect(!mustTellAgain)
  }
}
