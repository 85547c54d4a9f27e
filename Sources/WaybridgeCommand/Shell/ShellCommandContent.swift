import Waybridge
import WaybridgeClient

/// The choices on pages, by route name or URI; in an app, native code has them.
enum ShellCommandContent {
  private static let maxSize = 4 << 20

  static func read(_ path: String) throws(CommandError) -> [String: [Value]] {
    let value: Value
    do {
      let file = try BoundedServerFile(path, limit: maxSize).read()
      value = try Value(json: String(decoding: file.bytes, as: UTF8.self))
    } catch let error as InvalidJSON {
      throw CommandError(
        CommandJSONLocations(inFile: path).added(
          to: "the content \(quoted(path)) is not JSON: \(error)"))
    } catch {
      throw CommandError("the content \(error)")
    }
    guard let members = value.object?.members else {
      throw CommandError(
        "the content \(quoted(path)) must be an object, not \(value.kindWithArticle)")
    }
    var content: [String: [Value]] = [:]
    for member in members {
      guard let values = member.value.array else {
        throw CommandError(
          "the content \(quoted(path)): \(quoted(member.name)) must be an array of choices")
      }
      content[member.name] = values
    }
    return content
  }
}
