import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// What a member hands on to a guest: whoever joins with its token may do this and no more.
final class Invitation: Sendable {
  /// What it keeps beside its params, about, in bytes.
  static let overhead = 2048

  /// The page that the guest is bound to.
  let page: String?
  /// Schemes and patterns that it may host.
  let hosts: Set<String>
  /// Names of routes, and patterns, that it may call; nil for all.
  private let routes: [String]?
  /// Both as they were given.
  private let given: [String]?
  private let patterns: RouteTrie?
  let groups: Set<String>
  let token: String
  /// The rights that the guest's do not go beyond.
  let inviter: Rights
  /// What is kept for it.
  private let charge: ByteBudget.Charge

  /// Fails with -32602 for what is no pattern.
  init(
    page: String?, hosts: [String], routes: [String]?, groups: Set<String>, by inviter: Rights,
    token: String = Token.random(), _ charge: ByteBudget.Charge
  ) throws(CallError) {
    self.page = page
    self.token = token
    given = routes
    self.inviter = inviter
    self.hosts = Set(hosts)
    self.groups = groups
    self.charge = charge
    self.routes = routes?.filter { !$0.isPattern }
    var read: [(pattern: RoutePattern, priority: Int)] = []
    for text in routes ?? [] where text.isPattern {
      do { read.append((try RoutePattern(text), 0)) } catch {
        throw .invalidParams("params.routes: the pattern \(text.quoted): \(error)")
      }
    }
    patterns = read.isEmpty ? nil : RouteTrie(read)
  }

  /// As it is kept.
  var record: ValueObject {
    var members: ValueObject = [
      "token": .string(token), "hosts": .list(hosts.sorted().map(Value.string)),
      "groups": .list(groups.sorted().map(Value.string)), "inviter": inviter.caller.record,
    ]
    members["page"] = page.map(Value.string)
    members["routes"] = given.map { .list($0.map(Value.string)) }
    return members
  }

  /// Whether a guest may call about every route.
  var isForAllRoutes: Bool { routes == nil }

  /// Whether a guest may call a method at all. Fails with 2403.
  func check(_ method: String) throws(CallError) {
    switch method {
    case "session.invite", "navigation.adopt", "navigation.selectTab":
      throw .uninvited("A guest may not call \(method)")
    default: break
    }
  }

  /// Whether a guest may call about what a URI leads to. Fails with 2403.
  func check(_ method: RouteMethod, _ said: Resolution) throws(CallError) {
    guard let routes, method != .pageCall else { return }
    if let name = said.route?.name, routes.contains(where: name.isSameUTF8) { return }
    if let patterns, let split = try? SplitURI(said.uri), patterns.best(split) != nil { return }
    throw .uninvited("The guest was not invited to call this route")
  }

  /// Whether a guest may host. Fails with 2403.
  func check(_ definition: HostDefinition) throws(CallError) {
    guard definition.scope == .session else {
      throw .uninvited("A guest hosts in its own session only")
    }
    if let scheme = definition.scheme, hosts.contains(scheme) { return }
    let isInvited =
      !definition.patterns.isEmpty
      && definition.patterns.allSatisfy { pattern in
        hosts.contains(pattern)
          || (definition.scheme == nil
            && RoutePattern.scheme(of: pattern).map(hosts.contains) == true)
      }
    if !isInvited {
      throw .uninvited(
        hosts.isEmpty
          ? "The guest was not invited to host anything"
          : "The guest was invited to host \(hosts.sorted().joined(separator: ", ")) only")
    }
  }
}

extension CallError {
  /// Why a guest is refused.
  static func uninvited(_ message: String) -> CallError { .forbidden("invitation", message) }
}

extension RoutePattern {
  /// The scheme that a text names, where it is a pattern that does.
  fileprivate static func scheme(of text: String) -> String? {
    (try? RoutePattern(text))?.scheme
  }
}
