import WayValues

/// An Android app: its package, and the fingerprints of the certificates that sign it.
package struct AndroidApp: Sendable, Hashable {
  /// The package, such as `com.example.app`.
  package let package: String
  /// The SHA-256 fingerprint of one certificate: 32 pairs of hexadecimal digits in upper case,
  /// separated by colons.
  package let fingerprint: String

  /// Reads `PACKAGE=FINGERPRINT`. Throws if a part has another form.
  package init(_ text: String) throws(TableExportError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      throw TableExportError("\"\(text)\" is not PACKAGE=FINGERPRINT")
    }
    guard Self.isPackage(parts[0]) else {
      throw TableExportError(
        "\"\(parts[0])\" is not the name of a package, such as \"com.example.app\"")
    }
    guard Self.isFingerprint(parts[1]) else {
      throw TableExportError(
        "\"\(parts[1])\" is not a SHA-256 fingerprint: 32 pairs of hexadecimal digits, separated by "
          + "colons, as keytool -list -v prints them")
    }
    package = String(parts[0])
    fingerprint = parts[1].uppercased()
  }

  private static func isPackage(_ text: Substring) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    return labels.count > 1 && text.utf8.count <= 255
      && labels.allSatisfy { label in
        label.first?.isLetter == true && label.allSatisfy { $0.isASCIILetterOrDigit || $0 == "_" }
      }
  }

  private static func isFingerprint(_ text: Substring) -> Bool {
    let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
    return pairs.count == 32
      && pairs.allSatisfy { $0.count == 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
  }
}

extension Character {
  /// Whether it is a letter or a digit of ASCII.
  var isASCIILetterOrDigit: Bool { isASCII && (isLetter || isNumber) }
}

/// Google's file about the apps that may open the URLs of a website (Digital Asset Links). It has no
/// paths: the manifest of an app has them.
struct AssetLinks {
  private let apps: [AndroidApp]

  /// `apps` can name a package several times, with different fingerprints.
  init(_ apps: [AndroidApp]) {
    self.apps = apps
  }

  /// The text of the file: one statement for each package.
  var text: String {
    var packages: [String] = []
    for app in apps where !packages.contains(app.package) { packages.append(app.package) }
    let statements = zip(packages, packages.map(Value.string)).map { package, name -> Value in
      var fingerprints: [String] = []
      for app in apps where app.package == package && !fingerprints.contains(app.fingerprint) {
        fingerprints.append(app.fingerprint)
      }
      return [
        "relation": ["delegate_permission/common.handle_all_urls"],
        "target": [
          "namespace": "android_app", "package_name": name,
          "sha256_cert_fingerprints": .array(fingerprints.map(Value.string)),
        ],
      ]
    }
    return PrettyTableJSON.text(.array(statements)) + "\n"
  }
}
