import Testing

@testable import WaySession

struct PageOpeningTests {
  /// What happens to an opening, in order.
  enum Event {
    case start, abandon, agree, refuse
  }

  @Test(arguments: [
    ([Event.start, .agree], PageOpening.Action.commit),
    ([.start, .refuse], .fail),
    ([.start, .abandon, .agree], .closeAtHost),
    ([.start, .abandon, .refuse], .nothing),
    ([.start, .agree, .agree], .nothing),
    ([.start, .refuse, .agree], .nothing),
    ([.abandon, .agree], .nothing),
  ])
  func theHostsAnswerIsActedOnOnce(events: [Event], last: PageOpening.Action) {
    var opening = PageOpening()
    var action = PageOpening.Action.nothing
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

  @Test func anOpeningAbandonedInTheQueueNeverStarts() {
    var opening = PageOpening()
    let mustTellHost = opening.abandon()
    #expect(!mustTellHost)
    let hasStarted = opening.start()
    #expect(!hasStarted)
  }

  @Test func theHostIsToldOnlyWhileItIsAsked() {
    var opening = PageOpening()
    _ = opening.start()
    let mustTellHost = opening.abandon()
    #expect(mustTellHost)
    let mustTellAgain = opening.abandon()
    #expect(!mustTellAgain)
  }
}
