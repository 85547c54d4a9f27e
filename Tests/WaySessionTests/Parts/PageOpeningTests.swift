import Testing
import WayNavigation
import WayTransport
import WayValues

@testable import WaySession

struct PageOpeningTests {
  private func makeOpening() throws -> PageOpening {
    let page = Page(id: "p1", uri: "native://a", route: nil, host: "c-1")
    return PageOpening(
      page: page, hostReference: .client(1), call: 1, by: .app,
      charge: try ByteBudget(.stack, 1 << 10).charge(1))
  }

  /// An event of a page opening.
  enum OpeningTestEvent {
    case start, abandon, accept, reject
  }

  @Test(arguments: [
    ([OpeningTestEvent.start, .accept], PageOpening.OpeningDecision.commit),
    ([.start, .reject], .fail),
    ([.start, .abandon, .accept], .closeAtHost),
    ([.start, .abandon, .reject], .ignore),
    ([.start, .accept, .accept], .ignore),
    ([.start, .reject, .accept], .ignore),
    ([.abandon, .accept], .ignore),
  ])
  func handlesHostResponseOnce(events: [OpeningTestEvent], last: PageOpening.OpeningDecision) throws
  {
    let opening = try makeOpening()
    var action = PageOpening.OpeningDecision.ignore
    for event in events {
      switch event {
      case .start:
        let hasStarted = opening.start()
        #expect(hasStarted)
      case .abandon: _ = opening.abandon()
      case .accept: action = opening.complete(agreed: true)
      case .reject: action = opening.complete(agreed: false)
      }
    }
    #expect(action == last)
  }

  @Test func abandonedQueuedOpeningNeverStarts() throws {
    let opening = try makeOpening()
    let mustNotifyHost = opening.abandon()
    #expect(!mustNotifyHost)
    let hasStarted = opening.start()
    #expect(!hasStarted)
  }

  @Test func notifiesHostOnlyDuringRequest() throws {
    let opening = try makeOpening()
    _ = opening.start()
    let mustNotifyHost = opening.abandon()
    #expect(mustNotifyHost)
    let mustNotifyAgain = opening.abandon()
    #expect(!mustNotifyAgain)
  }
}
