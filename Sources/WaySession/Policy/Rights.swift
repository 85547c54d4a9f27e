import Logging
import WayRouting
import WayTransport
import WayValues

/// The rules that are in force. Confined to the loop of its sessions.
package final class PolicySource: @unchecked Sendable {
  /// The compiled rules; nil if every connected client may call everything.
  package var compiledPolicy: CompiledPolicy? {
    didSet { generation &+= 1 }
  }
  /// The number of changes so far, of the policy and of the callers that it applies to. Read with
  /// every call, and only on the loop, so that it needs no check for exclusive access.
  @exclusivity(unchecked) fileprivate private(set) var generation = 0

  package init(_ compiledPolicy: CompiledPolicy? = nil) {
    self.compiledPolicy = compiledPolicy
  }

  /// Makes all rights discard what they have computed.
  fileprivate func invalidateResults() { generation &+= 1 }
}

/// The way in which the policy authorizes a method.
enum MethodKind {
  /// By the method alone.
  case standard
  /// By the method, and by its target, a route or hosts, when that is known.
  case targetDependent
  /// By a rule that allows it, for administrators.
  case admin
}

/// The permissions of one caller. They accompany a call, and everything that the call leads to is
/// checked against them. Confined to the loop of its session.
package final class Rights: @unchecked Sendable {
  /// The caller of the client's own rights, as it is now.
  @exclusivity(unchecked) private var ownCaller: Caller {
    didSet { computedCallerValue = nil }
  }
  @exclusivity(unchecked) private var computedCallerValue: Value?
  /// The caller that these rights follow, if they are a copy of a client's own rights.
  private let followed: CurrentCaller?
  /// The caller that copies of these rights follow; `nil` before the first copy.
  private var shared: CurrentCaller?
  /// Whether these rights, or those that limit them, are copies.
  private let isCopy: Bool
  /// Whether the client has left the session. Its guests stay, but no other may join.
  private var hasDeparted = false
  /// Whether an administrator has removed the client.
  private var hasBeenRevoked = false
  /// The source of the rules; nil for the app itself, which may do everything.
  private let source: PolicySource?
  /// The invitation of a guest.
  let invitation: Invitation?
  /// The rights that limit these: the rights of an inviter, or of a host that acts for its caller.
  private let limitedBy: Rights?
  /// The rules of methods, in the order of first use.
  private var methodRules: [(method: String, rule: MethodRule)] = []
  private static let maxMethodRules = 64
  /// The generation of rules from which ``methodRules`` and the caches were computed.
  @exclusivity(unchecked) private var knownGeneration = -1
  /// The methods that this caller may call about any target, as bits by their index in the table.
  @exclusivity(unchecked) private var unrestrictedMethods: UInt64 = 0
  /// The route methods that this caller may call about every unrestricted route, as bits by their
  /// raw value.
  @exclusivity(unchecked) private var unrestrictedRouteMethods: UInt64 = 0
  /// The targets that were allowed last, and the methods allowed for them.
  @exclusivity(unchecked) private var allowedCache: [(about: AnyObject, methods: UInt64)] = []
  /// A client calls few routes often.
  private static let allowedCacheLimit = 8

  init(
    _ caller: Caller, _ source: PolicySource?, invitation: Invitation? = nil,
    limitedBy: Rights? = nil
  ) {
    ownCaller = caller
    followed = nil
    isCopy = limitedBy?.isCopy == true
    self.source = source
    self.invitation = invitation
    self.limitedBy = limitedBy
  }

  /// Creates rights of a caller that changes elsewhere.
  init(
    following current: CurrentCaller, _ source: PolicySource?, invitation: Invitation? = nil,
    limitedBy: Rights? = nil
  ) {
    ownCaller = current.caller
    followed = current
    isCopy = true
    self.source = source
    self.invitation = invitation
    self.limitedBy = limitedBy
  }

  /// The caller, as it is now. A renewed token changes it for all that refers to these rights:
  /// invitations, guests, calls, deep links that wait, copies on other loops.
  @inline(__always)
  var caller: Caller { followed?.caller ?? ownCaller }

  /// The rights of the app itself in a session.
  static func app(in session: String, _ logger: Logger?) -> Rights {
    Rights(Caller(session: session, logger: logger), nil)
  }

  /// A copy for other loops, which follows the changes of the caller. Any thread may make rights of
  /// a loop from it with ``transferred(to:)``.
  var followingCopy: Rights {
    Rights(
      following: currentCaller, source, invitation: invitation, limitedBy: limitedBy?.followingCopy)
  }

  /// The same for another loop, which has its own copy of the rules. On the loop of the session only,
  /// unless these rights are a copy already.
  func transferred(to rules: PolicySource) -> Rights {
    Rights(
      following: currentCaller, source == nil ? nil : rules, invitation: invitation,
      limitedBy: limitedBy?.transferred(to: rules))
  }

  /// The caller that copies of these rights follow.
  private var currentCaller: CurrentCaller {
    if let known = followed ?? shared { return known }
    let created = CurrentCaller(ownCaller, isRevoked: hasBeenRevoked)
    shared = created
    return created
  }

  /// The client of another server, or from before a restart, whose state is needed before work that
  /// was requested earlier starts. `nil` if the state is known. `now` is in milliseconds since
  /// 1970-01-01 UTC.
  func outdatedCaller(at now: Int64) -> CurrentCaller? {
    followed?.isOutdated(at: now) == true ? followed : nil
  }

  /// Rights that permit nothing.
  static var none: Rights { Rights(Caller(session: ""), PolicySource(.denyAll)) }

  /// These rights, limited by others, in addition to the rights that limit these already.
  func intersection(_ other: Rights) -> Rights {
    Rights(
      following: currentCaller, source, invitation: invitation,
      limitedBy: limitedBy?.intersection(other) ?? other)
  }

  /// When the rights end: the first expiry of the caller and of the clients that limit it, in
  /// milliseconds since 1970-01-01 UTC; `nil` for none.
  var expires: Int64? {
    [caller.identity.expires, limitedBy?.expires].compactMap(\.self).min()
  }

  /// The caller in the form that hosts receive.
  var callerValue: Value {
    if isCopy { return caller.value }
    if let computedCallerValue { return computedCallerValue }
    let value = caller.value
    computedCallerValue = value
    return value
  }

  /// Gives the client another identity, for all rights that derive from it.
  func update(_ caller: Caller) {
    ownCaller = caller
    shared?.update(caller)
    source?.invalidateResults()
  }

  /// Records that the client has left the session: its invitations are void. `isElsewhere` is true if
  /// another server has the client now.
  func depart(isElsewhere: Bool) {
    hasDeparted = true
    if isElsewhere { shared?.markOutdated() }
  }

  /// Ends the rights, and those that they limit: what was requested with them is not started.
  func revoke() {
    hasBeenRevoked = true
    shared?.revoke()
  }

  /// Whether they are those of a client with one of these names.
  func isOfClient(in names: Set<String>) -> Bool {
    caller.client.map { names.contains($0.id) } == true
  }

  /// Whether an administrator has removed the client.
  var isRevoked: Bool { hasBeenRevoked || followed?.isRevoked == true }

  /// Whether the client may still invite guests, at a time in milliseconds since 1970-01-01 UTC.
  func mayInvite(at now: Int64) -> Bool {
    !hasDeparted && !hasExpired(at: now)
  }

  /// Whether the rights have ended, at a time in milliseconds since 1970-01-01 UTC. Work that was
  /// requested earlier must not start then.
  func hasExpired(at now: Int64) -> Bool {
    isRevoked || limitedBy?.hasExpired(at: now) == true
      || caller.identity.expires.map { $0 <= now } == true
  }

  /// Throws 2403 if the rights have ended, see ``hasExpired(at:)``.
  func checkValidity(at now: Int64) throws(CallError) {
    if hasExpired(at: now) { throw .rightsEnded }
  }

  /// Whether other rights limit these.
  var isLimited: Bool { limitedBy != nil }

  /// Whether another client's rights limit these, directly or through others.
  func areLimited(by other: Rights) -> Bool {
    guard let limitedBy else { return false }
    return limitedBy === other || limitedBy.areLimited(by: other)
  }

  /// The guests among the caller and the clients that act for it.
  var guests: [Caller] { (caller.isGuest ? [caller] : []) + (limitedBy?.guests ?? []) }

  /// The current generation of the rules and of the callers that copies follow.
  @inline(__always)
  private var generation: Int {
    let generation = source?.generation ?? limitGeneration
    return isCopy ? generation &+ followedVersions : generation
  }

  /// The current generation of the rights that limit these.
  private var limitGeneration: Int { limitedBy?.generation ?? 0 }

  /// The number of changes of the callers that these rights follow.
  private var followedVersions: Int {
    (followed?.version ?? 0) &+ (limitedBy?.followedVersions ?? 0)
  }

  /// Discards results of earlier rules.
  private func refresh() {
    guard knownGeneration != generation else { return }
    knownGeneration = generation
    unrestrictedMethods = 0
    unrestrictedRouteMethods = 0
    methodRules = []
    allowedCache = []
  }
}

