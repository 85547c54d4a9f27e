import WayNavigation
// A native shell on a terminal: it prints the pages that it shows, and does what the lines that it
// reads say.
import WaybridgeClient

actor Shell: PageHost {
  func open(_ page: BridgeClient.HostedPage) { print("show", page.uri) }
  func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject) {
    print("hide", page.uri, reason)
  }
  func resume(_ page: BridgeClient.HostedPage) { print("on top", page.uri) }
}

let toast = BridgeClient.Host.task("action://toast") { call in
  print("toast \(call.params["text"]?.string ?? "")")
  return ["shown": true]
}
let shell = try await BridgeClient.connect(
  to: CommandLine.arguments.dropFirst().first ?? "ws://127.0.0.1:8080/bridge",
  session: .init(name: "shell", version: "1.0", hosts: [.pages(scheme: "native", Shell()), toast]))

while let line = readLine() {
  let words = line.split(separator: " ", maxSplits: 1).map(String.init)
  // Reading blocks the main actor, so that calls go on beside it.
  Task.detached {
    do {
      switch (words.first, words.last) {
      case ("open", let uri?): print(try await shell.open(uri) { print("opened", $0) }.kind)
      case ("run", let uri?): print(try await shell.invoke(uri).json ?? "")
      case ("finish", let text?): try await shell.back(result: .init(.string(text)))
      default: try await shell.back()
      }
    } catch { print(error) }
  }
}
await shell.close()
