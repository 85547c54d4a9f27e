/// A pattern as it is written: segments, and groups that may be left out.
enum PatternPart: Sendable {
  /// `name` is a parameter's. `isRooted`: a slash stands before it.
  case segment(RoutePattern.Segment, name: String?, isRooted: Bool, offset: Int)
  case authority(RoutePattern.Segment, name: String?)
  case group([PatternPart], offset: Int)
}

/// The ways to read a pattern: each of its groups is there or not.
struct PatternGroupExpander {
  /// The one with all groups first.
  private(set) var forms: [RoutePattern.Form] = []
  private let text: String

  /// Throws for more than ``RoutePattern/maxForms`` of them, and when two are the same.
  init(_ parts: [PatternPart], of text: String) throws(RoutePatternError) {
    self.text = text
    var readings: [[PatternPart]] = [[]]
    try expand(parts, onto: &readings)
    var seen: Set<[RoutePattern.Segment]> = []
    for reading in readings {
      let form = try form(reading)
      guard readings.count == 1 || seen.insert(form.segments).inserted else {
        throw RoutePatternError(
          text, at: text.utf8.prefix { $0 != UInt8(ascii: "(") }.count,
          "two ways to leave out groups give the same path; give each group a literal of its own")
      }
      forms.append(form)
    }
  }

  private func expand(
    _ parts: [PatternPart], onto readings: inout [[PatternPart]]
  ) throws(RoutePatternError) {
    for part in parts {
      guard case .group(let inner, let offset) = part else {
        for index in readings.indices { readings[index].append(part) }
        continue
      }
      var with = readings
      try expand(inner, onto: &with)
      guard with.count + readings.count <= RoutePattern.maxForms else {
        throw RoutePatternError(
          text, at: offset,
          "with this group there are more than \(RoutePattern.maxForms) ways to read the pattern;"
            + " write several patterns, or a wildcard")
      }
      readings = with + readings
    }
  }

  private func form(_ reading: [PatternPart]) throws(RoutePatternError) -> RoutePattern.Form {
    var shape = SplitURI.Shape.rootless
    var segments: [RoutePattern.Segment] = []
    var captures: [RoutePattern.Capture] = []
    for (position, part) in reading.enumerated() {
      switch part {
      case .group: continue
      case .authority(let segment, let name):
        shape = .authority
        segments.append(segment)
        if let name { captures.append(.init(name: name, segment: position)) }
      case .segment(let segment, let name, let isRooted, let offset):
        if position == 0, isRooted { shape = .rooted }
        guard segments.last != .wildcard else {
          throw RoutePatternError(text, at: offset, "'*' takes all that follows: put it last")
        }
        segments.append(segment)
        guard let name else { continue }
        guard !captures.contains(where: { $0.name == name }) else {
          throw RoutePatternError(
            text, at: offset, "the parameter ':\(name)' comes twice; rename one")
        }
        captures.append(.init(name: name, segment: position))
      }
    }
    return .init(shape: shape, segments: segments, captures: captures)
  }
}
