import WayRPC
import WayValues

extension BridgeClient {
  /// Registers further hosts. A host with the same scheme, patterns and kind is replaced, and so is an
  /// interceptor that differs only in its code.
  ///
  /// Throws ``CallError``, with nothing changed: -32602 for an invalid scheme or pattern, 2429 for
  /// too many, 2409 for another interceptor with the name of an earlier one, 2403 for an interceptor
  /// that the policy does not allow.
  public func register(_ hosts: [Host]) async throws(CallError) {
    try self.hosts.checkNames(with: hosts)
    // The server may send a request right after its response.
    let replaced = self.hosts.add(hosts)
    do {
      _ = try await perform("host.register", Self.hostParams(hosts))
    } catch {
      self.hosts.remove(hosts)
      self.hosts.add(replaced)
      throw error
    }
  }

  /// Unregisters hosts, identified by scheme, patterns and kind, and interceptors, identified by all that
  /// they were registered with except their code. Pages that are shown stay, and
  /// running tasks continue.
  ///
  /// Throws ``CallError`` -32602, with nothing changed, if one is not registered.
  public func unregister(_ hosts: [Host]) async throws(CallError) {
    _ = try await perform("host.unregister", Self.hostParams(hosts))
    self.hosts.remove(hosts)
  }

  /// Sets the method that the server may call by this name; nil removes it.
  ///
  /// Throws ``CallError`` -32602 for a name that the protocol reserves.
  public func setMethod(_ name: String, _ method: ClientMethod?) throws(CallError) {
    try Self.checkMethodName(name)
    methods[name] = method
  }

  static func checkMethodName(_ name: String) throws(CallError) {
    let own: Set = [
      "page.open", "page.close", "page.resume", "page.call", "page.leave", "router.intercept",
      "task.run", "event",
    ]
    guard !own.contains(name), !name.hasPrefix("$/"), !name.hasPrefix("rpc.") else {
      throw .invalidParams("The protocol reserves the method name \(name); choose another name")
    }
  }

  private static func hostParams(_ hosts: [Host]) -> Value {
    ["hosts": .array(hosts.map(\.value))]
  }
}
