import WayValues

/// The new data of an operation for a page that is already open. A member that is `nil` leaves that
/// of the page unchanged.
///
/// A class, so that it is passed on as one reference.
package final class NavigationDelivery: Sendable {
  /// The URI of the call after its redirects; `nil` if there are no ``params``.
  package let uri: String?
  /// The parameters of query, path and caller, merged.
  package let params: ValueObject?
  package let exts: ValueObject?

  /// Creates the delivery of a page that was to be opened. Returns `nil` if its call had neither
  /// parameters nor `exts`.
  package convenience init?(of page: Page, hasParams: Bool, hasExts: Bool) {
    guard hasParams || hasExts else { return nil }
    self.init(
      uri: hasParams ? page.uri : nil, params: hasParams ? page.params : nil,
      exts: hasExts ? page.exts : nil)
  }

  /// Creates a delivery of `exts` alone. Returns `nil` if there are none.
  package convenience init?(exts: ValueObject) {
    guard !exts.isEmpty else { return nil }
    self.init(uri: nil, params: nil, exts: exts)
  }

  private init(uri: String?, params: ValueObject?, exts: ValueObject?) {
    self.uri = uri
    self.params = params
    self.exts = exts
  }

  /// The members that `page.resume` has in addition to the page.
  package var value: ValueObject {
    var members = ValueObject()
    members["uri"] = uri.map(Value.string)
    members["params"] = params.map(Value.object)
    members["exts"] = exts.map(Value.object)
    return members
  }
}

extension Page {
  /// Returns the page with the data that an operation has delivered to it. It stays the same page
  /// of the same route, and keeps the URI that it was opened with.
  func receiving(_ delivery: NavigationDelivery) -> Page {
    var newExts = exts
    if let delivered = delivery.exts {
      newExts = delivered
      // How the page lies on the stack was decided when it was opened.
      newExts["navigation"] = exts["navigation"]
    }
    let newURI = delivery.uri ?? uri
    return Page(
      id: id, uri: newURI, calledURI: calledURI.isSameUTF8(as: newURI) ? nil : calledURI,
      route: route, pathParams: pathParams, kind: kind, style: style,
      params: delivery.params ?? params, exts: newExts, host: host,
      level: level, hasStack: hasStack)
  }
}
