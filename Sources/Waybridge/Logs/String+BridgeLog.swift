import Logging

extension String {
  /// A client's string as metadata: short, and without characters that begin a new line, colour a
  /// terminal or change the text direction; each of these is written as `\u{…}`.
  var logValue: Logger.MetadataValue { .string(printable) }

  /// At most 256 scalars, with invisible characters written as `\u{…}`.
  package var printable: String {
    // Most texts are short and of printable ASCII.
    if utf8.count <= 256, utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    var result = ""
    let shown = unicodeScalars.prefix(256)
    for scalar in shown {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return shown.endIndex == endIndex ? result : result + "…"
  }
}
