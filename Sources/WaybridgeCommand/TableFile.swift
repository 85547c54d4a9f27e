import ArgumentParser
import Foundation
import WayRPC
import WayTable
import Waybridge

/// Reads a route table from a file into a router; every fault is told with its place in the document.
enum TableFile {
  /// Gives the table's version.
  static func load(_ path: String, into router: Router) throws -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ValidationError("The route table \(path) cannot be read")
    }
    let document: Value
    do {
      document = try JSON.parse([UInt8](data).span.bytes)
    } catch {
      throw ValidationError("The route table \(path) is not JSON: \(error)")
    }
    do {
      let table = try RouteTable(parsing: document)
      try table.apply(to: router)
      return table.version
    } catch {
      throw ValidationError("The route table \(path) is wrong:\n\(error)")
    }
  }
}
