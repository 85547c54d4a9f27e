import Foundation
import TestSupport
import Testing
import Waybridge

struct RouterTableTests {
  @Test func loadingATableDeclaresItsRoutesAndVersion() throws {
    let router = Router()
    let path = ProjectFiles.url("protocol/routes/demo.json").path
    let table = try router.load(tableAt: path)
    #expect(router.snapshot().table?.hash.count == 16)
    #expect(table.file == path)
    #expect(throws: TableError.self) { try router.load(tableAt: path) }
    #expect(router.snapshot().routes.contains { $0.name == "addressList" })
    try router.handle("time", with: .task { _ in 0 })
  }

  @Test(arguments: [
    (#"{"version": "1",}"#, "is not JSON: "),
    (#"{"version": "1", "routes": 7}"#, "$.routes: "),
    (
      #"{"version": "1", "routes": [{"name": "a", "pattern": "x://a", "kind": "pane"}]}"#,
      "[0].kind"
    ),
    (
      #"{"version": "1", "routes": [{"name": "a", "pattern": "x://a", "kind": "page"}, "#
        + #"{"name": "b", "pattern": "x://a", "kind": "page"}]}"#, "x://a"
    ),
  ])
  func invalidTableReportsFileAndPathAndChangesNothing(
    table: String, fault: String
  ) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data(table.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let router = Router()
    let error = #expect(throws: TableError.self) { try router.load(tableAt: file.path) }
    #expect(error?.description.contains(file.path) == true)
    #expect(error?.description.contains(fault) == true, "\(error?.description ?? "")")
    #expect(router.snapshot().routes.isEmpty)
  }

  @Test func missingFileIsNamedInTheError() {
    let error = #expect(throws: TableError.self) { try Router().load(tableAt: "/no/such/table") }
    #expect(error?.description.contains("/no/such/table cannot be read") == true)
  }
}
