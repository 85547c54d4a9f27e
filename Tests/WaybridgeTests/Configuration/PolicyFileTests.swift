import TestSupport
import Testing
import Waybridge

/// A policy that an app reads from a file.
struct PolicyFileTests {
  @Test func readsAPolicyFromAFileAndFromText() throws {
    let file = ProjectFiles.url("protocol/policies/demo.json").path
    let policy = try Policy(file: file)
    #expect(policy.hosts == ["bridge.shop.example"])
    #expect(policy.rules?.isEmpty == false)
    #expect(try Policy(json: ProjectFiles.text("protocol/policies/demo.json")) == policy)
  }

  @Test(
    arguments: [
      (#"{"rules": [{"name": "r", "allow": ["a*b"]}, {}]}"#, "The policy is wrong:\n$.rules[0]"),
      (#"{"hosts": ["a.test"], "hosts": ["b.test"]}"#, "$.hosts: the member comes twice"),
      (#"{"rules": [{"name": "r", "x": {"y": 1, "y": 2}}]}"#, "$.rules[0].x.y: the member comes"),
      ("{", "The policy is not JSON: byte"),
    ])
  func reportsThePathOfAnInvalidValue(text: String, reason: String) {
    let error = #expect(throws: PolicyError.self) { try Policy(json: text) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }

  @Test func missingFileIsNamedInTheError() {
    let error = #expect(throws: PolicyError.self) { try Policy(file: "/no/such.json") }
    #expect(error?.description.hasPrefix("The policy /no/such.json cannot be read") == true)
  }
}
