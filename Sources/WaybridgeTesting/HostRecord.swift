import Synchronization
import WayTransport
import Waybridge
import WaybridgeClient

/// What a ``TestHost`` was asked for, and what it does about it.
final class HostRecord: PageHost {
  private struct Held {
    var behavior = TestHost.Behavior.shows
    /// Openings that are left without an answer until the behaviour changes.
    var silent: [FirstResult<Void>] = []
    /// Pages that the host has agreed to, shown or about to be, by id.
    var agreed: [String: BridgeClient.Page] = [:]
    /// Those that are shown, in the order in which they came.
    var shown: [BridgeClient.Page] = []
  }

  let asked = Mailbox<BridgeClient.Page>()
  let shown = Mailbox<BridgeClient.Page>()
  let closed = Mailbox<TestHost.ClosedPage>()
  let resumed = Mailbox<BridgeClient.Page>()
  let tasks = Mailbox<TestTask>()
  private let held = Mutex(Held())

  var pages: [BridgeClient.Page] { held.withLock { $0.shown } }

  var behavior: TestHost.Behavior {
    get { held.withLock { $0.behavior } }
    set {
      let waiting = held.withLock { held in
        held.behavior = newValue
        defer { held.silent = [] }
        return held.silent
      }
      for opening in waiting { opening.give(.success(())) }
    }
  }

  func open(_ page: BridgeClient.Page) async throws {
    asked.put(page)
    while let silence = try agree(to: page) {
      try await withTaskCancellationHandler {
        try await silence.value().get()
      } onCancel: {
        silence.give(.failure(CancellationError()))
      }
    }
  }

  /// What to wait for before asking again; nil where the page is shown.
  private func agree(to page: BridgeClient.Page) throws(CallError) -> FirstResult<Void>? {
    try held.withLock { (held) throws(CallError) -> FirstResult<Void>? in
      switch held.behavior {
      case .shows:
        held.agreed[page.id] = page
        return nil
      case .refuses(let error): throw error
      case .staysSilent:
        let silence = FirstResult<Void>()
        held.silent.append(silence)
        return silence
      }
    }
  }

  /// The page is on the session's stack; of another host's page this does nothing.
  func isOnStack(_ page: String) {
    let known = held.withLock { held in
      let known = held.agreed[page]
      if let known { held.shown.append(known) }
      return known
    }
    if let known { shown.put(known) }
  }

  func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) {
    held.withLock { held in
      held.agreed[page.id] = nil
      held.shown.removeAll { $0.id == page.id }
    }
    closed.put(TestHost.ClosedPage(page: page, reason: reason, exts: exts))
  }

  func resume(_ page: BridgeClient.Page) {
    resumed.put(page)
  }

  func run(_ call: BridgeClient.TaskCall) async throws -> Value {
    let task = TestTask(call)
    tasks.put(task)
    return try await task.value()
  }
}
