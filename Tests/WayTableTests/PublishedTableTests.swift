import Foundation
import Testing
import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayTable
import WayValues

/// The documents under `protocol/`.
struct PublishedTableTests {
  @Test(
    "the demo table is valid and resolves its URIs",
    arguments: [
      ("native://home", "home"),
      ("native://address/list", "addressList"),
      ("native://address/7", "address"),
      ("native://share/sheet", "shareSheet"),
      ("native://walk/m", "walkM"),
      ("native://walk/a", "walkA"),
      ("native://walk/b", "walkB"),
      ("native://walk/c", "walkC"),
      ("flutter://profile/7", "profile"),
      ("flutter://counter", "counter"),
      ("action://share", "share"),
      ("action://toast", "toast"),
    ])
  func demoTableResolvesItsURIs(_ uri: String, _ name: String) throws {
    let router = Router()
    try RouteTable(parsing: try published("routes/demo.json")).apply(to: router)
    guard case .match(let match) = try router.snapshot().resolve(try RouteURI(uri)) else {
      Issue.record("\(uri) leads to no declared route")
      return
    }
    #expect(match.route.name == name)
    #expect(match.route.title != nil)
  }

  @Test(
    "the schema lists exactly the members that the table accepts",
    arguments: [
      ["properties"], ["$defs", "route", "properties"], ["$defs", "schemaMembers", "properties"],
      ["$defs", "scheme", "properties"], ["$defs", "redirect", "properties"],
      ["$defs", "branch", "properties"], ["$defs", "presentation", "properties"],
      ["$defs", "release", "properties"], ["$defs", "method", "properties"],
      ["$defs", "topic", "properties"], ["$defs", "agents", "properties"],
    ])
  func schemaListsAcceptedMembers(_ place: [String]) throws {
    let schema = try published("schema/table.schema.json")
    let names = try #require(place.reduce(schema) { $0?[$1] }?.object).members.map(\.name)
    #expect(Set(names) == Set(try knownMembers(at: place.dropLast().last)))
  }

  @Test("the schema lists exactly the kinds and types that the table accepts")
  func schemaListsAcceptedKindsAndTypes() throws {
    let schema = try published("schema/table.schema.json")["$defs"]
    let kinds = schema?["route"]?["properties"]?["kind"]?["enum"]?.array
    #expect(kinds == RouteKind.allCases.map { .string($0.rawValue) })
    let types = try #require(schema?["type"]?["enum"]?.array)
    let fault = faults([
      "version": "1",
      "routes": [["name": "r", "pattern": "/r", "kind": "page", "result": ["type": "?"]]],
    ])
    #expect(
      fault.first?.message.hasSuffix(types.compactMap(\.string).joined(separator: ", ")) == true)
  }

  /// Returns the names that the table lists when it finds an unknown one.
  private func knownMembers(at place: String?) throws -> [String] {
    let unknown: Value = ["?": 1]
    let document: Value =
      switch place {
      case "route": ["version": "1", "routes": [unknown]]
      case "schemaMembers": Self.route(["result": unknown])
      case "presentation": Self.route(["presentation": unknown])
      case "release": Self.route(["release": unknown])
      case "method": Self.route(["methods": ["m": unknown]])
      case "agents": Self.route(["agents": unknown])
      case "topic": ["version": "1", "routes": [], "topics": ["t": unknown]]
      case "redirect": ["version": "1", "routes": [], "redirects": [unknown]]
      case "branch":
        ["version": "1", "routes": [], "redirects": [["from": "/a", "branches": [unknown]]]]
      case "scheme": ["version": "1", "routes": [], "schemes": ["x": unknown]]
      default: unknown
      }
    let message = try #require(faults(document).first { $0.path.hasSuffix("['?']") }).message
    return try #require(message.split(separator: "known here: ").last)
      .split(separator: ", ").map(String.init)
  }

  private static func route(_ members: ValueObject) -> Value {
    var route: ValueObject = ["name": "r", "pattern": "/r", "kind": "page"]
    route.merge(members)
    return ["version": "1", "routes": [.object(route)]]
  }

  private func faults(_ document: Value) -> [DocumentFault] {
    do {
      _ = try RouteTable(parsing: document)
      return []
    } catch {
      return error.faults
    }
  }

  private func published(_ name: String) throws -> Value {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let file = root.appendingPathComponent("protocol").appendingPathComponent(name)
    return try JSON.parse(try String(contentsOf: file, encoding: .utf8))
  }
}
