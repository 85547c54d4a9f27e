// The parts that are the same in every file of App Intents.
extension AppIntentsCode {
  static let bridgeProtocol = #"""
    /// The app's connection to its bridge, which the intents call. Parameters and results are JSON.
    public protocol RouteBridge: Sendable {
      /// Opens a page and returns its outcome when it is gone: `{"outcome", "message", "data"}`.
      func open(_ uri: String, params: String) async throws -> String

      /// Runs a task or service and returns its value.
      func invoke(_ uri: String, params: String) async throws -> String
    }

    """#

  static let runtime = #"""
    /// The reason why an intent failed, for the user.
    public struct RouteIntentError: Error, CustomLocalizedStringResourceConvertible {
      public let message: String

      public var localizedStringResource: LocalizedStringResource { LocalizedStringResource(stringLiteral: message) }
    }

    /// A call of a route. Parameters that its pattern names become part of the URI.
    private struct RouteCall {
      private struct Member: Encodable {
        let value: (any Encodable)?

        func encode(to encoder: any Encoder) throws {
          if let value { return try value.encode(to: encoder) }
          var container = encoder.singleValueContainer()
          try container.encodeNil()
        }
      }

      private let patterns: [String]
      private var params: [String: Member] = [:]

      init(_ patterns: [String]) { self.patterns = patterns }

      /// Sets a parameter, which is left out if it is nil.
      mutating func set<Value: Encodable>(_ name: String, _ value: Value?) {
        if let value { params[name] = Member(value: value) }
      }

      /// Sets a parameter that can be null.
      mutating func set<Value: Encodable>(_ name: String, orNull value: Value?) {
        params[name] = Member(value: value)
      }

      /// Runs the task and returns its value as JSON.
      func invoke() async throws -> String {
        let (uri, rest) = try filled()
        return try await bridge().invoke(uri, params: rest)
      }

      func invoke<Value: Decodable>(as type: Value.Type) async throws -> Value {
        try decoded(type, try await invoke())
      }

      /// Opens the page and returns its result as JSON.
      func open() async throws -> String {
        let (uri, rest) = try filled()
        let text = try await bridge().open(uri, params: rest)
        guard
          let outcome = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        else { throw RouteIntentError(message: "The app returned no outcome of the page") }
        guard outcome["outcome"] as? String == "finished" else {
          let message = outcome["message"] as? String ?? ""
          throw RouteIntentError(message: message.isEmpty ? "The page was closed without a result" : message)
        }
        let data = try JSONSerialization.data(
          withJSONObject: outcome["data"] ?? NSNull(), options: [.fragmentsAllowed, .sortedKeys])
        return String(decoding: data, as: UTF8.self)
      }

      func open<Value: Decodable>(as type: Value.Type) async throws -> Value {
        try decoded(type, try await open())
      }

      private func bridge() async throws -> any RouteBridge {
        guard let connect = await RouteIntents.bridge else {
          throw RouteIntentError(message: "The app has not set RouteIntents.bridge")
        }
        return try await connect()
      }

      private func decoded<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(json.utf8))
      }

      /// Fills in the first pattern whose names all have values. Returns the rest as JSON.
      private func filled() throws -> (uri: String, params: String) {
        var rest = params
        let pattern = patterns.first { names(in: $0).allSatisfy { params[$0] != nil } } ?? patterns.last ?? ""
        let scheme = String(pattern.prefix { $0 != ":" })
        var segments: [String] = []
        for part in pattern.dropFirst(scheme.count + 1).split(separator: "/", omittingEmptySubsequences: false) {
          if part == "*" {
            let values = rest.removeValue(forKey: "*")?.value as? [String] ?? []
            segments += try values.map { try segment($0, "*", mayBeEmpty: true) }
          } else if part.hasPrefix(":") {
            let name = String(part.dropFirst())
            segments.append(try segment(rest.removeValue(forKey: name)?.value, name, mayBeEmpty: false))
          } else {
            segments.append(String(part))
          }
        }
        let end = pattern.hasSuffix("/*") && segments.last == "" ? "/" : ""
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let uri = scheme + ":" + segments.joined(separator: "/") + end
        return (uri, String(decoding: try encoder.encode(rest), as: UTF8.self))
      }

      private func names(in pattern: String) -> [String] {
        pattern.split(separator: "/").filter { $0.hasPrefix(":") }.map { String($0.dropFirst()) }
      }

      private func segment(_ value: (any Encodable)?, _ name: String, mayBeEmpty: Bool) throws -> String {
        let text = value.map { String(describing: $0) } ?? ""
        let allowed = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        guard text != ".", text != "..", mayBeEmpty || !text.isEmpty,
          let encoded = text.addingPercentEncoding(withAllowedCharacters: allowed)
        else {
          throw RouteIntentError(message: name + " is a part of the address: it cannot be empty, \".\" or \"..\"")
        }
        return encoded
      }
    }

    """#
}
