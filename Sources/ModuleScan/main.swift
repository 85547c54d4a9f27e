// Called by the plugin: OUTPUT, then for each target --own, --sibling or --foreign, its name, and its files.
import Foundation
import WayModules

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data((message + "\n").utf8))
  exit(1)
}

var arguments = CommandLine.arguments.dropFirst()
guard let output = arguments.popFirst() else {
  fail("error: use: ModuleScan OUTPUT {--own|--sibling|--foreign TARGET FILE…}…")
}
var targets: [ScannedTarget] = []
while let argument = arguments.popFirst() {
  if argument.hasPrefix("--"),
    let relation = ScannedTarget.Relation(rawValue: String(argument.dropFirst(2))),
    let name = arguments.popFirst()
  {
    targets.append(ScannedTarget(name, relation))
    continue
  }
  do {
    guard !targets.isEmpty else { fail("error: \(argument): no target was named before it") }
    let source = String(decoding: try Data(contentsOf: URL(filePath: argument)), as: UTF8.self)
    try targets[targets.count - 1].add(source, file: argument)
  } catch {
    fail(error is ScanFault ? "\(error)" : "\(argument): error: it cannot be read: \(error)")
  }
}
let scan = ModuleScan(targets)
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
