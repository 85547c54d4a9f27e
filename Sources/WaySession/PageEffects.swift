import WayNavigation
import WayRouting
import WayValues

/// Carries out what ``Pages`` decides: asks and tells those who show the pages of a session.
enum PageEffects {
  static func perform(_ action: PageAction, in session: isolated Session) {
    switch action {
    case .ask(let opening): ask(opening, in: session)
    case .recall(.swift(let task)): task.cancel()
    case .recall(.client(let id, let host)): session.mail.cancelRequest(id, host)
    case .close(let page, .swift(let handler), let reason, let exts):
      Task { await handler.close(page, reason, exts) }
    case .close(let page, .client(let host), let reason, let exts):
      close(page, at: host, reason, exts, in: session)
    case .resume(let page, .client(let host)):
      if let host = session.members[host] {
        session.mail.notify(host, "page.resume", ["page": .string(page.id)])
      }
    case .resume(_, .swift): break
    case .shown(let number, let page): shown(page, number, in: session)
    case .settle(let number, let result): session.settle(number, result)
    case .goOn(let number): CallRunner.goOn(number, in: session)
    case .tell(let kind, let happening, let caller):
      session.happenings.tell(kind, happening, by: caller)
    }
  }

  private static func ask(_ opening: PageOpening, in session: isolated Session) {
    let page = opening.page.id
    guard let asked = asked(opening, in: session) else { return }
    let timeout = session.setAlarm(session.limits.pageOpen, .opening(page: page))
    session.pages.asked(asked, for: page, timeout: timeout)
  }

  /// Asks for a page; nil where that has failed at once.
  private static func asked(
    _ opening: PageOpening, in session: isolated Session
  ) -> PageOpening.Asked? {
    let page = opening.page
    switch opening.presenter {
    case .client(let id):
      guard let host = session.members[id] else {
        let error = CallError(.hostAbsent, "The host of the page is gone")
        session.act(session.pages.answered(page.id, error))
        return nil
      }
      let request = session.ask(
        host, "page.open", opening.params, for: .open(page: page.id))
      return request.map { .client($0, host) }
    case .swift(let handler):
      guard let call = opening.handed else { return nil }
      return .swift(
        Task {
          do {
            try await handler.open(page, call)
            session.act(session.pages.answered(page.id, nil))
          } catch is Declined {
            session.act(session.pages.answered(page.id, .declined, declined: true))
          } catch {
            let thrown = session.happenings.thrown(error)
            session.act(session.pages.answered(page.id, thrown.ofPage(throwing: error)))
          }
        })
    }
  }

  private static func close(
    _ page: Page, at host: ClientID, _ reason: Outcome.Kind, _ exts: ValueObject,
    in session: isolated Session
  ) {
    guard let host = session.members[host] else { return }
    let params: ValueObject = ["page": .string(page.id), "reason": .string(reason.rawValue)]
    let time = session.limits.pageOpen
    if !exts.isEmpty {
      var whole = params
      whole["exts"] = .object(exts)
      let asked = session.ask(host, "page.close", .object(whole), for: .close, timeout: time)
      guard asked == nil else { return }
      // Swift code may give what nests too deep to be written; the page is gone all the same.
    }
    session.ask(host, "page.close", .object(params), for: .close, timeout: time)
  }

  /// From now on the call is answered with the page's outcome.
  private static func shown(_ page: String, _ number: CallNumber, in session: isolated Session) {
    guard let call = session.call(number) else { return }
    call.work = .page(page)
    call.deadline?.cancel()
    if case .swift(let caller) = call.caller { caller.shown?(page) }
    session.report(["opened": ["page": .string(page)]], of: number)
  }
}
