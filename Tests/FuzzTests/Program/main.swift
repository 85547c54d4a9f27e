// Runs one target under libFuzzer. `Tests/Fuzz/in-process` builds and starts it.
import CLibFuzzer
import Glibc

/// The target that the environment's `FUZZ_TARGET` names. libFuzzer starts the program again with the
/// same environment, and with arguments of its own.
let target = getenv("FUZZ_TARGET").flatMap { FuzzTarget.named(String(cString: $0)) }
guard target != nil else {
  for target in FuzzTarget.all { print(target.name) }
  exit(0)
}
var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(
  LLVMFuzzerRunDriver(&count, &arguments) { data, size in
    do {
      try target?.check(Array(UnsafeBufferPointer(start: data, count: size)))
    } catch {
      // libFuzzer stores the input of a process that aborts.
      let report = "FAILURE \(error)\n"
      _ = write(STDERR_FILENO, report, report.utf8.count)
      abort()
    }
    return 0
  })
