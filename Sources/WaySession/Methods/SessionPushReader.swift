import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Reads the params of `session.push`.
enum SessionPushReader {
  /// Throws -32602 for a method that cannot be pushed, and the errors of a deep link.
  static func push(
    _ params: Params, _ router: RouterSnapshot, _ limits: Limits
  ) throws(CallError) -> SessionPush {
    let audience = try Audience(params[.to])
    let method = try params.required(.method)
    let given = params.object(.params) ?? [:]
    let own = try Params(.object(given), of: method, taking: paramLists[method] ?? .unread)
    let key = try key(params, own)
    var pushParams = own.object(.params) ?? [:]
    let action: SessionPush.PushAction
    switch method {
    case "router.open":
      action = .open(
        uri: try own.required(.uri), style: try own.style(), exts: try own.exts(limits))
    case "router.invoke":
      action = .invoke(uri: try own.required(.uri), exts: try own.exts(limits))
    case "router.deliver":
      let link = try DeepLink(own, router, limits).with(key: key)
      try link.validate()
      action = .deliver(link)
      pushParams = [:]
    case "page.call":
      guard audience.isSingleSession else {
        throw .invalidParams("params.to must name a session: a page belongs to one")
      }
      action = .pageCall(page: try own.required(.page), method: try own.required(.method))
    case PolicyRouteMethod.edit.name:
      action = .edit(try StackEditParams(own, limits))
      pushParams = [:]
    case "event":
      action = .event(
        topic: try own.required(.topic), data: own[.data] ?? .null,
        retain: own.count(.retain) ?? 0)
      pushParams = [:]
    default:
      guard !MethodTable.isReserved(method) else {
        throw .invalidParams(
          "params.method: \(method.quoted) cannot be pushed; router.open, router.invoke, "
            + "router.deliver, page.call, navigation.edit, event and the clients' own methods can")
      }
      action = .client(method)
      pushParams = given
    }
    let timeout = params.duration(.deadlineMs) ?? own.duration(.deadlineMs)
    return SessionPush(
      audience: audience, action: action, params: pushParams,
      timeout: timeout ?? SessionPush.defaultTimeout, method: method, key: key)
  }

  /// The key of a push, which its own params may have too if the method takes one.
  private static func key(_ params: Params, _ own: Params) throws(CallError) -> String? {
    let (key, ownKey) = (params.string(.key), own.string(.key))
    if let key, let ownKey, !key.isSameUTF8(as: ownKey) {
      throw .invalidParams("params.key and params.params.key differ; one of them is enough")
    }
    guard let key = key ?? ownKey else { return nil }
    try RouterIdempotencyKey.validate(key)
    return key
  }

  private static let callParams = [
    Param(.uri, .string), Param(.params, .object), Param(.exts, .object), Param(.key, .string),
  ]
  /// The parameters of the methods that can be pushed.
  private static let paramLists = [
    "router.open": ParamList(callParams + [Param(.style, .string), Param(.deadlineMs, .count)]),
    "router.invoke": ParamList(callParams + [Param(.deadlineMs, .count)]),
    "router.deliver": DeepLink.paramList,
    PolicyRouteMethod.edit.name: StackEditParams.paramList,
    "event": ParamList(
      [Param(.topic, .string), Param(.data, .any), Param(.retain, .count)], ignoresOthers: true),
    "page.call": [
      Param(.page, .string), Param(.method, .string), Param(.params, .object),
      Param(.deadlineMs, .count), Param(.key, .string),
    ],
  ]
}
