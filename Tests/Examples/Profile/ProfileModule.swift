import Waybridge

/// Of a target of its own, on which the app depends.
public enum ProfileModule: RouteModule {
  public static func routes() throws -> [Route] {
    [Route(name: "profile", patterns: [try RoutePattern("action://profile")], kind: .task)]
  }

  public static func register(in router: Router) async throws {
    print("profiles are registered")
    try router.handle("profile", with: .task { _ in ["name": "Ada"] })
  }
}
