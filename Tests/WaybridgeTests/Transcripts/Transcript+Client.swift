import TestSupport
import WaybridgeClient

extension Transcript {
  /// The clients that the Swift client can play: those that open a session first or never, and send
  /// only valid messages. Other clients send raw or invalid messages, or set sequence numbers,
  /// which the Swift client does on its own.
  var playableClients: [String] {
    if isNumbered { return [] }
    return clients.members.map(\.name).filter { name in
      let messages = messages(sentBy: name)
      // The Swift client chooses the ids of the requests to its hosts.
      guard !messages.isEmpty, messages.allSatisfy({ $0?["params"]?["onBehalfOf"] == nil }) else {
        return false
      }
      // The interface does not distinguish this from the end of the session.
      guard !expectedMessages(by: name).contains(where: { $0["params"]?["reason"] == "failed" })
      else {
        return false
      }
      // The interface does not show that a page is delivered what it has already.
      guard !deliversSameParams(to: name) else { return false }
      // The interface does not report that the page in which a client runs is on top again.
      guard
        openedPage(by: name) == nil
          || !expectedMessages(by: name).contains(where: { $0["method"] == "page.resume" })
      else { return false }
      // The interface decides about a guard, and as an interceptor, with values of its own.
      guard
        !expectedMessages(by: name).contains(where: {
          $0["method"] == "page.leave" || $0["method"] == "router.intercept"
        })
      else { return false }
      // Inspectors receive records by a notification that the Swift client does not support.
      guard !expectedMessages(by: name).contains(where: { $0["method"] == "admin.records" }) else {
        return false
      }
      let openRequests = messages.filter { $0?["method"] == "session.open" }
      if clients[name]?["subprotocol"] == nil {
        return openRequests.isEmpty && areSendable(messages)
      }
      guard openRequests.count == 1, case let openRequest?? = messages.first,
        openRequest["id"] != nil,
        openRequest["params"].map(Self.isSupportedOpenRequest) == true
      else { return false }
      return areSendable(messages)
    }
  }

  /// Returns the methods that the server calls in a client, except those of the protocol, and the
  /// methods of the page that it runs in.
  func methods(calledIn client: String) -> [String] {
    let own: Set = ["page.open", "page.close", "page.resume", "page.call", "task.run", "event"]
    return expectedMessages(by: client).compactMap { message in
      guard let method = message["method"]?.string else { return nil }
      if method == "page.call" { return message["params"]?["method"]?.string }
      return own.contains(method) || method.hasPrefix("$/") ? nil : method
    }
  }

  private func deliversSameParams(to client: String) -> Bool {
    let messages = expectedMessages(by: client)
    let opened = messages.compactMap { $0["params"]?["page"] }
    return messages.contains { message in
      guard message["method"] == "page.resume", let params = message["params"],
        let delivered = params["params"]
      else { return false }
      return opened.contains { $0["id"] == params["page"] && $0["params"] == delivered }
    }
  }

  /// The page in which a client runs; nil if it runs in none.
  private func openedPage(by client: String) -> Value? {
    let opened = messages(sentBy: client).first { $0?["method"] == "session.open" }
    return opened??["params"]?["page"]
  }

  private func expectedMessages(by client: String) -> [Value] {
    steps.flatMap { step -> [Value] in
      guard step["expect"]?.string == client else { return [] }
      return step["any"]?.array ?? step["message"].map { [$0] } ?? []
    }
  }

  /// Returns the messages of a client; `nil` stands for bytes, or for text that is sent as is.
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
        // A Swift host declines or throws an application code; any other error becomes 2502.
        let code = Int(error["code"]?.integer ?? 0)
        return code == -32800 || error["data"]?["kind"] == "declined"
          || ErrorCode.isApplication(code)
      }
      if message["result"] != nil { return message["method"] == nil }
      guard message["method"] != nil else { return false }
      let params = message["params"] ?? [:]
      guard message["method"]?.string != nil, params.object != nil || params.array != nil else {
        return false
      }
      guard let id = message["id"] else { return true }
      return id.object == nil && id.array == nil && id.bool == nil && ids.insert(id).inserted
    }
  }

  /// Returns whether the interface can produce these params.
  private static func isSupportedOpenRequest(_ params: Value) -> Bool {
    let isText = { (value: Value?) in value == nil || value?.string != nil }
    let join = params["join"]
    return params["protocol"] == ["1.0"] && params["client"]?["name"]?.string != nil
      && params["client"]?["version"]?.string != nil
      && isText(params["token"]) && isText(params["page"])
      && (join == nil || (join?["session"]?.string != nil && join?["token"]?.string != nil))
  }
}
