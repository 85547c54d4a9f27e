import WayNavigation
import WayValues

/// The result of `router.canOpen`.
struct CanOpenMessage: Decodable {
  let canOpen: Bool
  let kind: String?
  let route: String?
  let absent: Bool?
}

/// The params of calls and deep links. Members without a value are left out.
struct RouterCallParams: Encodable {
  private enum CodingKeys: String, CodingKey {
    case uri, action, page, method, params, exts, style, from, deadlineMs, key
    case actionURL = "action_url"
  }

  var uri: String?
  var action: String?
  var actionURL: String?
  var page: String?
  var method: String?
  let params: ValueObject?
  let exts: ValueObject?
  let style: Style?
  var from: String?
  var deadlineMs: Int64?
  let key: String?

  init(
    uri: String? = nil, _ params: ValueObject, _ exts: ValueObject, _ style: Style?, _ key: String?
  ) {
    self.uri = uri
    self.params = params.isEmpty ? nil : params
    self.exts = exts.isEmpty ? nil : exts
    self.style = style
    self.key = key
  }

  // Only a number that JSON cannot write is an error, and there is none.
  var value: Value { (try? ValueEncoder().encode(self)) ?? .null }
}
