import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// The limited rights that a client passes on to guests, which join with the invitation's token.
final class Invitation: Sendable {
  /// The approximate number of bytes that an invitation holds besides its params.
  static let overhead = 2048

  /// The page that the guest is bound to.
  let page: String?
  /// The schemes and patterns that the guest may host.
  let hosts: Set<UTF8Key>
  /// The names of the routes that the guest may call; nil for all routes.
  private let routes: [String]?
  /// The names and patterns of routes as they were given.
  let givenRoutes: [String]?
  private let patterns: RouteTrie?
  let groups: Set<UTF8Key>
  /// The topics that the guest may publish, and prefixes of them.
  let topics: [String]
  private let topicPatterns: [MethodPattern]
  let token: String
  /// The rights of the inviter, which limit those of the guest.
  let inviter: Rights
  /// The bytes charged for the invitation.
  private let charge: ByteBudget.Charge

  /// Throws -32602 for an invalid pattern.
  init(
    page: String?, hosts: [String], routes: [String]?, groups: Set<UTF8Key>,
    topics: [String], by inviter: Rights,
    token: String = SessionSecret.random(), _ charge: ByteBudget.Charge
  ) throws(CallError) {
    self.page = page
    self.token = token
    givenRoutes = routes
    self.inviter = inviter
    self.hosts = Set(hosts.map(UTF8Key.init))
    self.groups = groups
    self.topics = topics
    topicPatterns = topics.map(MethodPattern.init)
    self.charge = charge
    self.routes = routes?.filter { !$0.isRoutePattern }
    var read: [(pattern: RoutePattern, priority: Int)] = []
    for text in routes ?? [] where text.isRoutePattern {
      do { read.append((try RoutePattern(text), 0)) } catch {
        throw .invalidParams("params.routes: the pattern \(text.quoted): \(error)")
      }
    }
    patterns = read.isEmpty ? nil : RouteTrie(read)
  }

  /// The groups that the guest has now: those of the invitation that the inviter still has.
  var currentGroups: Set<UTF8Key> { groups.intersection(inviter.caller.identity.groups) }

  /// Whether the guest may call methods about every route.
  var isForAllRoutes: Bool { routes == nil }

  /// Checks whether the guest may call a method at all. Administrative methods are never for
  /// guests. Throws 2403.
  func check(_ method: String, _ kind: MethodKind) throws(CallError) {
    if kind == .admin { throw .notInvited("A guest may not call \(method)") }
    switch method {
    case "session.invite", "session.setGate", "navigation.adopt", "navigation.selectTab":
      throw .notInvited("A guest may not call \(method)")
    case PolicyTopicMethod.publish.rawValue where topics.isEmpty:
      throw .notInvited("The invitation of the guest does not allow it to publish events")
    default: break
    }
  }

  /// Checks whether the guest may call a method about the target of a URI. Throws 2403.
  func check(_ method: PolicyRouteMethod, _ resolution: Resolution) throws(CallError) {
    guard let routes, !method.isAboutOpenPages else { return }
    if let name = resolution.route?.name, routes.contains(where: name.isSameUTF8) { return }
    if let patterns, let split = try? SplitURI(resolution.uri), patterns.best(split) != nil {
      return
    }
    throw .notInvited("The invitation of the guest does not include this route")
  }

  /// Checks whether the guest may publish events of a topic. Throws 2403.
  func check(publishing topic: String) throws(CallError) {
    guard topicPatterns.contains(where: { $0.covers(topic) }) else {
      throw .notInvited("The invitation of the guest does not include this topic")
    }
  }

  /// Checks whether the guest may register a host. Throws 2403.
  func check(_ definition: SessionHostDefinition) throws(CallError) {
    guard definition.scope == .session else {
      throw .notInvited("A guest may host only in its own session")
    }
    guard definition.interceptor == nil else {
      throw .notInvited("A guest may not register interceptors")
    }
    if let scheme = definition.scheme, hosts.contains(UTF8Key(scheme)) { return }
    let isInvited =
      !definition.patterns.isEmpty
      && definition.patterns.allSatisfy { pattern in
        hosts.contains(UTF8Key(pattern))
          || (definition.scheme == nil
            && RoutePattern.scheme(of: pattern).map { hosts.contains(UTF8Key($0)) } == true)
      }
    if !isInvited {
      throw .notInvited(
        hosts.isEmpty
          ? "The invitation of the guest does not allow it to host"
          : "The guest may host only \(hosts.sortedTexts.joined(separator: ", "))")
    }
  }
}

extension CallError {
  /// The error for a call that the invitation does not allow.
  static func notInvited(_ message: String) -> CallError { .forbidden("invitation", message) }
}
