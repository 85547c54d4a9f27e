/// A part of a pattern as it is written: a segment, or a group that is optional.
enum PatternPart: Sendable {
  /// A segment. `name` is that of a parameter; `isRooted` means that a slash precedes it.
  case segment(RoutePattern.PatternSegment, name: String?, isRooted: Bool, offset: Int)
  case authority(RoutePattern.PatternSegment, name: String?)
  case group([PatternPart], offset: Int)
}

/// Expands a pattern into its forms, in which each of its groups is present or absent.
struct PatternGroupExpander {
  /// The forms; the first one has all groups.
  private(set) var forms: [RoutePattern.PatternForm] = []
  private let text: String

  /// Throws for more than ``RoutePattern/maxForms`` forms, and if two are the same.
  init(_ parts: [PatternPart], of text: String) throws(RoutePatternError) {
    self.text = text
    var variants: [[PatternPart]] = [[]]
    try expand(parts, onto: &variants)
    var seen: Set<[RoutePattern.PatternSegment]> = []
    for variant in variants {
      let form = try form(variant)
      guard variants.count == 1 || seen.insert(form.segments).inserted else {
        throw RoutePatternError(
          text, at: text.utf8.prefix { $0 != UInt8(ascii: "(") }.count,
          "two combinations of groups match the same path; begin each group with its own literal")
      }
      forms.append(form)
    }
  }

  private func expand(
    _ parts: [PatternPart], onto variants: inout [[PatternPart]]
  ) throws(RoutePatternError) {
    for part in parts {
      guard case .group(let inner, let offset) = part else {
        for index in variants.indices { variants[index].append(part) }
        continue
      }
      var with = variants
      try expand(inner, onto: &with)
      guard with.count + variants.count <= RoutePattern.maxForms else {
        throw RoutePatternError(
          text, at: offset,
          "with this group the pattern has more than \(RoutePattern.maxForms) forms;"
            + " write several patterns, or a wildcard")
      }
      variants = with + variants
    }
  }

  private func form(_ variant: [PatternPart]) throws(RoutePatternError) -> RoutePattern.PatternForm
  {
    var shape = SplitURI.Shape.rootless
    var segments: [RoutePattern.PatternSegment] = []
    var captures: [RoutePattern.Capture] = []
    for (position, part) in variant.enumerated() {
      switch part {
      case .group: continue
      case .authority(let segment, let name):
        shape = .authority
        segments.append(segment)
        if let name { captures.append(.init(name: name, segment: position)) }
      case .segment(let segment, let name, let isRooted, let offset):
        if position == 0, isRooted { shape = .rooted }
        guard segments.last != .wildcard else {
          throw RoutePatternError(
            text, at: offset, "\"*\" matches all remaining segments; put it last")
        }
        segments.append(segment)
        guard let name else { continue }
        guard !captures.contains(where: { $0.name == name }) else {
          throw RoutePatternError(
            text, at: offset, "the parameter \":\(name)\" occurs twice; rename one")
        }
        captures.append(.init(name: name, segment: position))
      }
    }
    return .init(shape: shape, segments: segments, captures: captures)
  }
}
