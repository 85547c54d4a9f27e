import Waybridge
import WaybridgeClient

// Values of the Swift client in the form of the wire.
extension BridgeClient.HostedPage {
  /// The params of `page.open`.
  var pageOpenValue: Value {
    var members: ValueObject = [
      "id": .string(id), "uri": .string(uri), "route": route.map(Value.string) ?? .null,
      "params": .object(params), "exts": .object(exts), "style": .string(style.rawValue),
    ]
    members["opener"] = opener.map(Value.string)
    members["under"] = under.map(Value.string)
    return .object(members)
  }

  /// The page in the result of `navigation.stack`.
  var value: Value {
    var members: ValueObject = [
      "id": .string(id), "uri": .string(uri), "route": route.map(Value.string) ?? .null,
      "kind": "page", "style": .string(style.rawValue), "params": .object(params),
    ]
    // A guest sees only that other clients' pages exist.
    if uri.isEmpty { for name in ["uri", "params"] { members[name] = nil } }
    members["host"] = host.map(Value.string)
    if !pages.isEmpty { members["pages"] = .array(pages.map(\.value)) }
    return .object(members)
  }
}

extension BridgeClient.CallerDescription {
  var value: Value {
    var members: ValueObject = ["session": .string(session)]
    if let client {
      var clientValue: ValueObject = ["id": .string(client.id)]
      clientValue["name"] = client.name.map(Value.string)
      clientValue["version"] = client.version.map(Value.string)
      clientValue["page"] = client.page.map(Value.string)
      members["client"] = .object(clientValue)
    }
    members["user"] = user.map(Value.string)
    if !groups.isEmpty { members["groups"] = .array(groups.map(Value.string)) }
    members["origin"] = origin.map(Value.string)
    if isGuest { members["guest"] = true }
    return .object(members)
  }
}

extension BridgeClient.Stack {
  var value: Value {
    var members: ValueObject = [:]
    if !tabs.isEmpty {
      members["tabs"] = .array(
        tabs.map { tab in
          guard !tab.pages.isEmpty else { return ["uri": .string(tab.uri)] }
          return ["uri": .string(tab.uri), "pages": .array(tab.pages.map(\.value))]
        })
      members["selected"] = selected.map { .integer(Int64($0)) } ?? .null
    }
    members["pages"] = .array(pages.map(\.value))
    return .object(members)
  }
}

extension NavigationChange {
  var value: Value {
    ["page": page.map(Value.string) ?? .null, "closed": .array(closed.map(Value.string))]
  }
}

extension BridgeClient.RouteDestination? {
  var value: Value {
    guard let self else { return ["canOpen": false] }
    var members: ValueObject = ["canOpen": true, "kind": .string(self.kind.rawValue)]
    members["route"] = self.route.map(Value.string)
    if self.isHostAbsent { members["absent"] = true }
    return .object(members)
  }
}

extension BridgeClient.SessionDescription {
  var value: Value {
    var members: ValueObject = [
      "session": .string(id), "client": .string(client), "token": .string(token),
      "epoch": .string(epoch),
      "protocol": .string(protocolVersion), "limits": .object(limits),
      "server": ["name": .string(server.name), "version": .string(server.version)],
      "table": table.value,
      "capabilities": .array(capabilities.map(Value.string)),
    ]
    members["joinToken"] = join.map { .string($0.token) }
    if isGuest { members["guest"] = true }
    members["page"] = page.map(Value.string)
    members["expiresAt"] = expiresAt.map(Value.integer)
    return .object(members)
  }
}

extension CallError {
  var value: Value {
    var members: ValueObject = ["code": .integer(Int64(code)), "message": .string(message)]
    members["data"] = data
    return .object(members)
  }
}
