import Synchronization
import WayTransport
import Waybridge
import WaybridgeClient

/// Records the requests to a ``TestHost``, and responds to them.
final class HostRecorder: PageHost {
  private struct HostRecorderState {
    var behavior = TestHost.Behavior.shows
    /// Openings without a response, until the behavior changes.
    var pendingOpens: [FirstResult<Void>] = []
    /// Pages that the host has accepted, shown or about to be, by id.
    var acceptedPages: [String: BridgeClient.HostedPage] = [:]
    /// The shown pages, in the order in which they were shown.
    var shownPages: [BridgeClient.HostedPage] = []
  }

  let requestedPages = Mailbox<BridgeClient.HostedPage>()
  let shownPages = Mailbox<BridgeClient.HostedPage>()
  let closedPages = Mailbox<TestHost.ClosedPage>()
  let resumedPages = Mailbox<BridgeClient.HostedPage>()
  let tasks = Mailbox<TestTask>()
  private let state = Mutex(HostRecorderState())

  var pages: [BridgeClient.HostedPage] { state.withLock { $0.shownPages } }

  var behavior: TestHost.Behavior {
    get { state.withLock { $0.behavior } }
    set {
      let pendingOpens = state.withLock { state in
        state.behavior = newValue
        defer { state.pendingOpens = [] }
        return state.pendingOpens
      }
      for opening in pendingOpens { opening.complete(.success(())) }
    }
  }

  func open(_ page: BridgeClient.HostedPage) async throws {
    requestedPages.put(page)
    while let pendingOpen = try respond(to: page) {
      try await withTaskCancellationHandler {
        try await pendingOpen.value().get()
      } onCancel: {
        pendingOpen.complete(.failure(CancellationError()))
      }
    }
  }

  /// Returns what to wait for before the behavior is checked again; nil if the page is shown.
  private func respond(to page: BridgeClient.HostedPage) throws(CallError) -> FirstResult<Void>? {
    try state.withLock { (state) throws(CallError) -> FirstResult<Void>? in
      switch state.behavior {
      case .shows:
        state.acceptedPages[page.id] = page
        return nil
      case .rejects(let error): throw error
      case .doesNotRespond:
        let pendingOpen = FirstResult<Void>()
        state.pendingOpens.append(pendingOpen)
        return pendingOpen
      }
    }
  }

  /// The page is on the session's stack; does nothing for a page of another host.
  func markShown(_ page: String) {
    let shown = state.withLock { state in
      let shown = state.acceptedPages[page]
      if let shown { state.shownPages.append(shown) }
      return shown
    }
    if let shown { shownPages.put(shown) }
  }

  func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject) {
    state.withLock { state in
      state.acceptedPages[page.id] = nil
      state.shownPages.removeAll { $0.id == page.id }
    }
    closedPages.put(TestHost.ClosedPage(page: page, reason: reason, exts: exts))
  }

  func resume(_ page: BridgeClient.HostedPage) {
    resumedPages.put(page)
  }

  func run(_ call: BridgeClient.TaskCall) async throws -> Value {
    let task = TestTask(call)
    tasks.put(task)
    return try await task.value()
  }
}
