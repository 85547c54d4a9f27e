import WayNavigation
import WayValues

/// The params of `navigation.edit`.
struct StackEditParams: Sendable {
  /// The maximum number of pages that one edit opens.
  static let maxPages = 32

  /// The pages to remove; `nil` if there are none.
  let range: PageRange<String>?
  /// The pages to open, lowest first.
  let pages: [AddedPage]
  let exts: ValueObject

  /// Creates params. Fails with -32602 for wrong ones, and with 2429 for
  /// too many pages.
  init(
    _ range: PageRange<String>?, opening pages: [AddedPage], exts: ValueObject
  ) throws(CallError) {
    guard pages.count <= Self.maxPages else {
      throw .tooManyPages
    }
    if pages.isEmpty {
      if range == nil { throw .invalidParams("params must have remove, open or both") }
      if case .all = range { throw .invalidParams("params.remove.all needs pages in params.open") }
    }
    for page in pages where page.style.map({ $0 != .push && $0 != .present }) == true {
      throw .invalidParams("The style of a page in params.open must be \"push\" or \"present\"")
    }
    self.range = range
    self.pages = pages
    self.exts = exts
  }

  /// The params on the wire, without deadline and key.
  var value: ValueObject { StackEditMessage(range, opening: pages, exts: exts).value }
}

/// A call that edits the stack.
struct StackEditRequest {
  let params: StackEditParams
  let rights: Rights
  /// The page on whose behalf the call is made.
  var callingPage: String?
  /// `nil` waits without a limit.
  var timeout: Duration?

  /// The approximate memory of the call, in bytes.
  var size: Int { Value.object(params.value).size }
}

extension CallError {
  /// The error of an edit that opens too many pages.
  static var tooManyPages: CallError {
    CallError(.tooMany, "params.open may hold at most \(StackEditParams.maxPages) pages")
  }
}
