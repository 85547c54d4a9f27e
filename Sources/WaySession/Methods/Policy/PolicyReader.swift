import WayPatterns
import WayTable
import WayTransport
import WayValues

extension Policy {
  /// Decodes the document of a policy, `protocol/schema/policy.schema.json`. Throws every fault
  /// that it has.
  package init(parsing document: Value) throws(DocumentFaults) {
    var reader = PolicyReader()
    let policy = reader.policy(document)
    guard reader.faults.isEmpty, let policy else { throw DocumentFaults(faults: reader.faults) }
    self = policy
  }
}

/// Decodes the document of a policy.
struct PolicyReader: DocumentReader {
  private static let maxRules = 1000
  /// The maximum number of entries in one list.
  private static let maxEntries = 1000
  /// The maximum length of a rule's name, in bytes; errors contain it.
  private static let maxName = 256
  /// Names of decisions without a rule, and the name for no denial in `waybridge policy test`.
  private static let reservedNames = [
    "default", "permissions", "invitation", "identity", "agents", "allow",
  ]

  var faults: [DocumentFault] = []
  /// The rules so far, by name.
  private var rulePaths: [UTF8Key: JSONPath] = [:]

  mutating func policy(_ document: Value) -> Policy? {
    let known = ["$schema", "hosts", "origins", "rules"]
    guard let root = object(document, at: .root, known: known) else { return nil }
    _ = string("$schema", of: root, at: .root)
    let empty = "is empty; remove it"
    let hosts = entries("hosts", of: root, at: .root, empty: empty, Self.fault(ofHost:))
    let origins = entries("origins", of: root, at: .root, empty: empty, Self.fault(ofOrigin:))
    return Policy(hosts: hosts ?? [], origins: origins ?? [], rules: rules(of: root))
  }

  private mutating func rules(of root: ValueObject) -> [Policy.Rule]? {
    let path = JSONPath.root.member("rules")
    guard let value = root["rules"], let list = array(value, at: path) else { return nil }
    if list.isEmpty {
      addFault(path, "is empty, so no call would be allowed; remove it to allow all calls")
    }
    guard list.count <= Self.maxRules else {
      addFault(path, "has \(list.count) rules; a policy may have at most \(Self.maxRules)")
      return nil
    }
    var rules: [Policy.Rule] = []
    for (index, value) in list.enumerated() {
      if let rule = rule(value, at: path.element(index)) { rules.append(rule) }
    }
    return rules
  }

  private mutating func rule(_ value: Value, at path: JSONPath) -> Policy.Rule? {
    let known = [
      "name", "allow", "deny", "origins", "groups", "subjects", "agents", "routes", "schemes",
      "topics",
      "server", "interceptors",
    ]
    guard let object = object(value, at: path, known: known) else { return nil }
    let name = name(of: object, at: path)
    let (effect, methods) = methods(of: object, at: path)
    let empty = "is empty, so the rule matches no caller; remove it to match all callers"
    let origins = entries(
      "origins", of: object, at: path, empty: empty, Self.fault(ofOrigin:))
    let groups = entries("groups", of: object, at: path, empty: empty) { _ in nil }
    let subjects = entries("subjects", of: object, at: path, empty: empty) { _ in nil }
    let agents = entries(
      "agents", of: object, at: path,
      empty: "is empty, so the rule matches no agent; use \"*\" for all agents"
    ) { _ in nil }
    let routes = entries(
      "routes", of: object, at: path,
      empty: "is empty, so the rule matches no route; remove it to match all routes",
      Self.fault(ofRoute:))
    let schemes = entries(
      "schemes", of: object, at: path,
      empty: "is empty, so the rule matches no host; remove it to match all schemes",
      Self.fault(ofScheme:))
    let topics = entries(
      "topics", of: object, at: path,
      empty: "is empty, so the rule matches no event; remove it to match all topics",
      Self.fault(ofTopic:))
    let server = flag("server", of: object, at: path)
    let interceptors = flag("interceptors", of: object, at: path)
    guard let name, let effect, let methods else { return nil }
    let rule = Policy.Rule(
      name, effect, methods, origins: origins, groups: groups, subjects: subjects, agents: agents,
      routes: routes,
      schemes: schemes, topics: topics, coversServer: server,
      coversInterceptors: interceptors)
    check(rule, at: path)
    return rule
  }

  /// Whether a member is present, which must be true then.
  private mutating func flag(_ name: String, of object: ValueObject, at path: JSONPath) -> Bool {
    let value = boolean(name, of: object, at: path)
    if value == false { addFault(path.member(name), "must be true if present") }
    return value ?? false
  }

  private mutating func name(of object: ValueObject, at path: JSONPath) -> String? {
    guard let name = requiredString("name", of: object, at: path) else { return nil }
    let place = path.member("name")
    if Self.reservedNames.contains(where: name.isSameUTF8) {
      addFault(place, "\"\(name)\" is reserved for decisions without a rule; choose another name")
    } else if name.utf8.count > Self.maxName {
      addFault(place, "has \(name.utf8.count) bytes; a name may have at most \(Self.maxName)")
    } else if let other = rulePaths[UTF8Key(name)] {
      addFault(place, "\"\(name)\" is already the name of \(other); names must be unique")
    } else {
      rulePaths[UTF8Key(name)] = path
    }
    return name
  }

