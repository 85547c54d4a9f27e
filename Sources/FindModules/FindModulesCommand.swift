import Foundation

/// The tool that the build plugin runs for a target.
@main
struct FindModulesCommand {
  struct FindModulesError: Error, CustomStringConvertible {
    let description: String
  }

  static let usage = """
    use: FindModules OUTPUT --target MODULE FILE… {--target|--foreign MODULE FILE…}…
    The first target is that which registers; those of other packages are foreign.
    """

  static func main() {
    do {
      for warning in try run(CommandLine.arguments.dropFirst()) { writeError(warning) }
    } catch {
      writeError("\(error)")
      exit(1)
    }
  }

  /// Writes the source, and returns the warnings.
  static func run(_ arguments: ArraySlice<String>) throws(FindModulesError) -> [String] {
    var arguments = arguments
    var targets: [SourceTarget] = []
    guard let output = arguments.popFirst() else { throw FindModulesError(description: usage) }
    while let argument = arguments.popFirst() {
      if ["--target", "--foreign"].contains(argument), let module = arguments.popFirst() {
        targets.append(SourceTarget(module, isForeign: argument == "--foreign"))
        continue
      }
      guard !targets.isEmpty else { throw FindModulesError(description: usage) }
      do {
        let source = try String(contentsOf: URL(filePath: argument), encoding: .utf8)
        targets[targets.count - 1].add(source, file: argument)
      } catch {
        let reason = error.localizedDescription
        throw FindModulesError(
          description: "\(argument): error: \(reason) Make it readable, as UTF-8.")
      }
    }
    guard let ownTarget = targets.first else { throw FindModulesError(description: usage) }
    let dependencies = Array(targets.dropFirst())
    let source = Data(
      ModuleRegistrationSource(ownTarget: ownTarget, dependencies: dependencies).text.utf8)
    let file = URL(filePath: output)
    do {
      // An unchanged file is not compiled again.
      if (try? Data(contentsOf: file)) != source { try source.write(to: file, options: .atomic) }
    } catch {
      let reason = error.localizedDescription
      throw FindModulesError(description: "\(output): error: cannot write the file: \(reason)")
    }
    return targets.flatMap(\.warnings)
  }

  private static func writeError(_ message: String) {
    FileHandle.standardError.write(Data((message + "\n").utf8))
  }
}
