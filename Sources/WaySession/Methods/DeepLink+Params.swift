import WayRouting
import WayTransport
import WayValues

extension DeepLink {
  /// The parameters of a deep link, for every method that takes one: a URI, or the older form of an
  /// action and its URL.
  static let paramList: ParamList = [
    Param(.uri, .string), Param(.params, .object), Param(.exts, .object), Param(.style, .string),
    Param(.key, .string), Param(.action, .string), Param(.actionURL, .string),
  ]

  /// Decodes a deep link. `router` has the targets of actions.
  ///
  /// Throws -32602 if the params have a wrong form, 2404 for an unknown action without a URL, and
  /// 2422 for an action that needs a URL.
  init(_ params: Params, _ router: RouterSnapshot, _ limits: Limits) throws(CallError) {
    let given = params.object(.params) ?? [:]
    let exts = try params.exts(limits)
    let style = try params.style()
    let key = params.string(.key)
    guard let action = params.string(.action) else {
      guard params.string(.actionURL) == nil else {
        throw .invalidParams("params.action_url needs params.action")
      }
      self = DeepLink(
        try params.required(.uri), params: given, exts: exts, style: style, key: key)
      return
    }
    guard params.string(.uri) == nil else {
      throw .invalidParams("params must have either uri or action, not both")
    }
    self = try router.legacyDeepLink(
      action, params.string(.actionURL), given, exts: exts, style: style, key: key)
  }
}
