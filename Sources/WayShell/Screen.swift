import WayValues

/// What the shell shows and waits for an answer to: a page, or a sheet for a task or a method.
package struct Screen: Sendable, Equatable {
  package enum Kind: String, Sendable {
    case page
    /// A task or a method of a page, asked of whoever sits at the terminal.
    case sheet
  }

  /// That of the page; of a sheet one that no page has.
  package let id: String
  package let kind: Kind
  package let uri: String
  package let title: String
  package let purpose: String
  /// Who asked for it; empty where that is not told.
  package let caller: String
  package let params: ValueObject
  package var content: Content
  /// Whether it was answered, and is about to go.
  package var isAnswered = false

  package init(
    id: String, kind: Kind, uri: String, title: String = "", purpose: String = "",
    caller: String = "", params: ValueObject = [:], content: Content = .plain
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

  /// How it is drawn, in one word.
  package var form: String {
    switch (kind, content) {
    case (.sheet, _): "sheet"
    case (.page, .list): "list"
    case (.page, .form): "form"
    case (.page, .plain): "page"
    }
  }

  /// What it tells before what there is to do: purpose, caller and parameters.
  package var facts: [String] {
    var facts = purpose.isEmpty ? [] : [purpose]
    if !caller.isEmpty { facts.append("asked by \(caller)") }
    // The choices of a list are shown as its entries.
    for member in params.members where member.name != "choices" {
      facts.append("\(member.name): \(member.value.label)")
    }
    return facts
  }

  /// What there is to do, a line for each choice or field.
  package var tasks: [String] {
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

  /// The line of ``tasks`` that is to be in sight.
  package var focus: Int {
    if case .form(let form) = content { form.values.count } else { 0 }
  }

  /// What to type now.
  package var prompt: String {
    if isAnswered { return "answered" }
    let leave = kind == .page ? "back, cancel" : "cancel"
    switch content {
    case .plain: return "finish [JSON], \(leave)"
    case .list(let choices):
      return choices.count == 1 ? "1, or \(leave)" : "1 to \(choices.count), or \(leave)"
    case .form(let form):
      guard let field = form.current else { return leave }
      return "\(field.label)? \(field.hint)"
    }
  }
}
