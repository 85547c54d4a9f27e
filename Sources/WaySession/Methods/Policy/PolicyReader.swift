import WayPatterns
import WayTable
import WayTransport
import WayValues

extension Policy {
  /// Reads the document of a policy, `protocol/schema/policy.schema.json`; throws every fault that
  /// it has.
  package init(parsing document: Value) throws(DocumentFaults) {
    var reader = PolicyReader()
    let policy = reader.policy(document)
    guard reader.faults.isEmpty, let policy else { throw DocumentFaults(faults: reader.faults) }
    self = policy
  }
}

/// Takes the document of a policy apart.
struct PolicyReader: DocumentReader {
  private static let maxRules = 1000
  /// Entries of one list.
  private static let maxEntries = 1000
  /// Bytes of a rule's name, which refusals tell.
  private static let maxName = 256
  /// What refuses beside rules, and what `waybridge policy test` calls no refusal.
  private static let reserved = ["default", "permissions", "invitation", "identity", "allow"]

  var faults: [DocumentFault] = []
  /// The rules so far, by their names.
  private var named: [UTF8Key: JSONPath] = [:]

  mutating func policy(_ document: Value) -> Policy? {
    let known = ["$schema", "hosts", "origins", "rules"]
    guard let root = object(document, at: .root, known: known) else { return nil }
    _ = text("$schema", of: root, at: .root)
    let empty = "is empty; leave it out"
    let hosts = entries("hosts", of: root, at: .root, empty: empty, Self.fault(ofHost:))
    let origins = entries("origins", of: root, at: .root, empty: empty, Self.fault(ofOrigin:))
    return Policy(hosts: hosts ?? [], origins: origins ?? [], rules: rules(of: root))
  }

  private mutating func rules(of root: ValueObject) -> [Policy.Rule]? {
    let path = JSONPath.root.member("rules")
    guard let value = root["rules"], let list = list(value, at: path) else { return nil }
    if list.isEmpty {
      fault(path, "is empty, so that nothing would be allowed; leave it out to allow everything")
    }
    guard list.count <= Self.maxRules else {
      fault(path, "a policy has at most \(Self.maxRules) rules; these are \(list.count)")
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
      "name", "allow", "deny", "origins", "groups", "subjects", "routes", "schemes", "server",
    ]
    guard let object = object(value, at: path, known: known) else { return nil }
    let name = name(of: object, at: path)
    let (effect, methods) = methods(of: object, at: path)
    let nobody = "is empty, so that the rule fits nobody; leave it out for all callers"
    let origins = entries(
      "origins", of: object, at: path, empty: nobody, Self.fault(ofOrigin:))
    let groups = entries("groups", of: object, at: path, empty: nobody) { _ in nil }
    let subjects = entries("subjects", of: object, at: path, empty: nobody) { _ in nil }
    let routes = entries(
      "routes", of: object, at: path,
      empty: "is empty, so that the rule fits no route; leave it out for all",
      Self.fault(ofRoute:))
    let schemes = entries(
      "schemes", of: object, at: path,
      empty: "is empty, so that the rule fits no host; leave it out for all schemes",
      Self.fault(ofScheme:))
    let server = bool("server", of: object, at: path)
    if server == false { fault(path.member("server"), "has to be true, or left out") }
    guard let name, let effect, let methods else { return nil }
    let rule = Policy.Rule(
      name, effect, methods, origins: origins, groups: groups, subjects: subjects, routes: routes,
      schemes: schemes, coversServer: server ?? false)
    check(rule, at: path)
    return rule
  }

