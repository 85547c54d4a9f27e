import TestSupport
import WaybridgeClient

extension Transcript {
  /// The clients that the Swift client can play: those that open a session first, or none at all,
  /// and keep to the protocol in all that they send. Others show what a server makes of raw or
  /// wrong messages, or speak the numbers themselves, which the Swift client does by itself.
  var playable: [String] {
    if isNumbered { return [] }
    return clients.members.map(\.name).filter { name in
      let messages = messages(sentBy: name)
      // The ids of what the client is asked are its own.
      guard !messages.isEmpty, messages.allSatisfy({ $0?["params"]?["onBehalfOf"] == nil }) else {
        return false
      }
      // The interface does not tell this from the end of the session.
      guard !expected(by: name).contains(where: { $0["params"]?["reason"] == "failed" }) else {
        return false
      }
      // Who inspects a server is told by a notification, which it does not take.
      guard !expected(by: name).contains(where: { $0["method"] == "admin.records" }) else {
        return false
      }
      let hellos = messages.filter { $0?["method"] == "session.open" }
      if clients[name]?["subprotocol"] == nil {
        return hellos.isEmpty && areSendable(messages)
      }
      guard hellos.count == 1, case let hello?? = messages.first, hello["id"] != nil,
        hello["params"].map(Self.isHello) == true
      else { return false }
      return areSendable(messages)
    }
  }

  /// The methods that the server calls in a client, other than the protocol's own; and the methods
  /// of the page that it runs in.
  func methods(calledIn client: String) -> [String] {
    let own: Set = ["page.open", "page.close", "page.resume", "page.call", "task.run", "event"]
    return expected(by: client).compactMap { message in
      guard let method = message["method"]?.string else { return nil }
      if method == "page.call" { return message["params"]?["method"]?.string }
      return own.contains(method) || method.hasPrefix("$/") ? nil : method
    }
  }

  private func expected(by client: String) -> [Value] {
    steps.flatMap { step -> [Value] in
      guard step["expect"]?.string == client else { return [] }
      return step["any"]?.list ?? step["message"].map { [$0] } ?? []
    }
  }

  /// nil stands for what is no message: bytes, or text that is sent as it is.
  private func messages(sentBy client: String) -> [Value?] {
    steps.filter { $0["send"]?.string == client }.map { $0["message"] }
  }

  private func areSendable(_ messages: [Value?]) -> Bool {
    let members: Set = ["jsonrpc", "id", "method", "params", "result", "error"]
    var ids: Set<Value> = []
    return messages.allSatisfy { message in
      guard let message = message?.object, message["jsonrpc"] == "2.0",
        message.members.allSatisfy({ members.contains($0.name) })
      else { return false }
      if let error = message["error"] {
        // A host in Swift declines, or throws the application's codes; any other becomes 2502.
        let code = Int(error["code"]?.integer ?? 0)
        return code == -32800 || error["data"]?["kind"] == "declined"
          || ErrorCode.isApplication(code)
      }
      if message["result"] != nil { return message["method"] == nil }
      guard message["method"] != nil else { return false }
      let params = message["params"] ?? [:]
      guard message["method"]?.string != nil, params.object != nil || params.list != nil else {
        return false
      }
      guard let id = message["id"] else { return true }
      return id.object == nil && id.list == nil && id.bool == nil && ids.insert(id).inserted
    }
  }

  /// Whether the params are such that the interface can give them.
  private static func isHello(_ params: Value) -> Bool {
    let isText = { (value: Value?) in value == nil || value?.string != nil }
    let join = params["join"]
    return params["protocol"] == ["1.0"] && params["client"]?["name"]?.string != nil
      && params["client"]?["version"]?.string != nil
      && isText(params["token"]) && isText(params["page"])
      && (join == nil || (join?["session"]?.string != nil && join?["token"]?.string != nil))
  }
}
