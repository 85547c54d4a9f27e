import Logging

extension String {
  /// A peer's text as metadata: short, and without what could begin a new line, colour a terminal
  /// or turn the order of characters, each of which is written as `\u{…}`.
  var logged: Logger.MetadataValue { .string(printable) }

  /// At most 256 scalars, with what cannot be seen written as `\u{…}`.
  package var printable: String {
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
