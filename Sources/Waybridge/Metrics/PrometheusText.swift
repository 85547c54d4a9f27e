/// The text exposition format of Prometheus, version 0.0.4.
enum PrometheusText {
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  static func text(_ families: [MetricFamily]) -> String {
    var text = ""
    for family in families where !family.samples.isEmpty {
      text += "# HELP \(family.name) \(escaped(family.help, quotes: false))\n"
      text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
      for sample in family.samples {
        text += "\(family.name)\(sample.suffix)\(labels(sample.labels)) \(number(sample.value))\n"
      }
    }
    return text
  }

  /// Converts any string to a name of a metric or a label.
  static func name(_ text: String, colons: Bool) -> String {
    var name = ""
    for scalar in text.unicodeScalars {
      let isAllowed =
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        case ":": colons
        default: false
        }
      name.unicodeScalars.append(isAllowed ? scalar : "_")
    }
    if let first = name.first, !first.isNumber { return name }
    return "_" + name
  }

  private static func labels(_ labels: [(name: String, value: String)]) -> String {
    guard !labels.isEmpty else { return "" }
    let pairs = labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
    return "{\(pairs.joined(separator: ","))}"
  }

  /// Formats a number for Go's ParseFloat; whole numbers have no fraction.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return Int64(exactly: value).map(String.init) ?? "\(value)"
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quotes: result += "\\\""
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
