import WayRPC
import WayRouting

extension BridgeClient {
  /// Hosts more than the session was opened with. A host of the same scheme, patterns and kind is replaced.
  ///
  /// Throws ``CallError``, with nothing changed: -32602 for a wrong scheme or pattern, 2429 for too many.
  public func register(_ hosts: [Host]) async throws(CallError) {
    // The server may ask right after its answer.
    let replaced = try self.hosts.add(hosts)
    do {
      _ = try await perform("host.register", Self.declaring(hosts))
    } catch {
      self.hosts.remove(hosts)
      try self.hosts.add(replaced)
      throw error
    }
  }

  /// Takes hosts back, known by scheme, patterns and kind. Pages that are shown stay, and what runs goes on.
  ///
  /// Throws ``CallError`` -32602, with nothing changed, where one is not registered.
  public func unregister(_ hosts: [Host]) async throws(CallError) {
    _ = try await perform("host.unregister", Self.declaring(hosts))
    self.hosts.remove(hosts)
  }

  /// Sets what the server may call by this name; nil takes it back.
  ///
  /// Throws ``CallError`` -32602 for a name of the protocol's own.
  public func setMethod(_ name: String, _ method: Method?) throws(CallError) {
    try Self.checkMethodName(name)
    methods[name] = method
  }

  static func checkMethodName(_ name: String) throws(CallError) {
    let own: Set = ["page.open", "page.close", "page.resume", "page.call", "task.run", "event"]
    guard !own.contains(name), !name.hasPrefix("$/"), !name.hasPrefix("rpc.") else {
      throw .invalidParams("The method \(name) belongs to the protocol; choose another name")
    }
  }

  private static func declaring(_ hosts: [Host]) -> Value {
    ["hosts": .list(hosts.map(\.value))]
  }
}

// What the server asks of hosts.
extension BridgeClient {
  func openPage(_ params: Value, _ request: RequestID) async throws -> Value {
    guard let page = params["page"].flatMap(Page.init) else {
      throw RPCError(.invalidParams, "params.page must be a page with id, uri and style")
    }
    guard let host = pageHost(of: page.uri) else {
      throw RPCError(.hostAbsent, "This client does not show \(page.uri)")
    }
    try pages.add(HostedPages.Entry(page: page, host: host, opening: request))
    do {
      try await host.open(page)
    } catch {
      pages.remove(page.id)?.closer?.resume(returning: false)
      throw error
    }
    pages[page.id]?.opening = nil
    guard Task.isCancelled else { return .null }
    if let closer = pages[page.id]?.closer {
      closer.resume(returning: true)
    } else if pages.remove(page.id) != nil {
      // Nobody waits for this page any more: left alone it would stay in sight without being on the stack.
      await host.close(page, reason: .cancelled)
    }
    throw RPCError(.cancelled)
  }

  /// Of a page that is gone it is true that it is closed.
  func closePage(_ params: Value) async throws -> Value {
    guard let id = params["page"]?.string else {
      throw RPCError(.invalidParams, "params.page must be the id of a page")
    }
    let reason = params["reason"]?.string.flatMap(Outcome.Kind.init(rawValue:)) ?? .dismissed
    if let opening = pages[id]?.opening {
      guard pages[id]?.closer == nil else { return .null }
      serving[opening]?.cancel()
      guard await withCheckedContinuation({ pages[id]?.closer = $0 }) else { return .null }
    }
    guard let entry = pages.remove(id) else { return .null }
    await entry.host.close(entry.page, reason: reason)
    return .null
  }

  /// The page has come on top again.
  func resume(_ page: Page, _ host: any PageHost) async {
    await host.resume(page)
  }

  func callPage(_ params: Value, _ request: RequestID) async throws -> Value {
    guard let id = params["page"]?.string, let name = params["method"]?.string else {
      throw RPCError(.invalidParams, "page.call needs the strings page and method")
    }
    let call = MethodCall(
      method: name, params: params["params"] ?? .null, progress: progress(of: request))
    if id == ownPage {
      guard let method = methods[name] else { throw call.unknown }
      return try await method(call)
    }
    guard let (page, host) = pages.shown(id) else {
      throw RPCError(.noRoute, "This client does not show the page \(id)", kind: "notOnStack")
    }
    return try await host.call(call, of: page)
  }

  func runTask(_ params: Value, _ request: RequestID) async throws -> Value {
    guard let uri = params["uri"]?.string else {
      throw RPCError(.invalidParams, "params.uri must be a string")
    }
    let host = hosts.find(uri) { $0.declaration.kind != .page }
    guard case .run(let run) = host?.handler else {
      throw RPCError(.hostAbsent, "This client does not run \(uri)")
    }
    return try await run(
      TaskCall(
        uri: uri, params: params["params"]?.object ?? [:], exts: params["exts"]?.object ?? [:],
        progress: progress(of: request)))
  }

  /// A page that this client shows already, so that its host is told when it closes.
  func keepAdopted(_ page: Page, _ host: (any PageHost)?) {
    guard let host = host ?? pageHost(of: page.uri) else { return }
    try? pages.add(HostedPages.Entry(page: page, host: host))
  }

  /// The connection has ended: what this client shows has left the stack. What is still opening closes when it is open.
  func closeHostedPages() {
    for entry in pages.entries.reversed() where entry.opening == nil {
      pages[entry.page.id] = nil
      Task { await self.close(entry) }
    }
  }

  private func close(_ entry: HostedPages.Entry) async {
    await entry.host.close(entry.page, reason: .failed)
  }

  private func pageHost(of uri: String) -> (any PageHost)? {
    guard case .pages(let host) = hosts.find(uri, where: { $0.declaration.kind == .page })?.handler
    else { return nil }
    return host
  }
}
