import WayValues

/// A screen that the shell shows until the user responds: a page, or a sheet for a task or a
/// method.
package struct Screen: Sendable, Equatable {
  package enum ScreenKind: String, Sendable {
    case page
    /// A request to the user to perform a task or a method of a page.
    case sheet
  }

  /// The id of the page. The id of a sheet differs from all pages.
  package let id: String
  package let kind: ScreenKind
  package let uri: String
  package let title: String
  package let purpose: String
  /// The caller; empty if unknown.
  package let caller: String
  package let params: ValueObject
  package var content: ScreenContent
  /// Whether the user has responded, so the screen is about to close.
  package var isSubmitted = false

  package init(
    id: String, kind: ScreenKind, uri: String, title: String = "", purpose: String = "",
    caller: String = "", params: ValueObject = [:], content: ScreenContent = .plain
  ) {
    self.id = id
    self.kind = kind
    self.uri = uri
    self.title = title.isEmpty ? uri : title
    self.purpose = purpose
    self.caller = caller
    self.params = params
    self.content = content
  }

  /// The name of the layout.
  package var layout: String {
    switch (kind, content) {
    case (.sheet, _): "sheet"
    case (.page, .list): "list"
    case (.page, .form): "form"
    case (.page, .plain): "page"
    }
  }

  /// The lines above the content: purpose, caller and parameters.
  package var details: [String] {
    var facts = purpose.isEmpty ? [] : [purpose]
    if !caller.isEmpty { facts.append("called by \(caller)") }
    // The choices of a list are shown as its entries.
    for member in params.members where member.name != "choices" {
      facts.append("\(member.name): \(member.value.label)")
    }
    return facts
  }

  /// The lines of the content, one for each choice or field.
  package var contentLines: [String] {
    switch content {
    case .plain: []
    case .list(let choices): choices.enumerated().map { "\($0 + 1)  \($1.label)" }
    case .form(let form):
      form.fields.enumerated().map { index, field in
        let title = field.title.isEmpty || field.name.isEmpty ? "" : " (\(field.title))"
        let isPast = index < form.values.count
        let text = isPast ? form.values[index]?.label ?? "–" : ""
        let mark = index == form.values.count ? "▸" : " "
        return "\(mark) \(field.label)\(isPast ? ": \(text)" : title)"
      }
    }
  }

  /// The index in ``contentLines`` that must be visible.
  package var focusedLine: Int {
    if case .form(let form) = content { form.values.count } else { 0 }
  }

  /// The possible inputs.
  package var prompt: String {
    if isSubmitted { return "answered" }
    let leave = kind == .page ? "back, cancel" : "cancel"
    switch content {
    case .plain: return "finish [JSON], \(leave)"
    case .list(let choices):
      return choices.count == 1 ? "1, or \(leave)" : "1 to \(choices.count), or \(leave)"
    case .form(let form):
      guard let field = form.currentField else { return leave }
      return "\(field.label)? \(field.hint)"
    }
  }
}
