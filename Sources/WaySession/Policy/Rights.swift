import Logging
import WayRouting
import WayTransport
import WayValues

/// The rules that hold now. Confined to the loop of its sessions.
package final class PolicySource: @unchecked Sendable {
  /// Nil where everybody who came in may call everything.
  package var rulebook: CompiledPolicy? {
    didSet { generation &+= 1 }
  }
  /// Counts the rulebooks. Asked with every call, and a word of its loop alone: it needs no check of
  /// who else is at it.
  @exclusivity(unchecked) fileprivate private(set) var generation = 0

  package init(_ rulebook: CompiledPolicy? = nil) {
    self.rulebook = rulebook
  }
}

/// What the policy is asked about a method.
enum MethodKind {
  /// Whether it may be called.
  case usual
  /// That too; and with what it is about, a route or hosts, once that is known.
  case askedAgain
  /// Whether a rule allows it: for administrators.
  case admin
}

/// What one caller may do. Rights travel with a call: whatever it leads to is asked of these.
/// Confined to the loop of its session.
package final class Rights: @unchecked Sendable {
  let caller: Caller
  /// The caller as hosts are told it.
  private(set) lazy var told = caller.value
  /// Nil for the app itself, which may do everything.
  private let source: PolicySource?
  /// What a guest was invited to.
  let invitation: Invitation?
  /// Whose rights these do not go beyond: those of who invited, and of a host that acts for its
  /// caller.
  private let within: Rights?
  /// In the order in which they were asked for first.
  private var gates: [(method: String, gate: MethodRule)] = []
  private static let maxGates = 64
  /// The generation of rules that ``gates`` and what is free were found by.
  @exclusivity(unchecked) private var known = -1
  /// The methods, by their places in the table, that this caller may call whatever they are about.
  @exclusivity(unchecked) private var freeMethods: UInt64 = 0
  /// Those of routes, by their raw values, that it may call about every route which is for all.
  @exclusivity(unchecked) private var freeRouteMethods: UInt64 = 0
  /// What it was allowed to call last, and by which of those.
  @exclusivity(unchecked) private var allowed: [(about: AnyObject, methods: UInt64)] = []
  /// A client calls few routes often.
  private static let maxAllowed = 8

  init(
    _ caller: Caller, _ source: PolicySource?, invitation: Invitation? = nil,
    within: Rights? = nil
  ) {
    self.caller = caller
    self.source = source
    self.invitation = invitation
    self.within = within
  }

  /// Those of the app itself in a session.
  static func ofApp(in session: String, _ logger: Logger?) -> Rights {
    Rights(Caller(session: session, logger: logger), nil)
  }

  /// These for another loop, where the rules are kept as well.
  func handed(to rules: PolicySource) -> Rights {
    if source === rules { return self }
    return Rights(
      caller, source == nil ? nil : rules, invitation: invitation,
      within: within?.handed(to: rules))
  }

  /// Nothing at all.
  static var none: Rights { Rights(Caller(session: ""), PolicySource(.closed)) }

  /// These, but no more than others allow as well.
  func within(_ other: Rights) -> Rights {
    Rights(caller, source, invitation: invitation, within: other)
  }

  /// Whether they go no further than others.
  var isWithin: Bool { within != nil }

  /// The guests among who calls and those who act for it.
  var guests: [Caller] { (caller.isGuest ? [caller] : []) + (within?.guests ?? []) }

  /// The generation of rules that holds now.
  private var generation: Int { source?.generation ?? 0 }

  /// What was found by other rules is forgotten.
  private func renew() {
    guard known != generation else { return }
    known = generation
    freeMethods = 0
    freeRouteMethods = 0
    gates = []
    allowed = []
  }
}

// What is asked of them.
extension Rights {
  /// Whether a method may be called at all. One that is about a route is asked for again with that
  /// route. `place` is the method's in the table of methods. Fails with 2403.
  @inline(__always)
  func enter(_ method: String, _ kind: MethodKind, at place: Int) throws(CallError) {
    // A place beyond the bits there are is never free.
    if known == generation, freeMethods & (1 << UInt64(place)) != 0 { return }
    try enter(slowly: method, kind, at: place)
  }

  private func enter(slowly method: String, _ kind: MethodKind, at place: Int) throws(CallError) {
    try enter(method, kind)
    renew()
    freeMethods |= 1 << UInt64(place)
  }

