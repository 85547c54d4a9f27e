import WayNavigation
import WayRPC
import WayValues

// Pages that hosts show. Every task starts by calling the host in the same way, so that hosts are
// called in the order of the server's requests.
extension BridgeClient {
  /// Shows a page, after the task `other` has ended if there is one.
  func openPage(
    _ params: Value, _ call: ServerRequest, after other: Task<Void, Never>? = nil
  ) throws(CallError) {
    guard
      let page = params["page"].flatMap({
        HostedPage($0, caller: CallerDescription(params["caller"]))
      })
    else {
      throw CallError(.invalidParams, "params.page must be a page with id, uri and style")
    }
    guard case .pages(let host) = hosts.find(try MatchedHost(params["host"]))?.handler else {
      throw CallError(.hostAbsent, "This client does not show \(page.uri)")
    }
    let registered = HostedPageRegistry.RegisteredPage(page: page, host: host, openRequest: call)
    try pages.add(registered)
    call.task = Task {
      do {
        if let other {
          await other.value
          try Task.checkCancellation()
        }
        try await withTaskExecutorPreference(loop) { try await host.open(page) }
        await pageOpened(registered, call)
      } catch {
        if pages.isOpening(page.id, call) {
          pages.remove(page.id)?.openContinuation?.resume(returning: false)
        }
        complete(call, .failure(Self.hostError(error)))
      }
    }
  }

  private func pageOpened(_ registered: HostedPageRegistry.RegisteredPage, _ call: ServerRequest)
    async
  {
    let id = registered.page.id
    if pages.isOpening(id, call) {
      pages[id]?.openRequest = nil
      guard Task.isCancelled else {
        complete(call, .success(.null))
        if let resumption = pages[id]?.resumption { resumeOnHost(id, resumption) }
        return
      }
      if let continuation = pages[id]?.openContinuation {
        continuation.resume(returning: true)
        return complete(call, .failure(CallError(.cancelled)))
      }
      pages[id] = nil
    }
    // No client waits for this page any more. If it stayed open, it would be visible without being
    // on the stack. It closes in a separate task, since this one is cancelled.
    await Task { await closeOnHost(registered, .cancelled, [:]) }.value
    complete(call, .failure(CallError(.cancelled)))
  }

  /// Closes a page. A page that no longer exists counts as closed.
  func closePage(_ params: Value, _ call: ServerRequest) throws(CallError) {
    guard let id = params["page"]?.string else {
      throw CallError(.invalidParams, "params.page must be the id of a page")
    }
    let reason = params["reason"]?.string.flatMap(Outcome.OutcomeKind.init(rawValue:)) ?? .dismissed
    let exts = params["exts"]?.object ?? [:]
    leaveGuards[id] = nil
    if let opening = pages[id]?.openRequest {
      opening.cancel()
      Task {
        if await waitUntilOpen(id), let registered = pages.remove(id) {
          await closeOnHost(registered, reason, exts)
        }
        complete(call, .success(.null))
      }
    } else if let registered = pages.remove(id) {
      Task {
        await closeOnHost(registered, reason, exts)
        complete(call, .success(.null))
      }
    } else {
      complete(call, .success(.null))
    }
  }

  /// Waits until a page is open; returns false if it will not open.
  private func waitUntilOpen(_ id: String) async -> Bool {
    guard let registered = pages[id], registered.openContinuation == nil else { return false }
    guard registered.openRequest != nil else { return true }
    return await withCheckedContinuation { pages[id]?.openContinuation = $0 }
  }

  /// The page is on top again. `params` may have a new URI, parameters and extensions for it.
  func resumePage(_ id: String, _ params: Value) {
    if let resumption = pages.resume(id, params) { resumeOnHost(id, resumption) }
  }

  private func resumeOnHost(_ id: String, _ resumption: PageResumption) {
    guard let (page, host) = pages.shownPage(id) else { return }
    Task {
      await withTaskExecutorPreference(loop) {
        if resumption == .update { await host.update(page) }
        await host.resume(page)
      }
    }
  }

  /// Registers a page that this client already shows, so that its host is called when it closes.
  func addAdoptedPage(_ page: HostedPage, _ host: (any PageHost)?) {
    let host = host ?? hosts.pageHost(ofSchemeOf: page.uri)
    try? pages.add(HostedPageRegistry.RegisteredPage(page: page, host: host))
  }

  /// Closes all pages of a session that no longer exists and returns them, topmost first. A page
  /// that is still opening closes once it is open.
  @discardableResult
  func closeHostedPages() -> [HostedPage] {
    let removed = pages.removeAll()
    leaveGuards = [:]
    let shown = removed.reversed().filter { $0.openRequest == nil }
    for registered in removed { registered.openContinuation?.resume(returning: false) }
    for registered in shown {
      Task {
        await closeOnHost(registered, .failed, [:])
      }
    }
    return shown.map(\.page)
  }

  private func closeOnHost(
    _ registered: HostedPageRegistry.RegisteredPage, _ reason: Outcome.OutcomeKind,
    _ exts: ValueObject
  ) async {
    await withTaskExecutorPreference(loop) {
      await registered.host?.close(registered.page, reason: reason, exts: exts)
    }
  }
}
