import WayNavigation
import WayRPC
import WayRouting
import WayValues

extension Push {
  /// Fails with -32602 for what cannot be pushed.
  init(_ params: Params, _ limits: Limits) throws(CallError) {
    audience = try Self.audience(params[.to])
    method = try params.required(.method)
    let given = params.object(.params) ?? [:]
    let own = try Params(.object(given), of: method, taking: Self.takes[method] ?? .none)
    deadline = params.time(.deadlineMs) ?? own.time(.deadlineMs) ?? Self.usualDeadline
    switch method {
    case "router.open":
      action = .open(
        uri: try own.required(.uri), style: try own.style(), exts: try own.exts(limits))
      self.params = own.object(.params) ?? [:]
    case "router.invoke":
      action = .invoke(uri: try own.required(.uri), exts: try own.exts(limits))
      self.params = own.object(.params) ?? [:]
    case "router.deliver":
      action = .deliver(
        DeepLink(try own.required(.uri), params: own.object(.params) ?? [:]))
      self.params = [:]
    case "page.call":
      guard audience.isOneSession else {
        throw .invalidParams("params.to must name a session: a page belongs to one")
      }
      action = .pageCall(page: try own.required(.page), method: try own.required(.method))
      self.params = own.object(.params) ?? [:]
    case "event":
      action = .event(
        topic: given["topic"]?.string ?? "", data: given["data"] ?? .null,
        retain: given["retain"]?.integer.flatMap { Int(exactly: $0) } ?? 0)
      self.params = [:]
    default:
      guard !MethodTable.reserves(method) else {
        throw .invalidParams(
          "params.method: \(method.quoted) cannot be pushed; router.open, router.invoke, "
            + "router.deliver, page.call, event and the clients' own methods can")
      }
      action = .client(method)
      self.params = given
    }
  }

  private static let called = [
    Param(.uri, .string), Param(.params, .object), Param(.exts, .object),
  ]
  /// What those methods take that may be pushed.
  private static let takes = [
    "router.open": ParamList(called + [Param(.style, .string), Param(.deadlineMs, .count)]),
    "router.invoke": ParamList(called + [Param(.deadlineMs, .count)]),
    "router.deliver": ParamList(called),
    "page.call": [
      Param(.page, .string), Param(.method, .string), Param(.params, .object),
      Param(.deadlineMs, .count),
    ],
  ]

  /// `{session}`, with `client` too, `{user}`, `{group}` or `{all: true}`.
  static func audience(_ value: Value?) throws(CallError) -> Audience {
    let members = value?.object ?? [:]
    let named = members.members.map { ($0.name, $0.value) }
    switch named.count {
    case 1:
      switch named[0] {
      case ("session", .string(let id)): return .session(id)
      case ("user", .string(let name)): return .user(name)
      case ("group", .string(let name)): return .group(name)
      case ("all", true): return .all
      default: break
      }
    case 2:
      if let id = members["session"]?.string, let client = members["client"]?.string {
        return .client(client, session: id)
      }
    default: break
    }
    throw .invalidParams(
      "params.to must be {session}, {session, client}, {user}, {group} or {all: true}")
  }
}
