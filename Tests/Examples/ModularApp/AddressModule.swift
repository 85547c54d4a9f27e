import Waybridge

enum AddressModule: RouteModule {
  static func routes() throws -> [Route] {
    [
      Route(
        name: "address.format", patterns: [try RoutePattern("action://address/:city")], kind: .task)
    ]
  }

  static func register(in router: Router) async throws {
    print("addresses are registered")
    try router.handle(
      "address.format",
      with: .task { call in ["city": .string(call.params["city"]?.string ?? "nowhere")] })
  }
}
