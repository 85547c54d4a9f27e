import Synchronization
import WayRPC
import WayTransport
import WayValues

/// The policies that were in force, each with its hash and the names of the rules that changed. May
/// be used on any thread.
package final class PolicyVersions: Sendable {
  private static let maxVersions = 16

  private struct PolicyVersion {
    let hash: String
    let since: Int64
    let compiledPolicy: CompiledPolicy?
    /// The text of each rule, by its name.
    let rules: [String: String]?
    let changes: Value
  }

  /// How often the content of the policy's file was rejected.
  package let rejections = Atomic(0)
  private let versions = Locked<[PolicyVersion]>([])

  init(_ compiledPolicy: CompiledPolicy?, at now: Int64) { add(compiledPolicy, at: now) }

  /// Records a policy that is now in force.
  func add(_ compiledPolicy: CompiledPolicy?, at now: Int64) {
    let rules = compiledPolicy.map { policy in
      Dictionary(policy.rules.map { ($0.name, $0.source.text) }) { first, _ in first }
    }
    let hash = compiledPolicy.map { policy in
      var hash = StableHash()
      for rule in policy.rules { hash.add(rule.source.text) }
      return hash.hexString
    }
    versions.withLock { versions in
      let last = versions.last
      if let last, last.hash == hash ?? "none" { return }
      versions.append(
        PolicyVersion(
          hash: hash ?? "none", since: now, compiledPolicy: compiledPolicy, rules: rules,
          changes: Self.changes(from: last?.rules ?? [:], to: rules ?? [:])))
      if versions.count > Self.maxVersions { versions.removeFirst() }
    }
  }

  /// The hash of the policy that is in force; `none` if there is no policy.
  package var current: String { versions.withLock { $0.last?.hash } ?? "none" }

  /// Returns the policy that was in force with a hash, and the hash of the current one. Fails with
  /// 2404 if there is none, and with 2409 if the current hash is not `expected`.
  func find(
    _ hash: String, expecting expected: String?
  ) throws(CallError) -> (compiledPolicy: CompiledPolicy?, current: String) {
    let versions = versions.withLock { $0 }
    let current = versions.last?.hash ?? "none"
    if let expected, expected != current {
      throw CallError(
        .conflict, "The policy in force is \(current.quoted), not \(expected.quoted)", kind: "stale"
      )
    }
    guard let found = versions.last(where: { $0.hash == hash }) else {
      throw CallError(
        .noRoute,
        "No recent policy has the hash \(hash.quoted); admin.versions lists the recent ones",
        kind: "noVersion")
    }
    return (found.compiledPolicy, current)
  }

  private static func changes(from old: [String: String], to new: [String: String]) -> Value {
    func list(_ names: [String]) -> Value { .array(names.sorted().map(Value.string)) }
    return [
      "added": list(new.keys.filter { old[$0] == nil }),
      "removed": list(old.keys.filter { new[$0] == nil }),
      "changed": list(new.keys.filter { old[$0] != nil && old[$0] != new[$0] }),
    ]
  }

  /// The versions as `admin.versions` reports them: the current policy, and the earlier ones, the
  /// latest first.
  func value(_ compiledPolicy: CompiledPolicy?) -> Value {
    let versions = versions.withLock { $0 }
    guard let current = versions.last else { return .null }
    return [
      "hash": .string(current.hash), "since": .integer(current.since),
      "rules": compiledPolicy.map { .array($0.rules.map(\.source.value)) } ?? .null,
      "versions": .array(
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
  /// The rule as in the policy document.
  fileprivate var value: Value {
    func list(_ texts: [String]) -> Value { .array(texts.map(Value.string)) }
    var members: ValueObject = ["name": .string(name)]
    members[effect == .deny ? "deny" : "allow"] = list(methods)
    members["origins"] = origins.map(list)
    members["groups"] = groups.map(list)
    members["subjects"] = subjects.map(list)
    members["routes"] = routes.map(list)
    members["schemes"] = schemes.map(list)
    if coversServer { members["server"] = true }
    if coversInterceptors { members["interceptors"] = true }
    return .object(members)
  }

  /// The same text for all rules with the same content.
  fileprivate var text: String { (try? JSON.text(value)) ?? name }
}
