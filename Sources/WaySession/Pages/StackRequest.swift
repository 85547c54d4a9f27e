import WayNavigation
import WayRouting
import WayValues

/// A request to change the stack that needs no response of a host.
///
/// A class, so that it is passed on as one reference. Belongs to the isolation of its session.
final class StackRequest {
  let operation: StackOperation
  let call: CallNumber
  let caller: Caller
  /// Those that the hosts of closed pages get.
  let exts: ValueObject
  /// Returns why the caller may not close a page of others, or close it without asking its guards.
  let closing: (Page, _ byForce: Bool) -> CallError?
  /// Checks the data that a page would return.
  let checkingResult: (Page, Value) throws(CallError) -> Void
  /// The pages that the guards allow to close; `nil` before they were asked.
  var approvedPages: Set<String>?

  init(
    operation: StackOperation, call: CallNumber, caller: Caller, exts: ValueObject,
    closing: @escaping (Page, _ byForce: Bool) -> CallError?,
    checkingResult: @escaping (Page, Value) throws(CallError) -> Void = { _, _ in }
  ) {
    self.operation = operation
    self.call = call
    self.caller = caller
    self.exts = exts
    self.closing = closing
    self.checkingResult = checkingResult
  }
}

extension ValueObject {
  /// Whether `exts` ask to close pages without asking their guards. Fails with -32602 if they do not
  /// say so with a boolean.
  var closesByForce: Bool {
    get throws(CallError) {
      switch self["force"] {
      case nil: return false
      case .bool(let isForced)?: return isForced
      case _?: throw CallError(.invalidExts(name: "force", reason: "has to be true or false"))
      }
    }
  }
}
