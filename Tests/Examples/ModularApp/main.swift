// An app whose modules and services are found by the build: nothing here names them.
import Waybridge

let router = Router()
try router.registerModules()

let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
try await BridgeServer(
  router: router, configuration: BridgeConfiguration(port: port),
  onListening: { print("listening on \($0)") }
).run()
