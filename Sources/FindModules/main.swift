// Called by the plugin: OUTPUT, then for each target --own, --sibling or --foreign, its name, the targets that it depends
// on, between commas, and its files. The first is that which registers.
import Foundation
import WayModules

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data((message + "\n").utf8))
  exit(1)
}

let usage =
  "use: FindModules OUTPUT --own TARGET USED,… FILE… {--sibling|--foreign TARGET USED,… FILE…}…"
var arguments = CommandLine.arguments.dropFirst()
guard let output = arguments.popFirst() else { fail(usage) }
var targets: [ScannedTarget] = []
while let argument = arguments.popFirst() {
  if argument.hasPrefix("--"),
    let relation = ScannedTarget.Relation(rawValue: String(argument.dropFirst(2))),
    let name = arguments.popFirst(), let used = arguments.popFirst()
  {
    let dependencies = used.split(separator: ",").map(String.init)
    targets.append(ScannedTarget(name, relation, dependencies: dependencies))
    continue
  }
  do {
    guard !targets.isEmpty else { fail(usage) }
    let source = String(decoding: try Data(contentsOf: URL(filePath: argument)), as: UTF8.self)
    try targets[targets.count - 1].add(source, file: argument)
  } catch {
    fail(error is ScanFault ? "\(error)" : "\(argument): error: it cannot be read: \(error)")
  }
}
guard let own = targets.first, own.relation == .own else { fail(usage) }
let scan = ModuleScan(own, Array(targets.dropFirst()))
guard scan.faults.isEmpty else {
  fail(scan.faults.map(\.description).joined(separator: "\n"))
}
do {
  let source = Data(scan.source.utf8)
  // What is the same is not compiled again.
  if (try? Data(contentsOf: URL(filePath: output))) != source {
    try source.write(to: URL(filePath: output), options: .atomic)
  }
} catch {
  fail("\(output): error: it cannot be written: \(error)")
}