  /// As with the method itself, for who has its name alone.
  func enter(_ method: String, _ kind: MethodKind = .usual) throws(CallError) {
    guard source != nil else { return }
    try invitation?.check(method)
    try gate(of: method, isAdmin: kind == .admin).enter(method, isAsked: kind == .askedAgain)
    try within?.enter(method, kind)
  }

  /// Whether a method may be called about what a URI leads to. Fails with 2403.
  func check(_ method: RouteMethod, _ said: Resolution) throws(CallError) {
    if said.isForAll, known == generation, freeRouteMethods & (1 << UInt64(method.rawValue)) != 0 {
      return
    }
    let about = said.lasting
    if let about, known == generation, isRemembered(method, about) { return }
    renew()
    try check(slowly: method, said)
    if let about { remember(method, about) }
  }

  private func isRemembered(_ method: RouteMethod, _ about: AnyObject) -> Bool {
    for entry in allowed where entry.about === about {
      return entry.methods & (1 << UInt64(method.rawValue)) != 0
    }
    return false
  }

  private func remember(_ method: RouteMethod, _ about: AnyObject) {
    let bit: UInt64 = 1 << UInt64(method.rawValue)
    if let known = allowed.firstIndex(where: { $0.about === about }) {
      allowed[known].methods |= bit
    } else {
      if allowed.count == Self.maxAllowed { allowed.removeFirst() }
      allowed.append((about, bit))
    }
  }

  private func check(slowly method: RouteMethod, _ said: Resolution) throws(CallError) {
    if isFree(method) { freeRouteMethods |= 1 << UInt64(method.rawValue) }
    guard let source else { return }
    try invitation?.check(method, said)
    if let permissions = said.route?.permissions, !permissions.isEmpty,
      !permissions.contains(where: caller.identity.groups.contains)
    {
      throw .forbidden(
        "permissions",
        "The route \(said.route?.name.quoted ?? "") is for the groups "
          + permissions.map(\.quoted).joined(separator: ", "))
    }
    try gate(of: method.name, isAdmin: false)
      .check(method.name, said, source.rulebook)
    if case .navigation(_, let operation, _) = said { try enter("navigation.\(operation)") }
    try within?.check(method, said)
  }

  /// Whether a method may be called about every route that is for all.
  private func isFree(_ method: RouteMethod) -> Bool {
    guard source != nil else { return true }
    return invitation?.isForAllRoutes != false && gate(of: method.name, isAdmin: false).isFree
      && within?.isFree(method) != false
  }

  /// Whether a method may be called about what a URI leads to.
  func allow(_ method: RouteMethod, _ said: Resolution) -> Bool {
    (try? check(method, said)) != nil
  }

  /// Why the page that a URI leads to may not be opened, or the task not run; nil where it may. What
  /// nothing declares may be either.
  func refusal(ofOpening said: Resolution) -> CallError? {
    do throws(CallError) {
      try check(said.route.map { $0.kind == .page ? .open : .invoke } ?? .open, said)
      return nil
    } catch {
      return said.route == nil && allow(.invoke, said) ? nil : error
    }
  }

  /// Whether hosts may be declared. Fails with 2403.
  func check(hosting definitions: [HostDefinition]) throws(CallError) {
    guard let source, !definitions.isEmpty else { return }
    for definition in definitions {
      try invitation?.check(definition)
      if let rulebook = source.rulebook {
        for scheme in definition.schemes { try check(rulebook, scheme, definition) }
      } else if definition.scope == .server {
        throw .forbidden(
          "default", "Hosts for all sessions need a rule of the policy that covers the server")
      }
    }
    try within?.check(hosting: definitions)
  }

  /// `scheme` nil stands for any.
  private func check(
    _ rulebook: CompiledPolicy, _ scheme: String?, _ definition: HostDefinition
  ) throws(CallError) {
    let asked = "host.register of \(scheme.map { $0 + ":" } ?? "every scheme")"
    let fitting = rulebook.rules.filter { rule in
      guard fits(rule), rule.covers("host.register"), !rule.selectsRoutes else { return false }
      if definition.scope == .server, !rule.isDenial, !rule.coversServer { return false }
      guard let schemes = rule.schemes else { return true }
      // A pattern for every scheme needs the leave for all, and is hurt by a denial of any.
      guard let scheme else { return rule.isDenial }
      return schemes.contains(scheme)
    }
    if let denial = fitting.first(where: \.isDenial) { throw .denied(denial.name, asked) }
    if fitting.isEmpty { throw .denied("default", asked) }
  }