// Checks of permissions.
extension Rights {
  /// Checks whether a method may be called at all. A method about a route is checked again with
  /// that route. `index` is the method's index in the table of methods. Throws 2403.
  @inline(__always)
  func authorize(_ method: String, _ kind: MethodKind, at index: Int) throws(CallError) {
    // An index beyond the number of bits never counts as allowed.
    if knownGeneration == generation, unrestrictedMethods & (1 << UInt64(index)) != 0 { return }
    try authorize(uncached: method, kind, at: index)
  }

  private func authorize(uncached method: String, _ kind: MethodKind, at index: Int)
    throws(CallError)
  {
    try authorize(method, kind)
    refresh()
    unrestrictedMethods |= 1 << UInt64(index)
  }

  /// Checks a method of which only the name is known.
  func authorize(_ method: String, _ kind: MethodKind = .standard) throws(CallError) {
    if source != nil {
      try agent?.check(method)
      try invitation?.check(method, kind)
      try methodRule(of: method, isAdmin: kind == .admin).authorize(
        method, isTargetDependent: kind == .targetDependent)
    }
    try limitedBy?.authorize(method, kind)
  }

  /// Checks whether a method may be called about the target of a URI. Throws 2403.
  func check(_ method: PolicyRouteMethod, _ resolution: Resolution) throws(CallError) {
    if resolution.isUnrestricted, knownGeneration == generation,
      unrestrictedRouteMethods & (1 << UInt64(method.rawValue)) != 0
    {
      return
    }
    let about = resolution.cacheKey
    if let about, knownGeneration == generation, isCached(method, about) { return }
    refresh()
    try check(uncached: method, resolution)
    if let about { cache(method, about) }
  }

