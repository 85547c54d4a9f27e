import WayPatterns
import WayRPC
import WayRouting
import WayValues

@testable import WayTable

extension FuzzTarget {
  /// Route-table documents: one that is accepted is read again as the same table, can be applied to a
  /// router again, and resolves or rejects every URI.
  static let tables = FuzzTarget("tables") { bytes throws(FuzzFailure) in
    guard let document = try? JSON.parse(bytes.span.bytes, duplicateNames: .reject) else { return }
    let table: RouteTable
    do throws(DocumentFaults) { table = try RouteTable(parsing: document) } catch {
      try FuzzFailure.unless(!error.faults.isEmpty, "it is rejected without a reason")
      return
    }
    let again = try? RouteTable(parsing: .object(table.document))
    try FuzzFailure.unless(again?.stamp == table.stamp, "read again it is another table")
    let router = Router()
    guard (try? table.apply(to: router)) != nil else { return }
    try FuzzFailure.unless(
      (try? table.apply(to: router, replacing: true)) != nil, "it cannot replace itself")
    let snapshot = router.snapshot()
    for route in table.declarations.routes {
      for pattern in route.patterns {
        for uri in pattern.sampleURIs { _ = try? snapshot.resolve(uri) }
      }
    }
    for uri in ["native://cart/1?x=1", "navigation:back", "https://shop.example/a/b"] {
      if let uri = try? RouteURI(uri) { _ = try? snapshot.resolve(uri) }
    }
  }
}
