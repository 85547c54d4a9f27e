import Foundation
import Testing
import WayRPC
import WayValues

@Suite struct ErrorCodeTests {
  /// Returns the table that `protocol/generate` reads.
  private func registry() throws -> Value {
    let file = URL(filePath: #filePath).appending(path: "../../../protocol/codes.json")
    return try JSON.parse([UInt8](Data(contentsOf: file.standardizedFileURL)).span.bytes)
  }

  @Test func swiftCodesMatchRegistry() throws {
    let entries = try #require(try registry()["errors"]?.array)
    #expect(entries.count == ErrorCode.allCases.count)
    for entry in entries {
      let code = try #require(entry["code"]?.integer.flatMap { ErrorCode(rawValue: Int($0)) })
      #expect(entry["kind"] == .string(code.kind))
      #expect(entry["message"] == .string(code.message))
      #expect(entry["retryable"] == .bool(code.isRetryable))
      #expect(!ErrorCode.isApplication(code.rawValue))
    }
  }

  @Test(arguments: [
    (0, false), (1, true), (1999, true), (2000, false), (2999, false), (3000, true),
    (Int.max, true),
    (-1, false), (-32603, false), (Int.min, false),
  ])
  func recognizesApplicationCodes(code: Int, isApplication: Bool) {
    #expect(ErrorCode.isApplication(code) == isApplication)
  }
}
