import WayNavigation
import WayRouting
import WayValues

/// A request to change the stack that needs no response of a host.
struct StackRequest {
  let operation: StackOperation
  let call: CallNumber
  let caller: Caller
  /// Those that the hosts of closed pages get.
  let exts: ValueObject
  /// Returns why the caller may not close a page of others, or close it without asking its guards.
  let closing: (Page, _ byForce: Bool) -> CallError?
  /// The pages that the guards allow to close; `nil` before they were asked.
  var approvedPages: Set<String>?
}
