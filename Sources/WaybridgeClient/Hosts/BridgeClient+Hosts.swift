import WayRPC
import WayValues

extension BridgeClient {
  /// Hosts more than the session was opened with. A host of the same scheme, patterns and kind is
  /// replaced.
  ///
  /// Throws ``CallError``, with nothing changed: -32602 for a wrong scheme or pattern, 2429 for too
  /// many.
  public func register(_ hosts: [Host]) async throws(CallError) {
    // The server may ask right after its answer.
    let replaced = self.hosts.add(hosts)
    do {
      _ = try await perform("host.register", Self.declaring(hosts))
    } catch {
      self.hosts.remove(hosts)
      self.hosts.add(replaced)
      throw error
    }
  }

  /// Takes hosts back, known by scheme, patterns and kind. Pages that are shown stay, and what runs
  /// goes on.
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
