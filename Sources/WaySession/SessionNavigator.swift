import WayRPC
import WayRouting
import WayValues

/// Lets a Swift task of a session use the router that called it.
struct SessionNavigator: Navigator {
  let session: Session
  /// The page on whose behalf the task runs.
  let page: String?

  func open(
    _ uri: String, params: ValueObject, exts: ValueObject, style: Style
  ) async throws -> Outcome {
    let options = CallOptions(exts: exts, style: style, from: page, deadline: nil)
    let value = try await session.call(.open, uri, params, options)
    return try Outcome(wire: value)
  }

  func invoke(_ uri: String, params: ValueObject, exts: ValueObject) async throws -> Value {
    try await session.call(.invoke, uri, params, CallOptions(exts: exts, from: page))
  }

  func canOpen(_ uri: String) async -> Bool {
    await session.canOpen(uri)
  }
}

extension Session {
  /// A call of Swift code. Cancelling the Swift task cancels the call. Throws ``TaskError`` with the code of the protocol.
  func call(
    _ entry: Entry, _ uri: String, _ params: ValueObject, _ options: CallOptions
  ) async throws -> Value {
    try Task.checkCancellation()
    let number = makeCallNumber()
    let result: Result<Value, RPCError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        start(number, entry, uri, params, options) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      Task { await self.stop(number, .cancelled) }
    }
    switch result {
    case .success(let value): return value
    case .failure(let error):
      throw TaskError(code: error.code, message: error.message, data: error.data)
    }
  }

  private func start(
    _ number: CallNumber, _ entry: Entry, _ uri: String, _ params: ValueObject,
    _ options: CallOptions, answer: @escaping (Result<Value, RPCError>) -> Void
  ) {
    let call = CallInFlight(number: number, client: nil, answer: answer, progress: { _ in })
    calls[number] = call
    guard !hasEnded else {
      return settle(
        number, .failure(RPCError(.cancelledByServer, "The session of the call has ended")))
    }
    do throws(RPCError) {
      let destination = try resolve(uri, params)
      switch try perform(destination, entry, options, .call(call)) {
      case .result(let value): settle(number, .success(value))
      case .failure(let error): settle(number, .failure(error))
      case .later: break
      }
    } catch {
      settle(number, .failure(error))
    }
  }

  func canOpen(_ uri: String) -> Bool {
    (try? resolve(uri, [:], checking: false))?.isServed ?? false
  }
}

extension Outcome {
  /// Reads back what a call of `router.open` was answered with.
  fileprivate init(wire value: Value) throws(TaskError) {
    guard let kind = value["outcome"]?.string.flatMap(Kind.init(rawValue:)),
      let code = value["code"]?.integer.flatMap({ Int(exactly: $0) })
    else {
      throw TaskError(
        code: ErrorCode.internal.rawValue, message: "The router answered without an outcome",
        data: value)
    }
    self.init(
      kind: kind, code: code, message: value["message"]?.string ?? "",
      data: value["data"] ?? .null)
  }
}
