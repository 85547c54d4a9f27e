/// The reason why an operation was rejected. The stack is unchanged.
package enum StackError: Error, Sendable {
  /// The reference names no page on the stack.
  case notOnStack(PageReference)
  /// Nothing is beneath the page, because it is the root.
  case nothingBefore(page: String)
  /// The operation has a result but closes no page, so that the result would be lost.
  case nothingCloses
  /// The operation would close all pages and open none.
  case nothingStays
  /// A page with the id is on the stack already.
  case pageExists(id: String)
  /// A negative count.
  case invalidCount(Int)
  /// Invalid `exts` for the stack; `name` is the member.
  case invalidExts(name: String, reason: String)
  /// The tab has no page to show.
  case emptyTab(Int)
  /// A page of this style is only opened by selecting its tab.
  case notByTab
  /// The stack has the maximum number of pages, or of modal stacks.
  case stackFull(limit: Int, of: String)
}

extension StackError {
  /// The name of the case, for `data.kind` of an error response.
  package var kind: String {
    switch self {
    case .notOnStack: "notOnStack"
    case .nothingBefore: "nothingBefore"
    case .nothingCloses: "nothingCloses"
    case .nothingStays: "nothingStays"
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
      "no page is below page \"\(id)\", which is the root"
    case .nothingCloses:
      "no page closes, so the result would be lost; go back from a page that is not the target "
        + "itself"
    case .nothingStays:
      "no page would stay on the stack; open another one in its place"
    case .pageExists(let id):
      "page \"\(id)\" is already on the stack; each opened page needs its own id"
    case .invalidCount(let count):
      "the count must be 0 or more, not \(count)"
    case .invalidExts(let name, let reason):
      "exts.\(name) \(reason)"
    case .emptyTab(let tab):
      "the page of tab \(tab) was closed meanwhile; select the tab again"
    case .notByTab:
      "the style \"tab\" is for the first page of a tab"
    case .stackFull(let limit, let of):
      "the stack already holds \(limit) \(of), which is the limit; close some first"
    }
  }
}
