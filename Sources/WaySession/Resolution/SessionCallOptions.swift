import WayNavigation
import WayRouting
import WayValues

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
  /// The tab whose first page is to be opened.
  var tab: Int?
  /// Whether the call's result is the change of the stack, instead of the page's outcome.
  var respondsWithChange = false
  /// Whether the call passes all gates, because it opens the page of one.
  var passesGates = false
  /// The idempotency key of the call.
  var idempotencyKey: RouterIdempotencyKey?
  /// The values that Swift code passes to Swift code with the call; `nil` if there are none.
  var attachments: RouterAttachments?
}
