import Waybridge
import WaybridgeClient

// What the Swift client gives, back in the shape of the wire.
extension BridgeClient.Page {
  /// As `page.open` has it.
  var opening: Value {
    var members: ValueObject = [
      "id": .string(id), "uri": .string(uri), "route": route.map(Value.string) ?? .null,
      "params": .object(params), "exts": .object(exts), "style": .string(style.rawValue),
    ]
    members["opener"] = opener.map(Value.string)
    return .object(members)
  }

  /// As `navigation.stack` has it.
  var value: Value {
    var members: ValueObject = [
      "id": .string(id), "uri": .string(uri), "route": route.map(Value.string) ?? .null,
      "kind": "page", "style": .string(style.rawValue), "params": .object(params),
    ]
    // Of others' pages a guest is told no more than that they are there.
    if uri.isEmpty { for name in ["uri", "params"] { members[name] = nil } }
    members["host"] = host.map(Value.string)
    if !pages.isEmpty { members["pages"] = .list(pages.map(\.value)) }
    return .object(members)
  }
}

extension BridgeClient.Caller {
  var value: Value {
    var members: ValueObject = ["session": .string(session)]
    if let client {
      var told: ValueObject = ["id": .string(client.id)]
      told["name"] = client.name.map(Value.string)
      told["version"] = client.version.map(Value.string)
      told["page"] = client.page.map(Value.string)
      members["client"] = .object(told)
    }
    members["user"] = user.map(Value.string)
    if !groups.isEmpty { members["groups"] = .list(groups.map(Value.string)) }
    members["origin"] = origin.map(Value.string)
    if isGuest { members["guest"] = true }
    return .object(members)
  }
}

extension BridgeClient.Stack {
  var value: Value {
    var members: ValueObject = [:]
    if !tabs.isEmpty {
      members["tabs"] = .list(
        tabs.map { tab in
          guard !tab.pages.isEmpty else { return ["uri": .string(tab.uri)] }
          return ["uri": .string(tab.uri), "pages": .list(tab.pages.map(\.value))]
        })
      members["selected"] = selected.map { .integer(Int64($0)) } ?? .null
    }
    members["pages"] = .list(pages.map(\.value))
    return .object(members)
  }
}

extension NavigationChange {
  var value: Value {
    ["page": page.map(Value.string) ?? .null, "closed": .list(closed.map(Value.string))]
  }
}

extension BridgeClient.Destination? {
  var value: Value {
    guard let self else { return ["canOpen": false] }
    var members: ValueObject = ["canOpen": true, "kind": .string(self.kind.rawValue)]
    members["route"] = self.route.map(Value.string)
    return .object(members)
  }
}

extension BridgeClient.Session {
  var value: Value {
    var members: ValueObject = [
      "session": .string(id), "client": .string(client), "token": .string(token),
      "epoch": .string(epoch),
      "protocol": .string(protocolVersion), "limits": .object(limits),
      "server": ["name": .string(server.name), "version": .string(server.version)],
      "table": table.value,
      "capabilities": .list(capabilities.map(Value.string)),
    ]
    members["joinToken"] = join.map { .string($0.token) }
    if isGuest { members["guest"] = true }
    members["page"] = page.map(Value.string)
    members["expiresAt"] = expires.map(Value.integer)
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