  private func isCached(_ method: PolicyRouteMethod, _ about: AnyObject) -> Bool {
    for entry in allowedCache where entry.about === about {
      return entry.methods & (1 << UInt64(method.rawValue)) != 0
    }
    return false
  }

  private func cache(_ method: PolicyRouteMethod, _ about: AnyObject) {
    let bit: UInt64 = 1 << UInt64(method.rawValue)
    if let known = allowedCache.firstIndex(where: { $0.about === about }) {
      allowedCache[known].methods |= bit
    } else {
      if allowedCache.count == Self.allowedCacheLimit { allowedCache.removeFirst() }
      allowedCache.append((about, bit))
    }
  }

  private func check(uncached method: PolicyRouteMethod, _ resolution: Resolution) throws(CallError)
  {
    if isUnrestricted(method) { unrestrictedRouteMethods |= 1 << UInt64(method.rawValue) }
    if let source { try check(method, resolution, by: source.compiledPolicy) }
    try limitedBy?.check(method, resolution)
  }

  /// Checks the caller's own rights, without those that limit them.
  private func check(
    _ method: PolicyRouteMethod, _ resolution: Resolution, by compiledPolicy: CompiledPolicy?
  ) throws(CallError) {
    try agent?.check(method, resolution)
    try invitation?.check(method, resolution)
    if let permissions = resolution.route?.permissions, !permissions.isEmpty,
      !caller.identity.isMember(ofAny: permissions)
    {
      throw .forbidden(
        "permissions",
        "The route \(resolution.route?.name.quoted ?? "") is for the groups "
          + permissions.map(\.quoted).joined(separator: ", "))
    }
    try methodRule(of: method.name, isAdmin: false)
      .check(method.name, resolution, compiledPolicy)
    if case .navigation(_, let operation, _) = resolution {
      try authorize("navigation.\(operation)", .targetDependent)
    }
  }

  /// Checks whether an event of a topic may be published. Throws 2403.
  func check(_ method: PolicyTopicMethod, _ topic: String) throws(CallError) {
    if source != nil {
      try invitation?.check(publishing: topic)
      try methodRule(of: method.rawValue, isAdmin: false).check(method, topic)
    }
    try limitedBy?.check(method, topic)
  }

  /// Whether a method may be called about every unrestricted route.
  private func isUnrestricted(_ method: PolicyRouteMethod) -> Bool {
    let isUnrestrictedItself =
      source == nil
      || agent == nil && invitation?.isForAllRoutes != false
        && methodRule(of: method.name, isAdmin: false).isUnrestricted
    return isUnrestrictedItself && limitedBy?.isUnrestricted(method) != false
  }

  /// Whether a method may be called about the target of a URI.
  func allows(_ method: PolicyRouteMethod, _ resolution: Resolution) -> Bool {
    (try? check(method, resolution)) != nil
  }

