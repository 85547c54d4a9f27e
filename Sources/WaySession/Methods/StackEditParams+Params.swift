import WayNavigation
import WayTransport
import WayValues

extension StackEditParams {
  static let paramList: ParamList = [
    Param(.remove, .object), Param(.open, .list), Param(.exts, .object), Param(.deadlineMs, .count),
    Param(.key, .string),
  ]

  /// Reads the params of a request. Fails with -32602 for wrong ones, with 2413 for `exts` that are too
  /// large, and with 2429 for too many pages.
  init(_ params: Params, _ limits: Limits) throws(CallError) {
    let range = try params[.remove].map { value throws(CallError) in
      try Self.read(
        PageRange<String>.self, from: value, ["page", "from", "through", "above", "all"],
        "params.remove")
    }
    let values = params.list(.open) ?? []
    guard values.count <= Self.maxPages else { throw .tooManyPages }
    var pages: [AddedPage] = []
    for (index, value) in values.enumerated() {
      let page = try Self.read(
        AddedPage.self, from: value, ["uri", "params", "exts", "style"], "params.open[\(index)]")
      try Params.check(page.exts, limits)
      pages.append(page)
    }
    try self.init(range, opening: pages, exts: try params.exts(limits))
  }

  /// Reads an object that has only members with these names.
  private static func read<Member: Decodable>(
    _ type: Member.Type, from value: Value, _ names: [String], _ path: String
  ) throws(CallError) -> Member {
    if let unknown = value.object?.members.first(where: { !names.contains($0.name) }) {
      throw .invalidParams("\(path) has no member \(unknown.name.quoted)")
    }
    do { return try value.decode(as: type) } catch { throw .invalidParams("\(path): \(error)") }
  }
}
