import WayValues

/// The URI and the parameters of a typed call.
struct NavigationCallTarget: Sendable {
  /// The URI with the parameters that its pattern captures.
  let uri: String
  /// The parameters that are not in the URI.
  let params: ValueObject
  /// The reason why there is no such call; `nil` if there is one.
  let failure: CallError?

  /// Uses the first of the patterns for which all parameters are present: `:name`, as a segment,
  /// and a final `*` are filled in. A parameter that is `nil` is left out.
  init(_ patterns: [String], _ parameters: KeyValuePairs<String, (any Encodable)?>) {
    let params: ValueObject
    do throws(CallError) { params = try ValueObject(encoding: parameters) } catch {
      (self.uri, self.params, failure) = (patterns.first ?? "", [:], error)
      return
    }
    var first: CallError?
    for pattern in patterns {
      do throws(CallError) {
        (uri, self.params) = try Self.expand(pattern, params)
        failure = nil
        return
      } catch {
        first = first ?? error
      }
    }
    (uri, self.params) = (patterns.first ?? "", params)
    failure = first ?? .invalidParams("a call needs a pattern")
  }

  private static func expand(
    _ pattern: String, _ params: ValueObject
  ) throws(CallError) -> (uri: String, rest: ValueObject) {
    var rest = params
    var segments: [String] = []
    let colon = pattern.utf8.firstIndex(of: UInt8(ascii: ":")) ?? pattern.startIndex
    let path = pattern[colon...].dropFirst()
    for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
      if segment == "*" {
        let values = params["*"]?.array ?? []
        rest["*"] = nil
        // An element may be empty unless it is the last.
        for value in values { segments.append(try Self.text(of: value, "*", mayBeEmpty: true)) }
        if values.last == "" { segments.append("") }
      } else if segment.hasPrefix(":") {
        let name = String(segment.dropFirst())
        segments.append(try Self.text(of: params[name], name, mayBeEmpty: false))
        rest[name] = nil
      } else {
        segments.append(String(segment))
      }
    }
    return (pattern[...colon] + segments.joined(separator: "/"), rest)
  }

  private static func text(
    of value: Value?, _ name: String, mayBeEmpty: Bool
  ) throws(CallError) -> String {
    let text: String
    switch value {
    case .string(let value)?: text = value
    case .integer(let value)?: text = "\(value)"
    case .number(let number)?: text = number.digits
    case .bool(let value)?: text = "\(value)"
    case .null?, nil: throw .invalidParams("\(name) is missing; it is a part of the URI")
    case .array?, .object?:
      throw .invalidParams("\(name) is a part of the URI, which holds no \(value?.kindName ?? "")")
    }
    guard text != ".", text != "..", mayBeEmpty || !text.isEmpty, !text.utf8.contains(0) else {
      throw .invalidParams(
        "\(name) is a part of the URI: it must not be empty, '.' or '..', nor have a zero byte")
    }
    return text.percentEncoded
  }
}

extension ValueObject {
  /// Encodes the members that are not `nil`.
  init(encoding members: KeyValuePairs<String, (any Encodable)?>) throws(CallError) {
    self.init()
    for (name, member) in members {
      guard let member else { continue }
      do { self[name] = try ValueEncoder().encode(member) } catch {
        throw .invalidParams("\(name) cannot be written as JSON: \(error)")
      }
    }
  }
}

extension String {
  /// The string with all bytes percent-encoded except those that RFC 3986 (§2.3) calls unreserved.
  fileprivate var percentEncoded: String {
    var bytes: [UInt8] = []
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        bytes.append(byte)
      default:
        bytes.append(UInt8(ascii: "%"))
        if byte < 0x10 { bytes.append(UInt8(ascii: "0")) }
        bytes += String(byte, radix: 16, uppercase: true).utf8
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
