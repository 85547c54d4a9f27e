// Serves `action://echo` and `action://echo/:id` among ROUTES tasks in total: `Serving ROUTES
// [intercepted]`; `intercepted` adds one global interceptor that lets every call pass.
@preconcurrency import Glibc
import Waybridge

let arguments = CommandLine.arguments.dropFirst()
guard let count = arguments.first.flatMap({ Int($0) }), (2...1_000_000).contains(count),
  arguments.dropFirst().allSatisfy({ $0 == "intercepted" })
else {
  fputs("usage: Serving ROUTES [intercepted], ROUTES from 2 to 1000000\n", stderr)
  exit(64)
}
let router = Router()
try add(count, to: router)
if arguments.count > 1 { router.intercept("pass") { _ in .next } }
try await BridgeServer(
  router: router, configuration: BridgeConfiguration(port: 0),
  onListening: {
    print("listening on \($0)")
    // Written to a pipe, the output would stay in the buffer.
    fflush(nil)
  }
).run()

// The tasks of the load, and further tasks up to `count`.
func add(_ count: Int, to router: Router) throws {
  let echo = RouteHandler.task { .object($0.params) }
  let patterns =
    ["action://echo", "action://echo/:id"]
    + (2..<count).map { "action://module\($0 / 100)/task\($0)/:id" }
  try router.register(
    contentsOf: patterns.map {
      try Route(name: $0, patterns: [RoutePattern($0)], kind: .task, handler: echo)
    })
}
