import WayValues

/// Writes a value as an XML property list, with Apple's document type.
///
/// A property list has no null: a null member or element becomes the string `$null`. Characters
/// that XML 1.0 does not allow (§2.2) are escaped as `\u{0}`.
enum PropertyList {
  static func text(_ value: Value) -> String {
    var code = CodeWriter(unit: "\t")
    code.line("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
    code.line(
      "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
        + "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">")
    code.line("<plist version=\"1.0\">")
    write(value, to: &code)
    code.line("</plist>")
    return code.text
  }

  private static func write(_ value: Value, to code: inout CodeWriter) {
    switch value {
    case .null: code.line("<string>$null</string>")
    case .bool(let truth): code.line(truth ? "<true/>" : "<false/>")
    case .integer(let integer): code.line("<integer>\(integer)</integer>")
    case .number(let number): code.line("<real>\(number.digits)</real>")
    case .string(let text): code.line("<string>\(escaped(text))</string>")
    case .array(let list):
      if list.isEmpty { return code.line("<array/>") }
      code.block("<array>", "</array>") { code in
        for value in list { write(value, to: &code) }
      }
    case .object(let object):
      if object.isEmpty { return code.line("<dict/>") }
      code.block("<dict>", "</dict>") { code in
        for member in object.members {
          code.line("<key>\(escaped(member.name))</key>")
          write(member.value, to: &code)
        }
      }
    }
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      // A parser would read it as a line feed.
      case "\r": result += "&#13;"
      case "\t", "\n", "\u{20}"..."\u{FFFD}", "\u{10000}"...: result.unicodeScalars.append(scalar)
      default: result += "\\u{\(scalar.hex)}"
      }
    }
    return result
  }
}
