import WayRPC
import WayValues

// A restarted server may have lost its latest changes, so the client compares the server's stack
// with the pages that it shows.
extension BridgeClient {
  /// Asks the server which pages this client shows that have closed, and which pages it has to
  /// show. Pages that are opening count as shown; if the server does not know one, it is closed
  /// once it is open. `failed` are pages that could not be shown.
  func syncPages(failed: Set<String> = []) {
    cancelPageSync()
    guard hosts.showsPages || !pages.entries.isEmpty else { return }
    var params: ValueObject = ["pages": .array(pages.entries.map { .string($0.page.id) })]
    if !failed.isEmpty { params["failed"] = .array(failed.sorted().map(Value.string)) }
    let call = BridgeClientCall("page.sync", .object(params))
    call.completion = { [weak self] result in
      self?.assumeIsolated { client in
        client.pageSync = nil
        // Without a response everything stays as it is, so that no page is closed or opened by
        // mistake.
        if case .success(let response) = result { client.applyPageSync(response, failed) }
      }
    }
    do throws(CallError) {
      let id = try pendingCalls.add(call)
      pageSync = id
      try submit(call, id, .object(params))
    } catch {
      cancelPageSync()
    }
  }

  /// Stops waiting for the response.
  func cancelPageSync() {
    if let pageSync { _ = pendingCalls.remove(pageSync) }
    pageSync = nil
  }

  private func applyPageSync(_ response: Value, _ failed: Set<String>) {
    for id in response["closed"]?.array ?? [] {
      try? closePage(["page": id, "reason": "failed"], ServerRequest(Self.pageSyncID))
    }
    let missing = (response["open"]?.array ?? []).compactMap { params in
      params["page"]?["id"]?.string.map { (id: $0, params: params) }
    }
    let wanted = missing.filter { !failed.contains($0.id) && pages[$0.id] == nil }
    guard !wanted.isEmpty else { return }
    // Opened one after another, in the order of the stack.
    var last: Task<Void, Never>?
    for (_, params) in wanted {
      let request = ServerRequest(Self.pageSyncID)
      // A page that cannot be opened is reported as failed in the end, as is one that its host
      // rejects.
      try? openPage(params, request, after: last)
      last = request.task ?? last
    }
    reportFailedPages(wanted.map(\.id), after: last)
  }

  /// Reports to the server which pages could not be shown.
  private func reportFailedPages(_ wanted: [String], after last: Task<Void, Never>?) {
    let session = session?.id
    Task {
      await last?.value
      let failed = wanted.filter { pages[$0] == nil }
      guard !failed.isEmpty, self.session?.id == session, connection.acceptsMessages else { return }
      syncPages(failed: Set(failed))
    }
  }

  /// Replaces the id of a request; no response is sent for it.
  private static let pageSyncID = RequestID.string("page.sync")
}
