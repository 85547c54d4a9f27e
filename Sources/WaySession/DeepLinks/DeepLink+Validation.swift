import WayNavigation
import WayPatterns
import WayRouting
import WayValues

extension RouterSnapshot {
  /// Returns the deep link of the older form `{action, action_url, …}`. Fails as `router.deliver`
  /// does.
  package func legacyDeepLink(
    _ action: String, _ url: String?, _ params: ValueObject, exts: ValueObject = [:],
    style: Style? = nil, key: String? = nil
  ) throws(CallError) -> DeepLink {
    do {
      return try deepLink(
        action: action, url: url, params: params, exts: exts, style: style, key: key)
    } catch {
      if case .invalidURI(let reason) = error {
        throw .invalidParams("params.action_url: \(reason)")
      }
      throw CallError(error)
    }
  }
}

extension DeepLink {
  /// Fails with -32602 if the text is not a URI with a scheme, or if the key has a wrong length.
  package func validate() throws(CallError) {
    if let key { try RouterIdempotencyKey.validate(key) }
    do {
      if try RouteURI(mapping: uri).scheme == nil { throw RouteURIError(.noScheme, at: 0) }
    } catch {
      throw .invalidParams("The deep link \(uri.quoted): \(error)")
    }
  }

  /// The same link with another key.
  func with(key: String?) -> DeepLink {
    DeepLink(uri, params: params, exts: exts, style: style, key: key)
  }

  /// The approximate memory of the link, in bytes.
  var size: Int {
    uri.utf8.count + Value.object(params).size + Value.object(exts).size + (key?.utf8.count ?? 0)
  }

  /// The request that the link's key stands for.
  var request: IdempotentRequest {
    var content: ValueObject = ["params": .object(params), "exts": .object(exts)]
    content["style"] = style.map { .string($0.rawValue) }
    return IdempotentRequest(method: "router.deliver", target: uri, params: content)
  }
}

extension RouterIdempotencyKey {
  /// The maximum length of a key, in bytes.
  private static let maxLength = 128

  /// Fails with -32602 unless a text has the length of a key.
  static func validate(_ text: String) throws(CallError) {
    guard (1...maxLength).contains(text.utf8.count) else {
      throw .invalidParams("params.key must be a string of 1 to \(maxLength) bytes")
    }
  }
}

extension Rights {
  /// The owner of the idempotency keys of pushes with these rights: the user of the pusher, or its
  /// groups if its token names no user. `nil` stands for the rights of the app. Differs from each
  /// owner of keys among the clients of a session.
  static func pushKeyOwner(_ rights: Rights?) -> String {
    guard let identity = rights?.caller.identity else { return "push:app" }
    if let user = identity.user { return "push:user/\(user)" }
    // With their lengths, so that no name can look like two.
    return "push:groups/"
      + identity.groups.sorted().map { "\($0.text.utf8.count):\($0)" }.joined(separator: ",")
  }
}