  private mutating func name(of object: ValueObject, at path: JSONPath) -> String? {
    guard let name = requiredText("name", of: object, at: path) else { return nil }
    let place = path.member("name")
    if Self.reserved.contains(where: name.isSameUTF8) {
      fault(place, "'\(name)' is told where no rule decides; take another name")
    } else if name.utf8.count > Self.maxName {
      fault(place, "a name has at most \(Self.maxName) bytes; this one has \(name.utf8.count)")
    } else if let other = named[UTF8Key(name)] {
      fault(place, "'\(name)' is the name of \(other) already; names are unique")
    } else {
      named[UTF8Key(name)] = path
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
      fault(path, "a rule has 'allow' or 'deny', with the methods that it is about")
      return (nil, nil)
    case (_?, _?):
      fault(path, "a rule has either 'allow' or 'deny', not both; make two rules of it")
      return (nil, nil)
    }
    let methods = entries(
      effect == .allow ? "allow" : "deny", of: object, at: path,
      empty: "is empty, so that the rule is about no method; '*' stands for all"
    ) { method in
      if effect == .deny, method == "session.open" {
        return "no rule is asked about session.open; who comes in is said by 'hosts', 'origins' "
          + "and tokens"
      }
      return PolicyMethodNames.fault(of: method)
    }
    return (effect, methods)
  }

  /// Notes selectors by which a rule fits no call, or more than it seems to.
  private mutating func check(_ rule: Policy.Rule, at path: JSONPath) {
    let methods = rule.methods.map(MethodPattern.init)
    guard !methods.isEmpty else { return }
    let isOfHosts = methods.contains { $0.covers("host.register") }
    let isOfRoutes = RouteMethod.allCases.contains { method in
      methods.contains { $0.covers(method.name) }
    }
    if rule.routes != nil, !isOfRoutes {
      let names = RouteMethod.allCases.map(\.name).joined(separator: ", ")
      fault(
        path.member("routes"), "the rule is about no method that concerns a route: \(names)")
    }
    if rule.schemes != nil, !isOfHosts {
      fault(
        path.member("schemes"), "the rule is not about host.register, the only method with schemes")
    }
    if rule.routes != nil, rule.schemes != nil {
      fault(path, "no call is about both 'routes' and 'schemes'; make two rules of it")
    }
    guard rule.coversServer else { return }
    if !isOfHosts {
      fault(path.member("server"), "the rule is not about host.register, which alone has a scope")
    }
    if rule.effect == .deny {
      fault(
        path.member("server"), "a denial is about hosts of each scope; leave it out")
    }
  }

  /// The texts of a list, none of which stands twice; nil where it is absent. `check` says what is
  /// wrong with one.
  private mutating func entries(
    _ name: String, of object: ValueObject, at path: JSONPath, empty: String,
    _ check: (String) -> String?
  ) -> [String]? {
    let path = path.member(name)
    guard let value = object[name], let list = list(value, at: path) else { return nil }
    if list.isEmpty { fault(path, empty) }
    guard list.count <= Self.maxEntries else {
      fault(path, "has at most \(Self.maxEntries) entries; these are \(list.count)")
      return nil
    }
    var entries: [String] = []
    var seen: Set<UTF8Key> = []
    for (index, value) in list.enumerated() {
      let path = path.element(index)
      guard let text = text(value, at: path) else { continue }
      if !seen.insert(UTF8Key(text)).inserted {
        fault(path, "'\(text)' comes twice")
      } else if let reason = check(text) {
        fault(path, reason)
      }
      entries.append(text)
    }
    return entries
  }
}

// What an entry has to be.
extension PolicyReader {
  private static func fault(ofOrigin text: String) -> String? {
    OriginPattern(text) == nil ? "'\(text)' is no origin: give \(OriginPattern.form)" : nil
  }

  private static func fault(ofRoute text: String) -> String? {
    guard text.isPattern else { return nil }
    do {
      _ = try RoutePattern(text)
      return nil
    } catch {
      return "\(error)"
    }
  }

  private static func fault(ofScheme text: String) -> String? {
    guard !RouteURI.isScheme(text) else { return nil }
    return "'\(text)' is no scheme: a letter, then letters, digits, '+', '-' and '.'"
  }

  private static func fault(ofHost text: String) -> String? {
    guard Authority(text) == nil else { return nil }
    return "'\(text)' is no host: give NAME or NAME:PORT, without a scheme or a path"
  }
}
