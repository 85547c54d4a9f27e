import Foundation

/// The tool that the build plugin calls for a target.
@main
struct FindModulesCommand {
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  static let usage = """
    use: FindModules OUTPUT --target MODULE FILE… {--target|--foreign MODULE FILE…}…
    The first target is that which registers; those of other packages are foreign.
    """

  static func main() {
    do {
      for warning in try run(CommandLine.arguments.dropFirst()) { tell(warning) }
    } catch {
      tell("\(error)")
      exit(1)
    }
  }

  /// Writes the source, and gives the warnings.
  static func run(_ arguments: ArraySlice<String>) throws(Fault) -> [String] {
    var arguments = arguments
    var targets: [SourceTarget] = []
    guard let output = arguments.popFirst() else { throw Fault(description: usage) }
    while let argument = arguments.popFirst() {
      if ["--target", "--foreign"].contains(argument), let module = arguments.popFirst() {
        targets.append(SourceTarget(module, isForeign: argument == "--foreign"))
        continue
      }
      guard !targets.isEmpty else { throw Fault(description: usage) }
      do {
        let source = try String(contentsOf: URL(filePath: argument), encoding: .utf8)
        targets[targets.count - 1].add(source, file: argument)
      } catch {
        let reason = error.localizedDescription
        throw Fault(description: "\(argument): error: \(reason) Make it readable, as UTF-8.")
      }
    }
    guard let own = targets.first else { throw Fault(description: usage) }
    let dependencies = Array(targets.dropFirst())
    let source = Data(ModuleRegistrationSource(own: own, dependencies: dependencies).text.utf8)
    let file = URL(filePath: output)
    do {
      // What is the same is not compiled again.
      if (try? Data(contentsOf: file)) != source { try source.write(to: file, options: .atomic) }
    } catch {
      let reason = error.localizedDescription
      throw Fault(description: "\(output): error: it cannot be written: \(reason)")
    }
    return targets.flatMap(\.warnings)
  }

  private static func tell(_ message: String) {
    FileHandle.standardError.write(Data((message + "\n").utf8))
  }
}
