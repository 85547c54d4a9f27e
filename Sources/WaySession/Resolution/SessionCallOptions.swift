import WayNavigation
import WayRouting
import WayValues

/// What a caller says of a call beside the URI.
struct SessionCallOptions {
  /// Who calls, and what that one may do.
  let rights: Rights
  /// The method that the policy is asked about; nil for that of the entry.
  var method: RouteMethod?
  /// Its span, where calls are traced.
  var span: SessionCallSpan?
  /// The caller's own parameters.
  var params = ValueObject()
  var exts = ValueObject()
  var style: Style?
  /// The page on whose behalf it is made.
  var from: String?
  var deadline: Duration?
  var isInBatch = false
  /// The tab that the page is to be the first of.
  var tab: Int?
  /// The call is answered with what the opening does to the stack, not with the page's outcome.
  var answersChange = false
  /// The key that it is made under.
  var key: IdempotencyKey?
  /// What the call carries, of Swift code for Swift code; nil for nothing.
  var carried: Carried?
}
