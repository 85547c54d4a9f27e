import WayTransport

/// Header fields that protect served files from misuse by other pages.
package enum FileHeaders {
  /// Scripts load only from the server. A page connects to local bridges, and may show pages of
  /// other origins in frames.
  package static let defaultPolicy = [
    "default-src 'self'", "img-src 'self' data: blob:", "style-src 'self' 'unsafe-inline'",
    "connect-src 'self' http://127.0.0.1:* http://localhost:* ws://127.0.0.1:* ws://localhost:*",
    "frame-src 'self' http: https:", "object-src 'none'", "base-uri 'self'", "form-action 'self'",
  ].joined(separator: "; ")

  /// The header fields of a file.
  ///
  /// - Parameters:
  ///   - policy: The content security policy; empty for none.
  ///   - origins: Origins that may show the files in frames, in addition to the server's own.
  static func fields(policy: String, origins: [OriginPattern]) -> [(String, String)] {
    let isUnframed = policy.contains("frame-ancestors 'none'")
    var fields = [
      // For browsers without frame-ancestors support. Other browsers ignore it if frame-ancestors
      // is set.
      ("X-Frame-Options", isUnframed ? "DENY" : "SAMEORIGIN"), ("Referrer-Policy", "same-origin"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    guard !policy.isEmpty else { return fields }
    let ancestors = ["frame-ancestors 'self'"] + origins.compactMap(source)
    let names = policy.split(separator: ";").map { $0.trimmed().lowercased() }
    let isComplete = names.contains { $0.split(separator: " ").first == "frame-ancestors" }
    fields.append(
      (
        "Content-Security-Policy",
        isComplete ? policy : policy + "; " + ancestors.joined(separator: " ")
      ))
    return fields
  }

  /// The origin as a source of a content security policy. Returns `nil` for `null` and IPv6
  /// addresses, which a policy cannot express. A wildcard in a policy matches any number of labels,
  /// even if the pattern matches one.
  private static func source(_ origin: OriginPattern) -> String? {
    let text = origin.description
    return text == "null" || text.contains("[") || text.hasSuffix("://") ? nil : text
  }
}
