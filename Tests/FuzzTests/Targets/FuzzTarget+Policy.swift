import WayPatterns
import WayRPC
import WayRouting
import WayTransport
import WayValues

@testable import WaySession
@testable import Waybridge

extension FuzzTarget {
  /// Policies: an accepted document compiles, a rule that denies everything overrides all others, and
  /// without a rule that allows nothing is allowed.
  static let policies = FuzzTarget("policies") { bytes throws(FuzzFailure) in
    guard let policy = try? Policy(bytes, from: "The policy") else { return }
    _ = policy.warnings
    guard let router = PolicyFixture.router, let cases = PolicyFixture.cases,
      (try? PolicySimulator(policy, router)) != nil
    else { throw FuzzFailure("an accepted policy does not compile") }
    var denying = policy
    denying.rules = (policy.rules ?? []) + [Policy.Rule("everything", .deny, ["*"])]
    var closed = policy
    closed.rules = policy.rules.map { $0.filter { $0.effect == .deny } } ?? []
    for policyCase in cases {
      let denied = try? PolicySimulator(denying, router).decision(on: policyCase)
      try FuzzFailure.unless(
        denied != "allow", "denied, but allowed: \(policyCase.callDescription)")
      let decision = try? PolicySimulator(closed, router).decision(on: policyCase)
      try FuzzFailure.unless(
        decision != "allow", "no rule allows it, but allowed: \(policyCase.callDescription)")
    }
  }

  /// Invitations, in the params of `session.invite` beside the rules of a policy: a guest is never
  /// allowed what its inviter is not, and never an administrative method.
  static let invitations = FuzzTarget("invitations") { bytes throws(FuzzFailure) in
    guard let input = try? JSON.parse(bytes.span.bytes).object else { return }
    var policy = Policy()
    if let rules = input["rules"] {
      guard let read = try? Policy(parsing: .object(["rules": rules])) else { return }
      policy = read
    }
    let groups = Set(input.strings("groups").map(UTF8Key.init))
    let source = PolicySource((try? policy.compiled()) ?? nil)
    let inviter = Rights(
      Caller(session: "s", identity: Identity(user: input["user"]?.string, groups: groups)), source)
    guard
      let charge = try? ByteBudget(.client, 1 << 20).charge(Invitation.overhead),
      let invitation = try? Invitation(
        page: nil, hosts: input.strings("hosts"),
        routes: input["routes"] == nil ? nil : input.strings("routes"),
        groups: Set(input.strings("granted").map(UTF8Key.init)),
        topics: input.strings("topics"),
        by: inviter, charge)
    else { return }
    let identity = Identity(groups: invitation.currentGroups)
    try FuzzFailure.unless(identity.groups.isSubset(of: groups), "a guest has foreign groups")
    let guest = Rights(
      Caller(session: "s", identity: identity, isGuest: true), source, invitation: invitation,
      limitedBy: inviter)
    for method in MethodTable.builtIn {
      let isAllowed = (try? guest.authorize(method.name, method.kind)) != nil
      try FuzzFailure.unless(
        !isAllowed || (try? inviter.authorize(method.name, method.kind)) != nil,
        "a guest may call \(method.name), its inviter may not")
      try FuzzFailure.unless(!isAllowed || method.kind != .admin, "a guest may call \(method.name)")
    }
    for uri in PolicyFixture.uris + input.strings("uris").compactMap({ try? RouteURI(mapping: $0) })
    {
      guard let resolution = PolicyFixture.resolution(of: uri) else { continue }
      for method in PolicyRouteMethod.allCases where guest.allows(method, resolution) {
        try FuzzFailure.unless(
          inviter.allows(method, resolution),
          "a guest may call \(method.name) about \(uri), its inviter may not")
      }
    }
    for topic in ["cart.changed", "cart", "user.changed"]
    where (try? guest.check(.publish, topic)) != nil {
      try FuzzFailure.unless(
        !invitation.topics.isEmpty && (try? inviter.check(.publish, topic)) != nil,
        "a guest may publish \(topic), its inviter may not")
    }
    let hosts = (try? SessionHostDefinition.parse(input["register"]?.array ?? [], limit: 8)) ?? []
    if (try? guest.check(hosting: hosts)) != nil {
      try FuzzFailure.unless(
        (try? inviter.check(hosting: hosts)) != nil, "a guest may host what its inviter may not")
      try FuzzFailure.unless(
        hosts.allSatisfy { $0.scope == .session }, "a guest may host for the whole server")
    }
  }
}

/// The routes and calls that the targets check policies with.
private struct PolicyFixture {
  static let router: Router? = {
    let router = Router()
    do {
      try router.page("native://cart/:id")
      try router.task("action://pay/:amount") { _ in .null }
      try router.page("/help(/:topic)")
      return router
    } catch {
      return nil
    }
  }()

  static let uris = [
    "native://cart/1", "native://cart/./1", "native:cart/1", "action://pay/7", "web://help/a",
    "https://shop.example/", "navigation:back",
  ].compactMap { try? RouteURI(mapping: $0) }

  static let cases: [PolicyCase]? = {
    let subjects: [ValueObject] = [
      [:], ["token": ["sub": "anna", "groups": ["staff"]]], ["origin": "https://shop.example"],
    ]
    let calls: [ValueObject] =
      uris.map { ["method": "router.open", "uri": .string($0.text)] }
      + [
        ["method": "router.invoke", "uri": "action://pay/7"], ["method": "navigation.stack"],
        ["method": "host.register", "scheme": "native"], ["method": "host.register"],
        ["method": "session.list"], ["method": "admin.watch"], ["method": "shop.anything"],
        ["method": "events.publish", "topic": "cart.changed"],
        ["method": "event", "topic": "cart"],
      ]
    return try? subjects.flatMap { subject in
      try calls.map { call in
        var members = call
        for member in subject.members { members[member.name] = member.value }
        members["expect"] = "allow"
        return try PolicyCase(parsing: .object(members))
      }
    }
  }()

  static func resolution(of uri: RouteURI) -> Resolution? {
    (try? router?.snapshot().resolve(uri, checking: false)) ?? nil
  }
}

extension ValueObject {
  fileprivate func strings(_ name: String) -> [String] {
    (self[name]?.array ?? []).compactMap(\.string)
  }
}
