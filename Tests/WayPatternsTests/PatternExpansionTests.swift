import Testing
import WayPatterns

struct PatternExpansionTests {
  @Test(
    "a pattern expands to one pattern for each combination of optional groups",
    arguments: [
      ("native://a/:id", ["native://a/:id id"]),
      ("/u/*", ["/u/* *"]),
      ("native://a(/b/:x)", ["native://a/b/:x x", "native://a "]),
      (
        "native://:host/a(/b/:x)(/c/:y(/d))",
        [
          "native://:host/a/b/:x/c/:y host,x,y", "native://:host/a/b/:x/c/:y/d host,x,y",
          "native://:host/a/c/:y host,y", "native://:host/a/b/:x host,x",
          "native://:host/a/c/:y/d host,y", "native://:host/a host",
        ]
      ),
      (
        "App://[::1]:80/%3Ax%2A%28(/caf%C3%A9/:x)",
        [
          "app://[::1]:80/%3Ax%2A%28/caf%C3%A9/:x x", "app://[::1]:80/%3Ax%2A%28 ",
        ]
      ),
      ("app:(/a)", ["app: ", "app:/a "]),
      ("(/:a)", ["/:a a", "/ "]),
      ("app://h/a:b(/:x)", ["app://h/a:b/:x x", "app://h/a:b "]),
    ])
  func expandsOptionalGroups(text: String, expected: [String]) throws {
    let readings = try RoutePattern(text).expansions
    #expect(
      readings.map { "\($0.text) \($0.names.joined(separator: ","))" } == expected)
    for reading in readings {
      let pattern = try RoutePattern(reading.text)
      #expect(pattern.expansions == [reading])
    }
  }
}
