// Checks that the recipe for iOS is released, with the stubs of its platform.
import UIKit

final class NoPages: Pages {
  func open(_ page: [String: Any]) async throws {}
  func load(_ page: String, _ address: URL) async throws {}
  func close(_ page: String, reason: String) {}
  func share(_ params: [String: Any]) async throws -> [String: Any] { [:] }
  func outcome(_ name: String, _ outcome: [String: Any]) {}
  func failed(_ name: String, _ failure: Failure) {}
}

let pages = NoPages()
let window = UIWindow()

/// Returns a weak reference to a shell that only the platform retains.
@MainActor func shell(stops: Bool) -> () -> BridgeShell? {
  let shell = BridgeShell(address: URL(filePath: "/shell.html"), pages: pages)
  shell.start(in: window)
  if stops { shell.stop() }
  return { [weak shell] in shell }
}

let running = shell(stops: false)
let stopped = shell(stops: true)
if running() != nil { print("held until it is stopped") }
if stopped() == nil { print("let go") }
