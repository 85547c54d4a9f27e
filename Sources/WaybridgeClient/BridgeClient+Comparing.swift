import WayRPC
import WayValues

// A server that was restarted may have forgotten the last that it did: its stack and the pages that
// this client shows are compared.
extension BridgeClient {
  /// Asks which pages this client shows that are gone, and which it is to show. Those that are opening
  /// are shown too: one that the server does not know of is taken away once it is there. `failed` could
  /// not be shown.
  func comparePages(failed: Set<String> = []) {
    dropComparison()
    guard hosts.showsPages || !pages.entries.isEmpty else { return }
    var params: ValueObject = ["pages": .list(pages.entries.map { .string($0.page.id) })]
    if !failed.isEmpty { params["failed"] = .list(failed.sorted().map(Value.string)) }
    let call = PendingCall("page.sync", .object(params))
    call.answer = { [weak self] result in
      self?.assumeIsolated { client in
        client.comparison = nil
        // Without an answer all stays as it is: nobody is told of a page by mistake.
        if case .success(let answer) = result { client.compared(answer, failed) }
      }
    }
    do throws(CallError) {
      let id = try pending.add(call)
      comparison = id
      try submit(call, id, .object(params))
    } catch {
      dropComparison()
    }
  }

  /// Nobody waits for the answer any more.
  func dropComparison() {
    if let comparison { _ = pending.take(comparison) }
    comparison = nil
  }

  private func compared(_ answer: Value, _ failed: Set<String>) {
    for id in answer["closed"]?.list ?? [] {
      try? closePage(["page": id, "reason": "failed"], ServerRequest(Self.ownRequest))
    }
    let missing = (answer["open"]?.list ?? []).compactMap { params in
      params["page"]?["id"]?.string.map { (id: $0, params: params) }
    }
    let wanted = missing.filter { !failed.contains($0.id) && pages[$0.id] == nil }
    guard !wanted.isEmpty else { return }
    // One upon the other, as they lie on the stack.
    var last: Task<Void, Never>?
    for (_, params) in wanted {
      let call = ServerRequest(Self.ownRequest)
      // What cannot be shown at all is missing in the end, as what its host refuses.
      try? openPage(params, call, after: last)
      last = call.task ?? last
    }
    report(wanted.map(\.id), after: last)
  }

  /// Tells the server which pages could not be shown.
  private func report(_ wanted: [String], after last: Task<Void, Never>?) {
    let session = session?.id
    Task {
      await last?.value
      let failed = wanted.filter { pages[$0] == nil }
      guard !failed.isEmpty, self.session?.id == session, line.takesMessages else { return }
      comparePages(failed: Set(failed))
    }
  }

  /// In the place of the id of a request: nobody is answered.
  private static let ownRequest = RequestID.string("page.sync")
}
