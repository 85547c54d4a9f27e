import WayPatterns
import WayValues

/// The hosts of this client, found as the server finds them.
struct HostTable {
  private var directory = HostDirectory<BridgeClient.Host>()
  private var numbers: [HostDeclaration: Int] = [:]

  init() {}

  init(_ hosts: [BridgeClient.Host]) throws(CallError) {
    try add(hosts)
  }

  /// All of them, or none. A host that is there already, as the server knows it, is replaced; gives
  /// those that are.
  @discardableResult
  mutating func add(_ hosts: [BridgeClient.Host]) throws(CallError) -> [BridgeClient.Host] {
    var added: [(scheme: String?, patterns: [RoutePattern], host: BridgeClient.Host)] = []
    for host in hosts {
      var patterns: [RoutePattern] = []
      for text in host.declaration.patterns {
        do { patterns.append(try RoutePattern(text)) } catch {
          throw .invalidParams("The pattern '\(text)' of a host: \(error)")
        }
      }
      added.append((host.declaration.scheme, patterns, host))
    }
    let replaced = hosts.compactMap { numbers[$0.declaration] }.compactMap { directory[$0] }
    remove(hosts)
    for (host, number) in zip(hosts, directory.add(added)) { numbers[host.declaration] = number }
    return replaced
  }

  /// Takes hosts back.
  mutating func remove(_ hosts: [BridgeClient.Host]) {
    directory.remove(hosts.compactMap { numbers.removeValue(forKey: $0.declaration) })
  }

  /// Who serves a URI.
  func find(
    _ text: String, where fits: (BridgeClient.Host) -> Bool
  ) -> BridgeClient.Host? {
    guard let uri = try? RouteURI(mapping: text) else { return nil }
    return directory.find(uri, where: fits)
  }
}
