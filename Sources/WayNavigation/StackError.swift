/// Why an operation was refused. The stack is then as it was.
package enum StackError: Error, Sendable {
  /// No page on the stack is meant by the reference.
  case notOnStack(PageReference)
  /// Nothing lies beneath the page, for it is the root.
  case nothingBefore(page: String)
  /// A result was given where no page closes: it would be lost.
  case nothingCloses
  /// A page with the id is on the stack already.
  case pageExists(id: String)
  /// A negative count.
  case invalidCount(Int)
  /// `exts` that the stack cannot follow; `name` is the member.
  case invalidExts(name: String, reason: String)
  /// The tab has no page to show.
  case emptyTab(Int)
  /// A page of this style is opened by selecting its tab.
  case notByTab
  /// The stack holds as many pages, or modal stacks, as it may.
  case stackFull(limit: Int, of: String)
}

extension StackError {
  /// The case as one word, for `data.kind` of an error answer.
  package var kind: String {
    switch self {
    case .notOnStack: "notOnStack"
    case .nothingBefore: "nothingBefore"
    case .nothingCloses: "nothingCloses"
    case .pageExists: "pageExists"
    case .invalidCount: "invalidCount"
    case .invalidExts: "invalidExts"
    case .emptyTab: "emptyTab"
    case .notByTab: "notByTab"
    case .stackFull: "stackFull"
    }
  }
}

extension StackError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notOnStack(let reference):
      "\(reference) is not on the stack; navigation.stack lists the pages that are"
    case .nothingBefore(let id):
      "nothing lies before page '\(id)': it is the root"
    case .nothingCloses:
      "no page closes, so the result would be lost; go back from a page that is not the target "
        + "itself"
    case .pageExists(let id):
      "page '\(id)' is on the stack already; each opened page needs an id of its own"
    case .invalidCount(let count):
      "the count is \(count); it has to be 0 or more"
    case .invalidExts(let name, let reason):
      "exts.\(name) \(reason)"
    case .emptyTab(let tab):
      "the page of tab \(tab) went away meanwhile; select the tab again"
    case .notByTab:
      "the style 'tab' is for the first page of a tab"
    case .stackFull(let limit, let of):
      "the stack already holds \(limit) \(of), which is the limit; close some first"
    }
  }
}
