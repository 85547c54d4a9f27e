import Testing
import Waybridge
import WaybridgeTesting

@testable import ModularApp

@Test func whatTheBuildHasFoundAnswers() async throws {
  let router = Router()
  try router.registerModules()
  let app = try await TestBridge(router)
  #expect(try await app.invoke("action://address/Nara") == ["city": "Nara"])
  #expect(try await app.invoke("action://profile") == ["name": "Ada"])
  for count: Int64 in 1...2 {
    #expect(
      try await app.invoke("service://Cart/add", ["item": "tea"]) == ["count": .integer(count)])
  }
}