  /// The error if the caller may not open the page, or run the task, that a URI leads to; nil if it
  /// may. An undeclared target may be either.
  func denial(ofOpening resolution: Resolution) -> CallError? {
    do throws(CallError) {
      try check(resolution.route.map { $0.kind == .page ? .open : .invoke } ?? .open, resolution)
      return nil
    } catch {
      return resolution.route == nil && allows(.invoke, resolution) ? nil : error
    }
  }

  /// Checks whether hosts may be registered. Throws 2403.
  func check(hosting definitions: [SessionHostDefinition]) throws(CallError) {
    guard let source, !definitions.isEmpty else { return }
    for definition in definitions {
      try invitation?.check(definition)
      if agent != nil { throw .notForAgents("An agent may not host") }
      if let compiledPolicy = source.compiledPolicy {
        for scheme in definition.schemes { try check(compiledPolicy, scheme, definition) }
      } else if definition.scope == .server {
        throw .forbidden(
          "default",
          "A server-wide host needs a policy with a rule for host.register and \"server\": true")
      }
    }
    try limitedBy?.check(hosting: definitions)
  }

  /// Checks a definition for a scheme; nil stands for any scheme.
  private func check(
    _ compiledPolicy: CompiledPolicy, _ scheme: String?, _ definition: SessionHostDefinition
  ) throws(CallError) {
    let operation = "host.register of \(scheme.map { $0 + ":" } ?? "every scheme")"
    let fitting = compiledPolicy.rules.filter { rule in
      guard matches(rule), rule.covers("host.register"), !rule.selectsRoutes, rule.topics == nil
      else { return false }
      if definition.scope == .server, !rule.isDenial, !rule.coversServer { return false }
      if definition.interceptor != nil, !rule.isDenial, !rule.coversInterceptors { return false }
      guard let schemes = rule.schemes else { return true }
      // A pattern for every scheme needs a rule for all schemes, and a denial of any scheme denies
      // it.
      guard let scheme else { return rule.isDenial }
      return schemes.contains(scheme)
    }
    if let denial = fitting.first(where: \.isDenial) { throw .denied(denial.name, operation) }
    if fitting.isEmpty { throw .denied("default", operation) }
  }

  /// The agent for which the limits of agents hold: one that says so, or a program that a rule names.
  private var agent: Caller.CallingAgent? {
    if let agent = caller.agent { return agent }
    guard let ids = source?.compiledPolicy?.agentIDs, !ids.isEmpty,
      let program = caller.identity.program, ids.contains(UTF8Key(program))
    else { return nil }
    return Caller.CallingAgent(id: program)
  }

  /// Whether a rule matches this caller.
  private func matches(_ rule: CompiledPolicy.CompiledRule) -> Bool {
    if let origins = rule.origins {
      guard let origin = caller.origin.flatMap(WebOrigin.init),
        origins.contains(where: { $0.matches(origin) })
      else {
        return false
      }
    }
    if let groups = rule.groups, !caller.identity.isMember(ofAny: groups) { return false }
    if let subjects = rule.subjects {
      guard !caller.isGuest || agent != nil, let user = caller.identity.user,
        subjects.contains(where: user.isSameUTF8)
      else { return false }
    }
    switch (agent, rule.agents) {
    case (nil, nil): return true
    case (nil, _?): return false
    case (_?, nil): return rule.isDenial
    case (let agent?, let agents?):
      return agents.contains { id in id == "*" || agent.id?.isSameUTF8(as: id) == true }
    }
  }

  /// The rules for a method, evaluated as far as possible without a route.
  private func methodRule(of name: String, isAdmin: Bool) -> MethodRule {
    refresh()
    if let known = methodRules.first(where: { $0.method.isSameASCII(as: name) }) {
      return known.rule
    }
    // Without a policy, an agent may call nothing.
    let noRules: [CompiledPolicy.CompiledRule]? = agent == nil ? nil : []
    let rule = MethodRule(
      source?.compiledPolicy.map {
        $0.rules.filter { matches($0) && $0.covers(name) && $0.concerns(name) }
      } ?? noRules,
      isAdmin: isAdmin)
    // Clients may send any number of names that are not methods.
    if methodRules.count < Self.maxMethodRules { methodRules.append((name, rule)) }
    return rule
  }
}

extension CompiledPolicy.CompiledRule {
  func covers(_ method: String) -> Bool { methods.contains { $0.covers(method) } }

  /// Whether the selectors of the rule apply to a method.
  func concerns(_ method: String) -> Bool {
    (schemes == nil || method.hasPrefix("host."))
      && (topics == nil || PolicyTopicMethod(rawValue: method) != nil)
  }

