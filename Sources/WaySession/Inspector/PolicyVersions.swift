import WayRPC
import WayTransport
import WayValues

/// The policies that were in force, by a hash of each and the names of what differs. From any
/// thread.
package final class PolicyVersions: Sendable {
  private static let maxKept = 16

  private struct PolicyVersion {
    let hash: String
    let since: Int64
    let rulebook: CompiledPolicy?
    /// By the rules' names, how each reads.
    let rules: [String: String]?
    let changes: Value
  }

  private let versions = Locked<[PolicyVersion]>([])

  init(_ rulebook: CompiledPolicy?, at now: Int64) { add(rulebook, at: now) }

  /// Another policy is in force.
  func add(_ rulebook: CompiledPolicy?, at now: Int64) {
    let rules = rulebook.map { book in
      Dictionary(book.rules.map { ($0.name, $0.source.text) }) { first, _ in first }
    }
    let hash = rulebook.map { book in
      var hash = StableHash()
      for rule in book.rules { hash.add(rule.source.text) }
      return hash.text
    }
    versions.withLock { versions in
      let last = versions.last
      if let last, last.hash == hash ?? "none" { return }
      versions.append(
        PolicyVersion(
          hash: hash ?? "none", since: now, rulebook: rulebook, rules: rules,
          changes: Self.changes(from: last?.rules ?? [:], to: rules ?? [:])))
      if versions.count > Self.maxKept { versions.removeFirst() }
    }
  }

  /// The hash of the rules that are in force, `none` for none.
  var current: String { versions.withLock { $0.last?.hash } ?? "none" }

  /// The rules that were in force with a hash, and the hash of those that are. Fails with 2404 for
  /// none, and with 2409 where others than `expected` are in force.
  func find(
    _ hash: String, expecting expected: String?
  ) throws(CallError) -> (rulebook: CompiledPolicy?, current: String) {
    let versions = versions.withLock { $0 }
    let current = versions.last?.hash ?? "none"
    if let expected, expected != current {
      throw CallError(
        .conflict, "The policy \(current) is in force, not \(expected.quoted)", kind: "stale")
    }
    guard let found = versions.last(where: { $0.hash == hash }) else {
      throw CallError(
        .noRoute,
        "No policy \(hash.quoted) was in force of late; admin.versions lists those that were",
        kind: "noVersion")
    }
    return (found.rulebook, current)
  }

  private static func changes(from old: [String: String], to new: [String: String]) -> Value {
    func list(_ names: [String]) -> Value { .list(names.sorted().map(Value.string)) }
    return [
      "added": list(new.keys.filter { old[$0] == nil }),
      "removed": list(old.keys.filter { new[$0] == nil }),
      "changed": list(new.keys.filter { old[$0] != nil && old[$0] != new[$0] }),
    ]
  }

  /// As `admin.versions` tells them: the one in force, and those before it, the latest first.
  func value(_ rulebook: CompiledPolicy?) -> Value {
    let versions = versions.withLock { $0 }
    guard let current = versions.last else { return .null }
    return [
      "hash": .string(current.hash), "since": .integer(current.since),
      "rules": rulebook.map { .list($0.rules.map(\.source.value)) } ?? .null,
      "versions": .list(
        zip(versions.dropLast(), versions.dropFirst()).reversed().map { earlier, next in
          [
            "hash": .string(earlier.hash), "at": .integer(earlier.since),
            "changes": next.changes,
          ]
        }),
    ]
  }
}

extension Policy.Rule {
  /// The rule as the policy's document has it.
  fileprivate var value: Value {
    func list(_ texts: [String]) -> Value { .list(texts.map(Value.string)) }
    var members: ValueObject = ["name": .string(name)]
    members[effect == .deny ? "deny" : "allow"] = list(methods)
    members["origins"] = origins.map(list)
    members["groups"] = groups.map(list)
    members["subjects"] = subjects.map(list)
    members["routes"] = routes.map(list)
    members["schemes"] = schemes.map(list)
    if coversServer { members["server"] = true }
    return .object(members)
  }

  /// The same for every rule that says the same.
  fileprivate var text: String { (try? JSON.text(value)) ?? name }
}