  /// Whether a rule selects this caller.
  private func fits(_ rule: CompiledPolicy.Rule) -> Bool {
    if let origins = rule.origins {
      guard let origin = caller.origin.flatMap(WebOrigin.init),
        origins.contains(where: { $0.matches(origin) })
      else {
        return false
      }
    }
    if let groups = rule.groups, !groups.contains(where: caller.identity.groups.contains) {
      return false
    }
    if let subjects = rule.subjects {
      guard !caller.isGuest, let user = caller.identity.user,
        subjects.contains(where: user.isSameUTF8)
      else { return false }
    }
    return true
  }

  /// What the rules say of a method, as far as they can without a route.
  private func gate(of name: String, isAdmin: Bool) -> MethodRule {
    renew()
    if let known = gates.first(where: { $0.method.isSameASCII(as: name) }) { return known.gate }
    let gate = MethodRule(
      source?.rulebook.map { $0.rules.filter { fits($0) && $0.covers(name) && $0.concerns(name) } },
      isAdmin: isAdmin)
    // What is no method is asked about without end.
    if gates.count < Self.maxGates { gates.append((name, gate)) }
    return gate
  }
}

extension CompiledPolicy.Rule {
  func covers(_ method: String) -> Bool { methods.contains { $0.covers(method) } }

  /// Whether what it selects by has to do with a method.
  func concerns(_ method: String) -> Bool { schemes == nil || method.hasPrefix("host.") }

  /// Whether it is for some routes or schemes only.
  var isNarrow: Bool { selectsRoutes || schemes != nil }

  /// Whether it selects a route.
  func fits(_ said: Resolution, matching patterns: Set<Int>) -> Bool {
    if let name = said.route?.name, let names = routeNames, names.contains(where: name.isSameUTF8) {
      return true
    }
    return routePatterns.contains(where: patterns.contains)
  }
}

/// What the rules say of one method to one caller.
private struct MethodRule {
  /// Nil where there are no rules.
  private let rules: [CompiledPolicy.Rule]?
  /// The rule that denies it whatever it is about.
  private let denial: String?
  /// Whether a rule allows it whatever it is about.
  private let isAllowed: Bool
  private let isAdmin: Bool

  init(_ rules: [CompiledPolicy.Rule]?, isAdmin: Bool) {
    self.isAdmin = isAdmin
    denial = rules?.first { $0.isDenial && !$0.isNarrow }?.name
    isAllowed = rules?.contains { !$0.isDenial && !$0.isNarrow } ?? !isAdmin
    self.rules = rules?.filter(\.isNarrow)
  }

  /// Whether it is allowed whatever it is about.
  var isFree: Bool { denial == nil && isAllowed && rules?.isEmpty != false }

  func enter(_ method: String, isAsked: Bool) throws(CallError) {
    if let denial { throw .denied(denial, method) }
    if isAllowed || (isAsked && rules?.contains { !$0.isDenial } == true) { return }
    if !isAdmin, Policy.isAlwaysAllowed(method) { return }
    throw .denied("default", method)
  }

  func check(_ method: String, _ said: Resolution, _ rulebook: CompiledPolicy?) throws(CallError) {
    // Nothing of a query is told on.
    if let denial { throw .denied(denial, method) }
    guard let rules, let rulebook, !rules.isEmpty else {
      if isAllowed { return }
      throw .denied("default", method)
    }
    let patterns = rulebook.patterns(matching: said.uri)
    let fitting = rules.filter { $0.fits(said, matching: patterns) }
    if let denial = fitting.first(where: \.isDenial) { throw .denied(denial.name, method) }
    if !isAllowed, fitting.isEmpty { throw .denied("default", method) }
  }
}

extension Policy {
  /// Whether a method needs no rule: what a client does with its own session.
  static func isAlwaysAllowed(_ method: String) -> Bool {
    method.hasPrefix("session.") || method.hasPrefix("$/") || method == "rpc.discover"
      || method == "page.sync"
  }
}

extension CallError {
  /// Why the policy refuses a call; `rule` is the name of the one that does, or `default`.
  static func denied(_ rule: String, _ asked: String) -> CallError {
    forbidden(
      rule,
      rule == "default"
        ? "No rule of the policy allows \(asked)"
        : "The policy's rule \(rule.quoted) denies \(asked)"
    )
  }

  static func forbidden(_ rule: String, _ message: String) -> CallError {
    CallError(.forbidden, message, data: ["rule": .string(rule)])
  }
}
