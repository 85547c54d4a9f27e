import WayNavigation
import WayRouting
import WayValues

/// The form in which a deep link is stored and sent to other servers: the params of
/// `router.deliver`.
struct DeepLinkRecord: Codable {
  private let uri: String
  private let params: ValueObject
  private let exts: ValueObject?
  private let style: Style?
  private let key: String?

  init(_ link: DeepLink) {
    uri = link.uri
    params = link.params
    exts = link.exts.isEmpty ? nil : link.exts
    style = link.style
    key = link.key
  }

  var link: DeepLink { DeepLink(uri, params: params, exts: exts ?? [:], style: style, key: key) }
}

extension DeepLink {
  /// The members of the link's ``DeepLinkRecord``.
  var recordFields: ValueObject { RecordCoder.value(of: DeepLinkRecord(self)).object ?? [:] }
}