  /// Whether the rule is limited to some routes, schemes or topics.
  var isSelective: Bool { selectsRoutes || schemes != nil || topics != nil }

  /// Whether the rule selects a topic.
  func selects(topic: String) -> Bool {
    !selectsRoutes && schemes == nil && topics?.contains { $0.covers(topic) } == true
  }

  /// Whether the rule selects a route.
  func selects(_ resolution: Resolution, matching patterns: Set<Int>) -> Bool {
    if let name = resolution.route?.name, let names = routeNames,
      names.contains(where: name.isSameUTF8)
    {
      return true
    }
    return routePatterns.contains(where: patterns.contains)
  }
}

/// The rules for one method and one caller.
private struct MethodRule {
  /// The rules; nil if the policy has none.
  private let rules: [CompiledPolicy.CompiledRule]?
  /// The name of a rule that denies the method for every target.
  private let denial: String?
  /// Whether a rule allows the method for every target.
  private let isAllowed: Bool
  private let isAdmin: Bool

  init(_ rules: [CompiledPolicy.CompiledRule]?, isAdmin: Bool) {
    self.isAdmin = isAdmin
    denial = rules?.first { $0.isDenial && !$0.isSelective }?.name
    isAllowed = rules?.contains { !$0.isDenial && !$0.isSelective } ?? !isAdmin
    self.rules = rules?.filter(\.isSelective)
  }

  /// Whether the method is allowed for every target.
  var isUnrestricted: Bool { denial == nil && isAllowed && rules?.isEmpty != false }

  func authorize(_ method: String, isTargetDependent: Bool) throws(CallError) {
    if let denial { throw .denied(denial, method) }
    if isAllowed || (isTargetDependent && rules?.contains { !$0.isDenial } == true) { return }
    if !isAdmin, Policy.isAlwaysAllowed(method) { return }
    guard rules != nil else {
      throw .forbidden(
        "default",
        "\(method) is an administrative method; it needs a policy with a rule that allows it")
    }
    throw .denied("default", method)
  }

  func check(_ method: PolicyTopicMethod, _ topic: String) throws(CallError) {
    if let denial { throw .denied(denial, method.rawValue) }
    let fitting = rules?.filter { $0.selects(topic: topic) } ?? []
    if let denial = fitting.first(where: \.isDenial) { throw .denied(denial.name, method.rawValue) }
    if !isAllowed, fitting.isEmpty { throw .denied("default", method.rawValue) }
  }

  func check(_ method: String, _ resolution: Resolution, _ compiledPolicy: CompiledPolicy?)
    throws(CallError)
  {
    // Errors must not reveal the query of a URI.
    if let denial { throw .denied(denial, method) }
    guard let rules, let compiledPolicy, !rules.isEmpty else {
      if isAllowed { return }
      throw .denied("default", method)
    }
    let patterns = compiledPolicy.patterns(matching: resolution.uri)
    let fitting = rules.filter { $0.selects(resolution, matching: patterns) }
    if let denial = fitting.first(where: \.isDenial) { throw .denied(denial.name, method) }
    // A host may read `native:secret/1` as `native://secret/1`, so a denial covers both.
    if let other = resolution.uri.withAuthority {
      let patterns = compiledPolicy.patterns(matching: other)
      let denial = rules.first { $0.isDenial && $0.selects(resolution, matching: patterns) }
      if let denial { throw .denied(denial.name, method) }
    }
    if !isAllowed, fitting.isEmpty { throw .denied("default", method) }
  }
}

extension Policy {
  /// Whether a method needs no rule because a client uses it for its own session.
  static func isAlwaysAllowed(_ method: String) -> Bool {
    method.hasPrefix("session.") && method != "session.setGate" || method.hasPrefix("$/")
      || method == "rpc.discover" || method == "page.sync"
  }
}

extension CallError {
  /// The error of a call that the policy denies. `rule` is the name of the rule, or `default`.
  static func denied(_ rule: String, _ operation: String) -> CallError {
    forbidden(
      rule,
      rule == "default"
        ? "No rule of the policy allows \(operation)"
        : "The policy's rule \(rule.quoted) denies \(operation)"
    )
  }

  /// The error of work for a client whose identity has expired, or that was removed.
  static var rightsEnded: CallError {
    forbidden(
      "identity", "The identity of the caller has expired, or an administrator has removed it")
  }

  static func forbidden(_ rule: String, _ message: String) -> CallError {
    CallError(.forbidden, message, data: ["rule": .string(rule)])
  }
}
