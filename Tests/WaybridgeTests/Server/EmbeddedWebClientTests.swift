import Foundation
import TestSupport
import Testing

@testable import WaySockets
@testable import Waybridge

@Suite struct EmbeddedWebClientTests {
  @Test func embeddedClientMatchesTheSourceFiles() throws {
    let folder = ProjectFiles.url("web/bridge")
    let found = FileManager.default.enumerator(atPath: folder.path)?.allObjects ?? []
    // The npm build, below `dist`, is not embedded in programs.
    let names = found.compactMap { $0 as? String }.filter {
      !$0.hasPrefix("dist/") && ($0.hasSuffix(".js") || $0.hasSuffix(".js.map"))
    }
    #expect(names.contains("bridge.js"))
    #expect(Set(EmbeddedWebClient.files.keys) == Set(names.map { "/bridge/\($0)" }))
    #expect(WebInspector.files["/inspector/"] != nil)
    for name in names {
      let bytes = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
      #expect(EmbeddedWebClient.files["/bridge/\(name)"]?.bytes == bytes, "\(name)")
    }
  }

  /// A served folder, its entries, and whether the embedded client is served then.
  static let folders: [(web: String?, entries: [String]?, isServed: Bool)] = [
    (nil, nil, true), ("web/demo", nil, true), ("web", nil, false), ("web", ["bridge"], false),
    ("web", ["demo"], true),
  ]

  @Test(arguments: folders.indices)
  func servedFolderOverridesTheEmbeddedClient(index: Int) throws {
    let (web, entries, isServed) = Self.folders[index]
    var configuration = BridgeConfiguration(webRoot: web.map { ProjectFiles.url($0).path })
    configuration.web.entries = entries
    #expect(
      try configuration.socketConfiguration().embeddedFiles.keys.contains("/bridge/bridge.js")
        == isServed)
    let isWhole = web == "web" && entries == nil
    #expect(
      try configuration.socketConfiguration().embeddedFiles.keys.contains("/inspector/") == !isWhole
    )
    configuration.web.servesInspector = false
    #expect(try configuration.socketConfiguration().embeddedFiles["/inspector/"] == nil)
    configuration.web.servesClient = false
    #expect(try configuration.socketConfiguration().embeddedFiles.isEmpty)
  }
}
