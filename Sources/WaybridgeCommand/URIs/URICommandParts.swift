import Waybridge
import WaybridgeClient

/// The output of `waybridge uri` for one string.
struct URICommandParts {
  private let uri: String
  private let members: ValueObject
  /// The reason why the string is not a URI; nil if it is one.
  let reason: String?

  init(_ text: String, base: RouteURI?) {
    uri = text
    var members: ValueObject = ["uri": .string(text)]
    do throws(RouteURIError) {
      let uri = try RouteURI(text)
      members["valid"] = true
      members["scheme"] = Self.value(uri.scheme)
      members["authority"] = Self.value(uri.authority)
      members["userinfo"] = Self.value(uri.userinfo)
      members["host"] = Self.value(uri.host)
      members["port"] = uri.port.map { .integer(Int64($0)) } ?? .null
      members["path"] = .string(uri.path)
      members["query"] = Self.value(uri.query)
      members["fragment"] = Self.value(uri.fragment)
      members["normalized"] = .string(uri.normalized.text)
      if let base { Self.resolve(uri, against: base, in: &members) }
      reason = nil
    } catch {
      members["valid"] = false
      members["reason"] = .string("\(error)")
      reason = "\(error)"
    }
    self.members = members
  }

  private static func value(_ text: String?) -> Value {
    text.map(Value.string) ?? .null
  }

  private static func resolve(
    _ uri: RouteURI, against base: RouteURI, in members: inout ValueObject
  ) {
    do throws(RouteURIError) {
      members["resolved"] = .string(try uri.resolved(against: base).text)
    } catch {
      members["resolved"] = .null
      members["reason"] = .string("the resolved URI is invalid: \(error)")
    }
  }

  /// One line of JSON.
  var json: String { Value.object(members).text }

  /// A line with the URI, and one for each part that it has.
  var text: String {
    var lines = [uri.isEmpty ? "(empty)" : uri]
    for member in members.members.dropFirst(2) {
      guard let text = member.value.string ?? member.value.json, !member.value.isNull else {
        continue
      }
      lines.append("  " + member.name.padding(to: 12) + text)
    }
    return lines.joined(separator: "\n")
  }
}
