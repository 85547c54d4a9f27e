import Waybridge

let router = Router()
try router.task("action://hello") { call in
  ["greeting": .string("Hello, \(call.params["name"]?.string ?? "you")")]
}

let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
try await BridgeServer(
  router: router, configuration: BridgeConfiguration(port: port),
  onListening: { print("listening on \($0)") }
).run()
