import Waybridge
import WaybridgeClient

/// A request of a transcript as a call of the Swift client's interface.
struct TypedCall: Sendable {
  /// Makes the call; `progress` receives the values of `$/progress`.
  let run:
    nonisolated(nonsending) @Sendable (
      BridgeClient, _ progress: @escaping @Sendable (Value) -> Void
    ) async throws
      -> Value

  /// Returns `nil` if the interface has no typed call for this, such as for invalid params. Then
  /// the general `request` is used.
  init?(_ method: String, _ params: ValueObject) {
    let rest = RemainingParams(params)
    switch method {
    case "router.open":
      guard let uri = rest.string("uri"), let given = rest.options, let style = rest.style else {
        return nil
      }
      let from = rest.string("from")
      run = { client, progress in
        try await client.open(
          uri, given.params, exts: given.exts, style: style, from: from, timeout: given.deadline,
          onShown: { progress(["opened": ["page": .string($0)]]) }, onProgress: progress
        ).value
      }
    case "router.invoke":
      guard let uri = rest.string("uri"), let given = rest.options else { return nil }
      run = { client, progress in
        try await client.invoke(
          uri, given.params, exts: given.exts, timeout: given.deadline, onProgress: progress)
      }
    case "router.canOpen":
      guard let uri = rest.string("uri") else { return nil }
      run = { client, _ in try await client.destination(of: uri).value }
    case "router.explain":
      guard let uri = rest.string("uri"), let params = rest.object("params") else { return nil }
      run = { client, _ in try await client.explain(uri, params) }
    case "router.deliver":
      guard let params = rest.object("params"), let exts = rest.object("exts"),
        let style = rest.style
      else { return nil }
      let key = rest.string("key")
      if let uri = rest.string("uri") {
        run = { client, _ in
          try await client.deliver(uri, params, exts: exts, style: style, key: key)
          return .null
        }
      } else if let action = rest.string("action") {
        let url = rest.string("action_url")
        run = { client, _ in
          try await client.deliver(
            action: action, url: url, params, exts: exts, style: style, key: key)
          return .null
        }
      } else {
        return nil
      }
    case "router.routes":
      run = { client, _ in .array(try await client.routes()) }
    case "page.call":
      guard let page = rest.string("page"), let method = rest.string("method"),
        let deadline = rest.deadline, let given = rest.object("params")
      else { return nil }
      run = { client, progress in
        try await client.call(
          page: page, method: method, params: given, timeout: deadline, onProgress: progress)
      }
    case "session.gates":
      run = { client, _ in
        let gates = try await client.gates()
        return [
          "gates": .array(gates.map { ["name": .string($0.name), "open": .bool($0.isOpen)] })
        ]
      }
    case "session.setGate":
      guard let gate = rest.string("gate"), let isOpen = rest.remove("open")?.bool else {
        return nil
      }
      run = { client, _ in
        try await client.setGate(gate, isOpen: isOpen)
        return .null
      }
    case "navigation.back":
      guard let result = rest.result, let back = rest.back(result) else { return nil }
      run = { client, _ in try await back(client).value }
    case "navigation.finish":
      guard let result = rest.result, let exts = rest.object("exts") else { return nil }
      let page = rest.string("page")
      run = { client, _ in try await client.finish(result, page: page, exts: exts).value }
    case "navigation.stack":
      run = { client, _ in try await client.stack().value }
    case "navigation.selectTab":
      if let uri = rest.string("uri") {
        run = { client, _ in try await client.selectTab(uri).value }
      } else if let index = rest.integer("index") {
        run = { client, _ in try await client.selectTab(index).value }
      } else {
        return nil
      }
    case "navigation.contains":
      guard let uri = rest.string("uri") else { return nil }
      run = { client, _ in try await client.contains(uri)?.value ?? .null }
    case "navigation.adopt":
      guard let uri = rest.string("uri"), let params = rest.object("params"),
        let style = rest.style
      else { return nil }
      run = { client, _ in try await client.adopt(uri, params, style: style).value }
    default: return nil
    }
    guard rest.isEmpty else { return nil }
  }
}

/// The members that are not read yet. A value of a wrong type remains, so that the request is not a
/// typed call.
private final class RemainingParams {
  private var members: ValueObject

  init(_ members: ValueObject) {
    self.members = members
  }

  var isEmpty: Bool { members.isEmpty }

  func remove(_ name: String) -> Value? {
    defer { members[name] = nil }
    return members[name]
  }

  func string(_ name: String) -> String? {
    guard let text = members[name]?.string else { return nil }
    members[name] = nil
    return text
  }

  func integer(_ name: String) -> Int? {
    guard let number = members[name]?.integer.flatMap({ Int(exactly: $0) }) else { return nil }
    members[name] = nil
    return number
  }

  func object(_ name: String) -> ValueObject? {
    guard let value = members[name] else { return [:] }
    guard let object = value.object else { return nil }
    members[name] = nil
    return object
  }

  var deadline: Duration?? {
    guard let value = members["deadlineMs"] else { return .some(nil) }
    guard let milliseconds = value.integer, milliseconds > 0 else { return nil }
    members["deadlineMs"] = nil
    return .milliseconds(milliseconds)
  }

  var style: Style?? {
    guard let value = members["style"] else { return .some(nil) }
    guard let style = value.string.flatMap(Style.init(rawValue:)) else { return nil }
    members["style"] = nil
    return style
  }

  var options: (params: ValueObject, exts: ValueObject, deadline: Duration?)? {
    guard let params = object("params"), let exts = object("exts"), let deadline else {
      return nil
    }
    return (params, exts, deadline)
  }

  var result: PageResult?? {
    guard let value = members["result"] else { return .some(nil) }
    guard let result = value.object, let code = (result["code"] ?? 0).integer,
      let message = (result["message"] ?? "").string,
      result.members.allSatisfy({ ["data", "code", "message"].contains($0.name) })
    else { return nil }
    members["result"] = nil
    return PageResult(
      result["data"] ?? .null, code: Int(code), message: message)
  }

  func back(
    _ result: PageResult?
  ) -> (@Sendable (BridgeClient) async throws -> NavigationChange)? {
    guard let exts = object("exts") else { return nil }
    if let to = string("to") {
      return { try await $0.back(.to(to), result: result, exts: exts) }
    }
    if let before = string("before") {
      return { try await $0.back(.before(before), result: result, exts: exts) }
    }
    if members["root"] == true {
      members["root"] = nil
      return { try await $0.back(.root, result: result, exts: exts) }
    }
    guard let count = (remove("count") ?? 1).integer.flatMap({ Int(exactly: $0) }) else {
      return nil
    }
    return { try await $0.back(count, result: result, exts: exts) }
  }
}