  private mutating func methods(
    of object: ValueObject, at path: JSONPath
  ) -> (Policy.Rule.Effect?, [String]?) {
    let effect: Policy.Rule.Effect
    switch (object["allow"], object["deny"]) {
    case (_?, nil): effect = .allow
    case (nil, _?): effect = .deny
    case (nil, nil):
      addFault(path, "a rule needs \"allow\" or \"deny\" with the methods that it applies to")
      return (nil, nil)
    case (_?, _?):
      addFault(path, "a rule has either \"allow\" or \"deny\", not both; split it into two rules")
      return (nil, nil)
    }
    let methods = entries(
      effect == .allow ? "allow" : "deny", of: object, at: path,
      empty: "is empty, so the rule applies to no method; use \"*\" for all methods"
    ) { method in
      if effect == .deny, method == "session.open" {
        return "session.open is not checked against rules; use \"hosts\", \"origins\" or tokens to "
          + "reject clients"
      }
      return PolicyMethodNames.fault(of: method)
    }
    return (effect, methods)
  }

  /// Reports selectors with which a rule matches no call, or more calls than it seems to.
  private mutating func check(_ rule: Policy.Rule, at path: JSONPath) {
    let methods = rule.methods.map(MethodPattern.init)
    guard !methods.isEmpty else { return }
    let isOfHosts = methods.contains { $0.covers("host.register") }
    let isOfRoutes = PolicyRouteMethod.allCases.contains { method in
      methods.contains { $0.covers(method.name) }
    }
    if rule.routes != nil, !isOfRoutes {
      let names = PolicyRouteMethod.allCases.map(\.name).joined(separator: ", ")
      addFault(
        path.member("routes"), "the rule applies to none of the methods that have a route: \(names)"
      )
    }
    if rule.schemes != nil, !isOfHosts {
      addFault(
        path.member("schemes"),
        "the rule does not apply to host.register, the only method with schemes")
    }
    let isOfTopics = PolicyTopicMethod.allCases.contains { method in
      methods.contains { $0.covers(method.rawValue) }
    }
    if rule.topics != nil, !isOfTopics {
      addFault(
        path.member("topics"),
        "the rule applies to neither events.publish nor event, the methods that have a topic")
    }
    if rule.routes != nil, rule.schemes != nil {
      addFault(path, "no call has both a route and a scheme to register; split it into two rules")
    }
    if rule.topics != nil, rule.routes != nil || rule.schemes != nil {
      addFault(path, "no event has a route or a scheme; split it into two rules")
    }
    for (name, isSet, denied) in [
      ("server", rule.coversServer, "hosts of every scope"),
      ("interceptors", rule.coversInterceptors, "hosts and interceptors"),
    ] where isSet {
      if !isOfHosts {
        addFault(
          path.member(name), "the rule does not apply to host.register, the only method that has it"
        )
      }
      if rule.effect == .deny {
        addFault(path.member(name), "a denial applies to \(denied); remove it")
      }
    }
  }

  /// The strings of a list, which must be unique; nil if it is absent. `check` returns the fault of
  /// an entry.
  private mutating func entries(
    _ name: String, of object: ValueObject, at path: JSONPath, empty: String,
    _ check: (String) -> String?
  ) -> [String]? {
    let path = path.member(name)
    guard let value = object[name], let list = array(value, at: path) else { return nil }
    if list.isEmpty { addFault(path, empty) }
    guard list.count <= Self.maxEntries else {
      addFault(path, "has \(list.count) entries; at most \(Self.maxEntries) are allowed")
      return nil
    }
    var entries: [String] = []
    var seen: Set<UTF8Key> = []
    for (index, value) in list.enumerated() {
      let path = path.element(index)
      guard let text = string(value, at: path) else { continue }
      if !seen.insert(UTF8Key(text)).inserted {
        addFault(path, "\"\(text)\" occurs twice; remove one")
      } else if let reason = check(text) {
        addFault(path, reason)
      }
      entries.append(text)
    }
    return entries
  }
}

// Checks of entries.
extension PolicyReader {
  private static func fault(ofOrigin text: String) -> String? {
    OriginPattern(text) == nil
      ? "\"\(text)\" is not an origin; use \(OriginPattern.expectedFormat)" : nil
  }

  private static func fault(ofRoute text: String) -> String? {
    guard text.isRoutePattern else { return nil }
    do {
      _ = try RoutePattern(text)
      return nil
    } catch {
      return "\(error)"
    }
  }

  private static func fault(ofScheme text: String) -> String? {
    guard !RouteURI.isScheme(text) else { return nil }
    return "\"\(text)\" is not a scheme: a letter, then letters, digits, \"+\", \"-\" and \".\""
  }

  private static func fault(ofTopic text: String) -> String? {
    do throws(TopicError) {
      let pattern = try TopicPattern(text, limit: TableTopicName.maxLength)
      guard let prefix = pattern.reservedPrefix else { return nil }
      return "topics that begin with \"\(prefix)\" are the server's; no client publishes them"
    } catch {
      return "\"\(text)\" \(error.reason)"
    }
  }

  private static func fault(ofHost text: String) -> String? {
    guard HandshakeAuthority(text) == nil else { return nil }
    return "\"\(text)\" is not a host; use NAME or NAME:PORT, without a scheme or a path"
  }
}
