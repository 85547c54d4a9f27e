import WayTransport

/// The header fields that keep what is served as a file from being misused by other pages.
package enum FileHeaders {
  /// Scripts come from the server alone; a page connects to bridges of this machine, and may show
  /// pages of others in frames.
  package static let usualPolicy = [
    "default-src 'self'", "img-src 'self' data: blob:", "style-src 'self' 'unsafe-inline'",
    "connect-src 'self' http://127.0.0.1:* http://localhost:* ws://127.0.0.1:* ws://localhost:*",
    "frame-src 'self' http: https:", "object-src 'none'", "base-uri 'self'", "form-action 'self'",
  ].joined(separator: "; ")

  /// - Parameters:
  ///   - policy: the content security policy; empty for none.
  ///   - origins: of those that may show the files in frames, besides the server's own pages.
  static func fields(policy: String, origins: [OriginPattern]) -> [(String, String)] {
    var fields = [
      // For browsers that know no frame-ancestors: the others leave it alone where that is there.
      ("X-Frame-Options", "SAMEORIGIN"), ("Referrer-Policy", "same-origin"),
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

  /// As a source of a content security policy, which has no way to write `null` and IPv6 addresses,
  /// and takes any number of labels where one is meant.
  private static func source(_ origin: OriginPattern) -> String? {
    let text = origin.description
    return text == "null" || text.contains("[") || text.hasSuffix("://") ? nil : text
  }
}
