import Foundation
import Testing

@testable import FindModules

/// The tool, run as the plugin runs it.
@Suite final class FindModulesCommandTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "FindModules-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func file(_ name: String, _ text: Data? = nil) throws -> String {
    let url = folder.appending(path: name)
    if let text { try text.write(to: url) }
    return url.path(percentEncoded: false)
  }

  @Test func firstTargetRegistersDeclarationsOfAllTargets() throws {
    let output = try file("out.swift")
    let app = try file("App 1.swift", Data("enum A: RouteModule {}\nfunc f() {".utf8))
    let shop = try file("Shop.swift", Data("enum B: RouteModule {}".utf8))
    let kit = try file(
      "Kit.swift", Data("enum C: RouteModule {}\npublic enum D: RouteModule {}".utf8))
    let arguments = [
      output, "--target", "App", app, "--foreign", "Kit", kit, "--target", "Shop", shop,
    ]
    let warnings = try FindModulesCommand.run(arguments[...])
    #expect(warnings.count == 1)
    #expect(warnings.first?.hasPrefix("\(app):2: warning: ") == true)
    let text = try String(contentsOfFile: output, encoding: .utf8)
    let calls = text.split(separator: "\n").filter { $0.contains("try register") }
    #expect(
      calls == ["D", "B", "A"].map { "    try register(module: \($0).self)" })
    #expect(text.contains("    // \(app):1\n"))
  }

  @Test func unchangedOutputIsNotRewritten() throws {
    let output = try file("out.swift")
    let app = try file("App.swift", Data("enum A: RouteModule {}".utf8))
    let long = Date(timeIntervalSince1970: 1_000)
    func changed() throws -> Bool {
      try FileManager.default.setAttributes([.modificationDate: long], ofItemAtPath: output)
      _ = try FindModulesCommand.run([output, "--target", "App", app])
      let date = try FileManager.default.attributesOfItem(atPath: output)[.modificationDate]
      return date as? Date != long
    }
    _ = try FindModulesCommand.run([output, "--target", "App", app])
    #expect(try !changed())
    _ = try file("App.swift", Data("enum B: RouteModule {}".utf8))
    #expect(try changed())
  }

  @Test func reportsUnreadableInputAndUnwritableOutput() throws {
    let output = try file("out.swift")
    let missing = try file("missing.swift")
    let binary = try file("binary.swift", Data([0x65, 0xFF, 0xFE]))
    for path in [missing, binary] {
      let fault = #expect(throws: FindModulesCommand.FindModulesError.self) {
        try FindModulesCommand.run([output, "--target", "App", path])
      }
      #expect(fault?.description.hasPrefix("\(path): error: ") == true)
      #expect(fault?.description.hasSuffix(" Make it readable, as UTF-8.") == true)
    }
    #expect(!FileManager.default.fileExists(atPath: output))
    let nowhere = try file("nowhere/out.swift")
    let fault = #expect(throws: FindModulesCommand.FindModulesError.self) {
      try FindModulesCommand.run([nowhere, "--target", "App"])
    }
    #expect(fault?.description.hasPrefix("\(nowhere): error: cannot write the file: ") == true)
  }

  @Test(arguments: [[], ["out.swift"], ["out.swift", "App.swift"], ["out.swift", "--target"]])
  func invalidArgumentsThrowUsage(_ arguments: [String]) {
    let fault = #expect(throws: FindModulesCommand.FindModulesError.self) {
      try FindModulesCommand.run(arguments[...])
    }
    #expect(fault?.description == FindModulesCommand.usage)
  }
}
