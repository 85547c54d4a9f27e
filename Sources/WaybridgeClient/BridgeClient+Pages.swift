import WayNavigation
import WayRPC
import WayValues

// Pages that hosts show. Every task begins with the host, in the same way, so that hosts are begun
// in the order of the server's requests.
extension BridgeClient {
  /// Shows a page once another task has ended, where one is given.
  func openPage(
    _ params: Value, _ call: ServerRequest, after other: Task<Void, Never>? = nil
  ) throws(CallError) {
    guard let page = params["page"].flatMap({ Page($0, caller: Caller(params["caller"])) }) else {
      throw CallError(.invalidParams, "params.page must be a page with id, uri and style")
    }
    guard case .pages(let host) = hosts.find(try ChosenHost(params["host"]))?.handler else {
      throw CallError(.hostAbsent, "This client does not show \(page.uri)")
    }
    let entry = HostedPages.Entry(page: page, host: host, opening: call)
    try pages.add(entry)
    call.task = Task {
      do {
        if let other {
          await other.value
          try Task.checkCancellation()
        }
        try await withTaskExecutorPreference(loop) { try await host.open(page) }
        await opened(entry, call)
      } catch {
        if pages.isOpening(page.id, call) {
          pages.remove(page.id)?.closer?.resume(returning: false)
        }
        finish(call, .failure(Self.failure(error)))
      }
    }
  }

  private func opened(_ entry: HostedPages.Entry, _ call: ServerRequest) async {
    let id = entry.page.id
    if pages.isOpening(id, call) {
      pages[id]?.opening = nil
      guard Task.isCancelled else { return finish(call, .success(.null)) }
      if let closer = pages[id]?.closer {
        closer.resume(returning: true)
        return finish(call, .failure(CallError(.cancelled)))
      }
      pages[id] = nil
    }
    // Nobody waits for this page any more: left alone it would stay in sight without being on the
    // stack. A task of its own, since this one is cancelled.
    await Task { await close(entry, .cancelled, [:]) }.value
    finish(call, .failure(CallError(.cancelled)))
  }

  /// Of a page that is gone it is true that it is closed.
  func closePage(_ params: Value, _ call: ServerRequest) throws(CallError) {
    guard let id = params["page"]?.string else {
      throw CallError(.invalidParams, "params.page must be the id of a page")
    }
    let reason = params["reason"]?.string.flatMap(Outcome.Kind.init(rawValue:)) ?? .dismissed
    let exts = params["exts"]?.object ?? [:]
    if let opening = pages[id]?.opening {
      opening.cancel()
      Task {
        if await isOpened(id), let entry = pages.remove(id) { await close(entry, reason, exts) }
        finish(call, .success(.null))
      }
    } else if let entry = pages.remove(id) {
      Task {
        await close(entry, reason, exts)
        finish(call, .success(.null))
      }
    } else {
      finish(call, .success(.null))
    }
  }

  /// Waits until a page is open; false where it is not going to be.
  private func isOpened(_ id: String) async -> Bool {
    guard let entry = pages[id], entry.closer == nil else { return false }
    guard entry.opening != nil else { return true }
    return await withCheckedContinuation { pages[id]?.closer = $0 }
  }

  /// The page has come on top again.
  func resume(_ id: String) {
    guard let (page, host) = pages.shown(id) else { return }
    Task {
      await withTaskExecutorPreference(loop) { await host.resume(page) }
    }
  }

  /// A page that this client shows already, so that its host is told when it closes.
  func keepAdopted(_ page: Page, _ host: (any PageHost)?) {
    let host = host ?? hosts.pages(ofSchemeOf: page.uri)
    try? pages.add(HostedPages.Entry(page: page, host: host))
  }

  /// The session is gone, and what this client shows with it; gives that, topmost first. What is
  /// still opening closes when it is open.
  @discardableResult
  func closeHostedPages() -> [Page] {
    let gone = pages.removeAll()
    let shown = gone.reversed().filter { $0.opening == nil }
    for entry in gone { entry.closer?.resume(returning: false) }
    for entry in shown {
      Task {
        await close(entry, .failed, [:])
      }
    }
    return shown.map(\.page)
  }

  private func close(
    _ entry: HostedPages.Entry, _ reason: Outcome.Kind, _ exts: ValueObject
  ) async {
    await withTaskExecutorPreference(loop) {
      await entry.host?.close(entry.page, reason: reason, exts: exts)
    }
  }
}
