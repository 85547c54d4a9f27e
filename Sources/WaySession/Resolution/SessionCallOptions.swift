import WayNavigation
import WayRouting
import WayValues

/// The place on the stack of the page that a call opens.
enum PagePlacement {
  /// The one that its style says.
  case style
  /// The page is the first one of a tab.
  case tab(Int)
  /// The page is one of those that an edit opens, given by its call.
  case edit(CallNumber)
}

/// The options of a call, beyond its URI.
struct SessionCallOptions {
  /// The caller and its rights.
  let rights: Rights
  /// The method for which the policy is checked; `nil` for that of the call's kind.
  var method: PolicyRouteMethod?
  /// The span of the call, if calls are traced.
  var span: SessionCallSpan?
  /// The caller's own parameters.
  var params = ValueObject()
  var exts = ValueObject()
  var style: Style?
  /// The page on whose behalf the call is made.
  var callingPage: String?
  var timeout: Duration?
  var isInBatch = false
  /// The place of the page that the call opens.
  var placement = PagePlacement.style
  /// The call of the edit that the page belongs to.
  var edit: CallNumber? { if case .edit(let call) = placement { call } else { nil } }
  /// Whether the call's result is the change of the stack, instead of the page's outcome.
  var respondsWithChange = false
  /// Whether the call passes all gates, because it opens the page of one.
  var passesGates = false
  /// The idempotency key of the call.
  var idempotencyKey: RouterIdempotencyKey?
  /// The values that Swift code passes to Swift code with the call; `nil` if there are none.
  var attachments: RouterAttachments?
}
